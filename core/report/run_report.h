// RunReport: turns the scheduler's Reports into progress lines, metrics.jsonl and summary.json.
#ifndef SLACKLINE_CORE_REPORT_RUN_REPORT_H_
#define SLACKLINE_CORE_REPORT_RUN_REPORT_H_

#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/config/options.h"
#include "core/report/progress.h"
#include "core/report/summary.h"
#include "core/runtime/report.h"
#include "slackline/status.h"

namespace slackline {

struct RunReportSettings {
  Options options;  // output.run_dir: where to write; "": nowhere.
  bool virtual_time = false;
  std::function<void(const std::string& line)> on_progress;  // Of one moment, replaced by the next.
  std::function<void(const std::string& line)> on_news;      // To be kept in sight.
};

// Threads: one.
class RunReport {
 public:
  // Errors: kUnavailable if metrics.jsonl cannot be made.
  static Result<std::unique_ptr<RunReport>> Create(RunReportSettings settings);

  void OnReport(const Report& report);

  // Counts beside those that reports bring: those of the simulated network.
  void AddFaults(const std::string& name, std::uint64_t count) { faults_[name] += count; }

  // Writes summary.json if the run came to an end. Errors: kUnavailable for the first trouble with
  // the disk.
  Status Finish();
  // summary.json's text; "" before the run's end.
  std::string Summary() const;

 private:
  explicit RunReport(RunReportSettings settings);

  void Handle(Time at, const MembershipReport& report);
  void Handle(Time at, const PlacementReport& report);
  void Handle(Time at, const ProgressReport& report);
  void Handle(Time at, const EvaluationReport& report);
  void Handle(Time at, const SummaryReport& report);
  void WriteMetrics(const std::string& line);

  const RunReportSettings settings_;
  const SteadyClock clock_;
  std::ofstream metrics_;
  ProgressText text_;
  std::optional<Time> shown_at_;  // Real time: virtual seconds can pass by the thousand in one.
  std::map<std::string, std::uint64_t> faults_;
  std::optional<SummaryReport> summary_;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_REPORT_RUN_REPORT_H_
