#include "core/report/run_report.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "core/base/check.h"
#include "core/base/strings.h"
#include "core/report/readable.h"
#include "core/report/run_folder.h"

namespace slackline {
namespace {

using Json = nlohmann::ordered_json;

Json Event(Time at, const std::string& event) { return {{"t", Seconds(at)}, {"event", event}}; }

std::string Line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

RunReport::RunReport(RunReportSettings settings)
    : settings_(std::move(settings)), text_(MetricOf(settings_.options.model.model)) {}

Result<std::unique_ptr<RunReport>> RunReport::Create(RunReportSettings settings) {
  std::unique_ptr<RunReport> report(new RunReport(std::move(settings)));
  const std::string& folder = report->settings_.options.output.run_dir;
  if (!folder.empty()) {
    const std::string path = StrCat(folder, "/", kMetricsFile);
    SLACKLINE_RETURN_IF_ERROR(WriteFile(path, ""));
    report->metrics_.open(path, std::ios::app);
  }
  return report;
}

void RunReport::OnReport(const Report& report) {
  std::visit([&](const auto& what) { Handle(report.at, what); }, report.what);
}

// Handed to the system line by line: a kill must not take the last ones along.
void RunReport::WriteMetrics(const std::string& line) {
  if (metrics_.is_open()) metrics_ << line << "\n" << std::flush;
}

void RunReport::Handle(Time at, const MembershipReport& report) {
  if (report.event == "lost") ++faults_["members_lost"];
  Json json = Event(at, report.event);
  if (report.event != "phase") {
    json["role"] = RoleName(report.role);
    json["rank"] = report.rank;
  }
  json["phase"] = PhaseName(report.phase);
  json["text"] = report.text;
  WriteMetrics(Line(json));
  if (settings_.on_news) settings_.on_news(report.text);
}

void RunReport::Handle(Time at, const PlacementReport& report) {
  Json json = Event(at, "placement");
  json["dense_elements"] = report.dense_elements;
  json["imbalance"] = report.imbalance;
  std::string text =
      StrCat(report.dense_elements, " parameters on ", report.servers.size(), " servers:");
  constexpr std::size_t kShownMax = 8;
  for (const ServerEntry& server : report.servers) {
    json["servers"].push_back({{"rank", server.rank},
                               {"address", server.address},
                               {"begin", server.range.begin},
                               {"end", server.range.end}});
    if (server.rank < kShownMax)
      text += StrCat(" [", server.range.begin, ", ", server.range.end, ")");
  }
  if (report.servers.size() > kShownMax) text += " ...";
  WriteMetrics(Line(json));
  if (settings_.on_news)
    settings_.on_news(StrCat(text, ", largest/mean ", Fixed(report.imbalance, 3)));
}

void RunReport::Handle(Time at, const ProgressReport& report) {
  Json json = Event(at, "progress");
  json["running_s"] = Seconds(report.running);
  json["samples"] = report.samples;
  json["updates"] = report.updates;
  json["rounds_min"] = report.rounds_min;
  json["rounds_max"] = report.rounds_max;
  json["loss"] = report.loss;
  json["lr"] = report.lr;
  json["staleness_p50"] = report.staleness_p50;
  json["staleness_p99"] = report.staleness_p99;
  json["gate_wait_share"] = report.gate_wait_share;
  json["bytes_pushed"] = report.bytes_pushed;
  json["bytes_pulled"] = report.bytes_pulled;
  WriteMetrics(Line(json));
  const Time now = clock_.Now();
  const bool due =
      !shown_at_.has_value() || now - *shown_at_ >= settings_.options.output.progress_interval / 2;
  if (!settings_.on_progress || !(due || report.samples == report.samples_planned)) return;
  shown_at_ = now;
  settings_.on_progress(text_.Line(report));
}

void RunReport::Handle(Time at, const EvaluationReport& report) {
  text_.OnEvaluation(report);
  const Evaluation& e = report.evaluation;
  const std::string name = MetricOf(settings_.options.model.model).name;
  Json json = Event(at, "evaluation");
  json["running_s"] = Seconds(report.running);
  json["cut"] = e.cut;
  json["version"] = e.version;
  json["samples"] = e.samples;
  json["examples"] = e.examples;
  json["loss"] = e.loss;
  json["metric"] = e.metric;
  json["metric_name"] = name;
  json["last"] = e.last;
  WriteMetrics(Line(json));
  if (!settings_.on_news) return;
  settings_.on_news(StrCat("test after ", ReadableCount(static_cast<double>(e.samples)),
                           " samples: loss ", Fixed(e.loss, 4),
                           name == "none" ? "" : StrCat(", ", name, " ", Fixed(e.metric, 4))));
}

void RunReport::Handle(Time at, const SummaryReport& report) {
  summary_ = report;
  Json json = Event(at, "end");
  json["failed"] = report.failed;
  json["reason"] = report.reason;
  json["running_s"] = Seconds(report.running);
  WriteMetrics(Line(json));
}

std::string RunReport::Summary() const {
  if (!summary_.has_value()) return "";
  return SummaryJson(settings_.options, *summary_, settings_.virtual_time,
                     FaultCounts(faults_.begin(), faults_.end()));
}

Status RunReport::Finish() {
  const std::string& folder = settings_.options.output.run_dir;
  if (folder.empty() || !summary_.has_value()) return Status::Ok();
  SLACKLINE_RETURN_IF_ERROR(WriteFile(StrCat(folder, "/", kSummaryFile), Summary()));
  if (!metrics_)
    return Unavailable(StrCat(folder, "/", kMetricsFile, " could not be written to its end"));
  return Status::Ok();
}

}  // namespace slackline
