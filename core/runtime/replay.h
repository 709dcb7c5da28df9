// Replay: runs the Nodes of a recorded run, real or simulated, through exactly the inputs they had,
// and compares every Outbox and every final state with what was recorded. What differs is a bug: in
// what a Node lets decide (a clock, an address, an iteration order), or in the runtime.
//
// Each Node gets its own inputs in their own order at their recorded times. A message is given once
// its sender has sent it in the replay, known by (sender, number); a job's result once it was asked
// for; timers and interrupts as recorded. Messages that got lost are never asked for, and those
// that came twice are given twice. So no network is needed, and none is modelled.
#ifndef SLACKLINE_CORE_RUNTIME_REPLAY_H_
#define SLACKLINE_CORE_RUNTIME_REPLAY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/event_log.h"
#include "core/runtime/node.h"
#include "slackline/status.h"

namespace slackline {

// Where a replay first disagreed with the record.
struct ReplayDifference {
  Role role = Role::kWorker;
  std::int64_t rank = -1;
  NodeId node = kNoNode;
  std::uint64_t input = 0;  // Counts from 0; the number of inputs for the final state.
  Input::Kind kind = Input::Kind::kStart;
  Time time{};
  std::string what;  // "the outbox differs", "the final state differs", "job 7 was never asked for"

  std::string ToString() const;
};

struct ReplayReport {
  std::uint64_t logs = 0;
  std::uint64_t inputs = 0;                    // Given to Nodes; each Outbox was compared.
  std::uint64_t final_states = 0;              // Compared. A killed process has none.
  std::optional<ReplayDifference> difference;  // The replay stops there.
  // Processes that could not be replayed to their end, and the message they lack: its sender has no
  // log, or was killed and the end of its log is lost.
  std::vector<std::string> stopped;

  // Everything was replayed, and all of it agreed.
  bool identical() const { return !difference.has_value() && stopped.empty(); }
};

// Makes the Node of one life, as it was made in the run: from the same options, and as `NodeId`.
using ReplayFactory = std::function<Result<std::unique_ptr<Node>>(const EventLogHeader& whose)>;

// Errors: those of the factory. What a Node does is in the report.
Result<ReplayReport> Replay(const std::vector<EventLog>& logs, const ReplayFactory& make_node);

}  // namespace slackline

#endif  // SLACKLINE_CORE_RUNTIME_REPLAY_H_
