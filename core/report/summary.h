// summary.json and the closing block: what a run came to.
#ifndef SLACKLINE_CORE_REPORT_SUMMARY_H_
#define SLACKLINE_CORE_REPORT_SUMMARY_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/config/options.h"
#include "core/runtime/report.h"
#include "slackline/status.h"

namespace slackline {

// What went wrong on the way, by name. Written in this order.
using FaultCounts = std::vector<std::pair<std::string, std::uint64_t>>;

// The text of summary.json. Keys:
//   schema, algorithm, gate, slack, collector, rule, model, data, seed, workers, servers, regions,
//   failed, reason, samples, updates, rounds (of the slowest worker), wall_s or virtual_s,
//   loss, best_loss, metric, best_metric, metric_name, evaluations (of held-out data; null if there
//   was none), training_loss, staleness {mean, p50, p99, max, histogram[v]: pushes of staleness v},
//   slack_max (largest spread of finished clocks), bytes {"worker0 -> servers": payload bytes,
//   ...}, pushes {sent, applied, duplicate, discarded, rejected}, waits {gate_s, gate_share,
//   compute_s}, faults.
// Pushes are counted at the lead, which sees each once; a duplicate is counted where most came.
std::string SummaryJson(const Options& options, const SummaryReport& report, bool virtual_time,
                        const FaultCounts& faults);

// For people: result, throughput, waiting and a staleness histogram. The last line is `run_dir`.
// Errors: kDataLoss for a text that is not a summary.
Result<std::string> ClosingBlock(const std::string& summary_json, const std::string& run_dir);

}  // namespace slackline

#endif  // SLACKLINE_CORE_REPORT_SUMMARY_H_
