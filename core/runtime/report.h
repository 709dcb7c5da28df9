// Report: what the scheduler tells people about a run. The runtime hands reports to a sink that
// prints progress and writes metrics.jsonl and summary.json (tools and role mains choose it).
#ifndef SLACKLINE_CORE_RUNTIME_REPORT_H_
#define SLACKLINE_CORE_RUNTIME_REPORT_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/base/time.h"
#include "core/wire/messages.h"

namespace slackline {

// Somebody joined, left or was lost; the phase advanced.
struct MembershipReport {
  std::string event;  // "joined", "lost", "finished", "phase"
  Role role = Role::kWorker;
  std::uint32_t rank = 0;
  Phase phase = Phase::kForming;
  std::string text;  // The sentence for people.
};

// Where shards lie, printed once when the run has formed.
struct PlacementReport {
  std::vector<ServerEntry> servers;
  std::uint64_t dense_elements = 0;
  double imbalance = 1.0;  // max / mean bytes
};

struct ProgressReport {
  Duration running{};                 // Since training began.
  std::uint64_t samples = 0;          // Acknowledged, all workers.
  std::uint64_t samples_planned = 0;  // In all; 0: not known.
  std::uint64_t rounds_min = 0;       // Slowest and fastest worker's clocks.
  std::uint64_t rounds_max = 0;
  std::uint64_t updates = 0;  // The lead's version.
  double loss = 0;            // Mean over workers.
  double lr = 0;
  std::uint64_t staleness_p50 = 0;
  std::uint64_t staleness_p99 = 0;
  double gate_wait_share = 0;  // Of the workers' time, [0, 1].
  std::uint64_t bytes_pushed = 0;
  std::uint64_t bytes_pulled = 0;
};

struct EvaluationReport {
  Duration running{};
  Evaluation evaluation;
};

// The end, good or bad.
struct SummaryReport {
  bool failed = false;
  std::string reason;
  Duration running{};                 // From the start of training to the last worker's end.
  std::vector<MemberStatus> members;  // Everyone's last statistics.
  std::vector<EvaluationReport> evaluations;
};

struct Report {
  Time at{};
  std::variant<MembershipReport, PlacementReport, ProgressReport, EvaluationReport, SummaryReport>
      what;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_RUNTIME_REPORT_H_
