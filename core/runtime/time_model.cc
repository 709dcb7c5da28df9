#include "core/runtime/time_model.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <numbers>
#include <string>
#include <string_view>

#include "core/base/check.h"
#include "core/base/strings.h"
#include "slackline/random.h"

namespace slackline {
namespace {

constexpr double kSecondsMax = 1e9;  // Keeps every duration far from the end of Time.

// A finite number from 0 on, and nothing behind it.
template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(value) || value < 0) return std::nullopt;
  }
  return value;
}

Result<std::vector<double>> ReadTrace(const std::string& path) {
  std::ifstream file(path);
  if (!file) return NotFound(StrCat("--compute-time trace:", path, ": the file cannot be opened"));
  std::vector<double> seconds;
  std::string line;
  while (std::getline(file, line)) {
    const std::optional<double> ms = ParseNumber<double>(line);
    if (!ms.has_value()) {
      return DataLoss(StrCat(path, ", line ", seconds.size() + 1, ": '", line,
                             "' is not a duration in milliseconds"));
    }
    seconds.push_back(*ms * 1e-3);
  }
  if (seconds.empty()) return DataLoss(StrCat(path, ": no durations in it"));
  return seconds;
}

// "slow:worker3:5x" makes the factor of worker 3 five times what it was.
Status ApplyInjection(const std::string& text, std::vector<double>& slow_factor) {
  constexpr std::uint32_t kRankMax = 1u << 20;
  constexpr std::string_view kWorker = "worker";
  const std::vector<std::string> parts = StrSplit(text, ':');
  if (parts.size() == 3 && parts[0] == "slow" && parts[1].starts_with(kWorker) &&
      parts[2].ends_with('x')) {
    const auto rank = ParseNumber<std::uint32_t>(std::string_view(parts[1]).substr(kWorker.size()));
    const auto factor =
        ParseNumber<double>(std::string_view(parts[2]).substr(0, parts[2].size() - 1));
    if (rank.has_value() && *rank <= kRankMax && factor.has_value() && *factor > 0) {
      if (slow_factor.size() <= *rank) slow_factor.resize(*rank + 1, 1.0);
      slow_factor[*rank] *= *factor;
      return Status::Ok();
    }
  }
  return InvalidArgument(StrCat("--inject '", text, "' is not slow:workerN:Kx"));
}

}  // namespace

Result<TimeModel> TimeModel::Create(const TimeOptions& options, std::uint64_t seed) {
  TimeModel model;
  model.seed_ = seed;
  for (const double speed : options.speeds) {
    if (!std::isfinite(speed) || speed <= 0) {
      return InvalidArgument(StrCat("--speeds: ", speed, " is not a speed above 0"));
    }
    model.slow_factor_.push_back(1.0 / speed);
  }
  for (const std::string& text : options.inject) {
    SLACKLINE_RETURN_IF_ERROR(ApplyInjection(text, model.slow_factor_));
  }
  const std::string& text = options.compute_time;
  if (text.empty()) return model;

  constexpr std::string_view kTracePrefix = "trace:";
  if (text.starts_with(kTracePrefix)) {
    SLACKLINE_ASSIGN_OR_RETURN(model.trace_seconds_, ReadTrace(text.substr(kTracePrefix.size())));
    model.kind_ = Kind::kTrace;
    return model;
  }
  const std::vector<std::string> parts = StrSplit(text, ':');
  const std::size_t numbers = parts[0] == "lognormal" ? 2 : 1;
  if (parts[0] == "const") model.kind_ = Kind::kConstant;
  if (parts[0] == "exp") model.kind_ = Kind::kExponential;
  if (parts[0] == "lognormal") model.kind_ = Kind::kLognormal;
  const auto ms = parts.size() > 1 ? ParseNumber<double>(parts[1]) : std::nullopt;
  const auto sigma = parts.size() > 2 ? ParseNumber<double>(parts[2]) : 0.0;
  if (model.kind_ == Kind::kNone || parts.size() != numbers + 1 || !ms.has_value() ||
      !sigma.has_value()) {
    return InvalidArgument(StrCat("--compute-time '", text,
                                  "' is none of const:MS, exp:MS, lognormal:MS:SIGMA, trace:FILE"));
  }
  model.mean_seconds_ = *ms * 1e-3;
  model.sigma_ = *sigma;
  return model;
}

std::optional<Duration> TimeModel::ComputeTime(const Job& job) const {
  if (job.kind != Job::Kind::kCompute) return std::nullopt;
  const RandomStream stream(seed_, RandomPurpose::kComputeTime, job.rank);
  // Two draws a job, whatever the model. 1 - u lies in (0, 1], so its logarithm is finite.
  const double first = 1.0 - stream.Uniform(2 * job.index);
  const double second = stream.Uniform(2 * job.index + 1);
  double seconds = mean_seconds_;
  switch (kind_) {
    case Kind::kNone:
      return std::nullopt;
    case Kind::kConstant:
      break;
    case Kind::kExponential:
      seconds *= -std::log(first);
      break;
    case Kind::kLognormal: {
      // Box and Muller, "A note on the generation of random normal deviates", 1958.
      const double normal =
          std::sqrt(-2.0 * std::log(first)) * std::cos(2.0 * std::numbers::pi * second);
      seconds *= std::exp(sigma_ * normal);
      break;
    }
    case Kind::kTrace:
      seconds = trace_seconds_[(job.rank + job.index) % trace_seconds_.size()];
  }
  return FromSeconds(std::min(seconds * job.work * SlowFactor(job.rank), kSecondsMax));
}

double TimeModel::SlowFactor(std::uint32_t rank) const {
  return rank < slow_factor_.size() ? slow_factor_[rank] : 1.0;
}

Duration TimeModel::DueAfter(const Job& job, Duration measured) const {
  if (job.kind != Job::Kind::kCompute) return measured;
  const std::optional<Duration> asked = ComputeTime(job);
  if (asked.has_value()) return std::max(*asked, measured);
  return FromSeconds(std::min(Seconds(measured) * SlowFactor(job.rank), kSecondsMax));
}

}  // namespace slackline
