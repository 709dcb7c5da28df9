// DecisionStream: the lead's decision log on its way to the other shards. Entries are numbered from
// 0, sent as they are made, sent again until acknowledged, and forgotten when everyone has them.
//
// Threads: one at a time.
#ifndef SLACKLINE_SERVER_DECISION_STREAM_H_
#define SLACKLINE_SERVER_DECISION_STREAM_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "core/runtime/node.h"

namespace slackline {

class DecisionStream {
 public:
  DecisionStream(std::vector<NodeId> followers, Duration retry);

  void Append(const std::vector<Decision>& entries);
  // Sends what has not been sent yet.
  void Flush(Time now, Outbox& out);
  void OnAck(NodeId follower, std::uint64_t next);
  // Sends again what has waited too long.
  void OnTimer(Time now, Outbox& out);

 private:
  struct Follower {
    NodeId node;
    std::uint64_t acknowledged = 0;  // Entries below it have arrived.
    std::uint64_t sent = 0;          // Entries below it were sent.
    Time last_sent{};
  };
  void Send(Time now, Follower& follower, std::uint64_t first, Outbox& out);

  std::vector<Follower> followers_;
  const Duration retry_;
  std::uint64_t first_ = 0;   // The number of log_.front().
  std::deque<Decision> log_;  // Bounded by what workers can have under way.
};

// The follower's end: accepts entries in order, each once.
class DecisionReceiver {
 public:
  // Appends the entries that are new and next in order to `log`; the answer says what is wanted
  // next.
  DecisionsAck OnDecisions(std::uint32_t shard, const Decisions& message,
                           std::vector<Decision>& log);

 private:
  std::uint64_t next_ = 0;
};

}  // namespace slackline

#endif  // SLACKLINE_SERVER_DECISION_STREAM_H_
