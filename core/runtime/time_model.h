// TimeModel: how long work is made to take. In virtual time it says all there is to say of a job's
// duration; over real sockets it holds results back, so that one slow worker can be had on a fast
// machine. A pure function of (seed, rank, job index): no draw depends on another.
#ifndef SLACKLINE_CORE_RUNTIME_TIME_MODEL_H_
#define SLACKLINE_CORE_RUNTIME_TIME_MODEL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/time.h"
#include "core/config/options.h"
#include "core/runtime/node.h"
#include "slackline/status.h"

namespace slackline {

class TimeModel {
 public:
  // No model: jobs take what they take.
  TimeModel() = default;

  // Errors: kInvalidArgument for a text that is none of const:MS, exp:MS, lognormal:MS:SIGMA,
  // trace:FILE, slow:workerN:Kx; kNotFound and kDataLoss for the trace file.
  static Result<TimeModel> Create(const TimeOptions& options, std::uint64_t seed);

  // The duration that options ask of a job of Kind::kCompute, in proportion to its work and to
  // SlowFactor; nothing where they ask for none.
  // lognormal: MS is the median, SIGMA that of the logarithm. trace: one duration in ms a line,
  // walked through round and round from the line of the worker's rank on.
  std::optional<Duration> ComputeTime(const Job& job) const;

  // By how much this worker is slower than it would be (speeds and inject), 1 when not at all.
  double SlowFactor(std::uint32_t rank) const;

  // In real time: how long after its start a job's result is due, when computing took `measured`.
  Duration DueAfter(const Job& job, Duration measured) const;

 private:
  enum class Kind : std::uint8_t { kNone, kConstant, kExponential, kLognormal, kTrace };
  Kind kind_ = Kind::kNone;
  double mean_seconds_ = 0;
  double sigma_ = 0;
  std::vector<double> trace_seconds_;
  std::vector<double> slow_factor_;  // by rank; 1 beyond the end
  std::uint64_t seed_ = 0;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_RUNTIME_TIME_MODEL_H_
