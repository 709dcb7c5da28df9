// ProgressText: the line that a researcher watches while a run goes on.
#ifndef SLACKLINE_CORE_REPORT_PROGRESS_H_
#define SLACKLINE_CORE_REPORT_PROGRESS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "core/runtime/report.h"

namespace slackline {

// What a model's metric is called and whether more of it is better.
struct MetricKind {
  std::string name;
  bool more_is_better = true;
};
MetricKind MetricOf(const std::string& model);

class ProgressText {
 public:
  explicit ProgressText(MetricKind metric) : metric_(std::move(metric)) {}

  void OnEvaluation(const EvaluationReport& report) { evaluated_ = report.evaluation; }
  // "update 240 | round 57..60 | 7.68k/60.0k samples | loss 0.412 | accuracy 0.842 | lr 0.1 | ..."
  // Rates are those since the line before.
  std::string Line(const ProgressReport& report);

 private:
  MetricKind metric_;
  std::optional<Evaluation> evaluated_;
  ProgressReport before_;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_REPORT_PROGRESS_H_
