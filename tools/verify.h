// Verify: did a run keep the promises of docs/PROTOCOL.md? Judged from its event logs alone, by
// code that shares nothing with the servers' own bookkeeping: clocks are counted again from the
// pushes that each shard decided, in the shard's own order, and claims are compared with that.
//
// Checked:
//   slack     a read for round c is served when the slowest worker still there has finished c - s
//             rounds; finished rounds never spread by more than s + 1; a round that a worker
//             started was read at every shard.
//   order     each shard decides each worker's pushes 0, 1, 2, ... one after another.
//   once      no push is decided twice at a shard; a push acknowledged as applied was applied at
//             every shard.
//   own       a read for round c holds c of the reader's own pushes, less those that prefetch runs
//             ahead.
//   claims    slowest clock, own pushes, staleness, final clock and next seq are as counted here.
//   versions  never go back and advance one at a time; a tier's cut has one version everywhere.
//   exchange  a region's shard begins one exchange after the other's merge, and each one was
//   decided
//             as a push by the global shard above it.
//
// At the global tier over regions, "worker" in all this is a region.
//
// A killed process loses the tail of its log. What only that tail could tell is unknown, and is
// counted, not blamed. A shard whose server was killed and came back is unknown from there on.
#ifndef SLACKLINE_TOOLS_VERIFY_H_
#define SLACKLINE_TOOLS_VERIFY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config/options.h"
#include "core/runtime/event_log.h"
#include "slackline/status.h"

namespace slackline {

// What the run had promised.
struct VerifyOptions {
  std::uint32_t workers = 0;
  std::uint32_t servers = 0;
  std::optional<std::uint64_t> slack;  // None: asp.
  std::uint64_t own_ahead = 0;         // Own pushes that a read need not hold yet (prefetch).
  bool by_tier = false;                // One lead decides for all shards.
  // Workers of each region that has servers of its own; empty: flat. `servers` are those of each
  // tier, `slack` is among a region's workers, and this one among regions.
  std::vector<std::uint32_t> regions = {};
  std::optional<std::uint64_t> region_slack = {};
};

VerifyOptions VerifyOptionsFrom(const Options& options);

struct Verification {
  static constexpr std::size_t kNamedMax = 100;

  std::uint64_t logs = 0;
  std::uint64_t killed = 0;  // Logs without an end.
  std::uint64_t inputs = 0;
  std::uint64_t rounds_started = 0;
  std::uint64_t pushes_sent = 0;  // A push over seven shards is one ...
  std::uint64_t pushes_acknowledged = 0;
  std::uint64_t reads_served = 0;  // ... and from here on it is seven.
  std::uint64_t applied = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t discarded = 0;
  std::uint64_t rejected = 0;
  std::uint64_t cuts = 0;
  std::uint64_t exchanges = 0;   // Merged, by each shard of each region.
  std::uint64_t spread_max = 0;  // Of finished rounds, at any shard.
  std::uint64_t staleness_max = 0;
  std::uint64_t unknown = 0;         // What could not be judged.
  std::vector<std::string> missing;  // Servers and workers without a log.
  std::uint64_t violations_total = 0;
  std::vector<std::string> violations;  // The first kNamedMax.

  bool ok() const { return violations_total == 0; }
  // Counts and violations, for people; several lines.
  std::string ToString() const;
};

Verification VerifyLogs(const std::vector<EventLog>& logs, const VerifyOptions& options);

// Errors: those of ReadEventLogs; kNotFound naming the servers and workers that no log tells of,
// for nothing can be said of them. A broken promise is not an error but a violation.
Result<Verification> VerifyRun(const std::string& run_dir, const VerifyOptions& options);

}  // namespace slackline

#endif  // SLACKLINE_TOOLS_VERIFY_H_
