#include "core/report/progress.h"

#include "core/base/strings.h"
#include "core/config/transformer_shape.h"
#include "core/report/readable.h"

namespace slackline {

MetricKind MetricOf(const std::string& model) {
  if (model == "factorization") return {"rmse", false};
  if (IsTransformer(model)) return {"bits_per_token", false};
  if (model == "timing") return {"none", true};
  return {"accuracy", true};
}

std::string ProgressText::Line(const ProgressReport& report) {
  const double seconds = Seconds(report.running - before_.running);
  // Totals of a worker that came back begin again: no rate then.
  const auto rate = [&](std::uint64_t now, std::uint64_t before) {
    return seconds > 0 && now >= before ? static_cast<double>(now - before) / seconds : 0.0;
  };
  const double samples_per_second = rate(report.samples, before_.samples);
  std::string line = StrCat("update ", report.updates, " | round ", report.rounds_min);
  if (report.rounds_max != report.rounds_min) line += StrCat("..", report.rounds_max);
  line += StrCat(" | ", ReadableCount(static_cast<double>(report.samples)));
  if (report.samples_planned > 0) {
    line += StrCat("/", ReadableCount(static_cast<double>(report.samples_planned)));
  }
  line += StrCat(" samples | loss ", Fixed(report.loss, 4));
  if (evaluated_.has_value() && metric_.name != "none") {
    line += StrCat(" | ", metric_.name, " ", Fixed(evaluated_->metric, 4));
  }
  line += StrCat(" | lr ", report.lr, " | ", ReadableCount(samples_per_second),
                 " samples/s | stale ", report.staleness_p50, " p99 ", report.staleness_p99,
                 " | wait ", Fixed(100 * report.gate_wait_share, 0), "% | up ",
                 Fixed(rate(report.bytes_pushed, before_.bytes_pushed) / 1e6, 1), " down ",
                 Fixed(rate(report.bytes_pulled, before_.bytes_pulled) / 1e6, 1), " MB/s");
  if (report.samples_planned > report.samples && samples_per_second > 0) {
    line += StrCat(" | ",
                   ReadableSeconds(static_cast<double>(report.samples_planned - report.samples) /
                                   samples_per_second),
                   " left");
  }
  before_ = report;
  return line;
}

}  // namespace slackline
