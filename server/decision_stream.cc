#include "server/decision_stream.h"

#include <algorithm>

namespace slackline {

DecisionStream::DecisionStream(std::vector<NodeId> followers, Duration retry) : retry_(retry) {
  for (const NodeId node : followers) followers_.push_back({.node = node});
}

void DecisionStream::Append(const std::vector<Decision>& entries) {
  if (followers_.empty()) return;
  log_.insert(log_.end(), entries.begin(), entries.end());
}

void DecisionStream::Flush(Time now, Outbox& out) {
  for (Follower& follower : followers_) {
    if (follower.sent < first_ + log_.size()) Send(now, follower, follower.sent, out);
  }
}

void DecisionStream::Send(Time now, Follower& follower, std::uint64_t first, Outbox& out) {
  Decisions message{.first = first, .entries = {}};
  message.entries.assign(log_.begin() + static_cast<std::ptrdiff_t>(first - first_), log_.end());
  follower.sent = first_ + log_.size();
  follower.last_sent = now;
  out.SendTo(follower.node, std::move(message));
}

void DecisionStream::OnAck(NodeId node, std::uint64_t next) {
  std::uint64_t everyone = first_ + log_.size();
  for (Follower& follower : followers_) {
    if (follower.node == node)
      follower.acknowledged = std::clamp(next, follower.acknowledged, follower.sent);
    everyone = std::min(everyone, follower.acknowledged);
  }
  for (; first_ < everyone; ++first_) log_.pop_front();
}

void DecisionStream::OnTimer(Time now, Outbox& out) {
  for (Follower& follower : followers_) {
    if (follower.acknowledged < follower.sent && now - follower.last_sent >= retry_) {
      Send(now, follower, follower.acknowledged, out);
    }
  }
}

DecisionsAck DecisionReceiver::OnDecisions(std::uint32_t shard, const Decisions& message,
                                           std::vector<Decision>& log) {
  for (std::uint64_t i = 0; i < message.entries.size(); ++i) {
    if (message.first + i != next_) continue;
    log.push_back(message.entries[i]);
    ++next_;
  }
  return {.shard = shard, .next = next_};
}

}  // namespace slackline
