// Member: a server's, worker's or evaluator's side of membership. It joins, learns its rank, keeps
// the newest roster, reports with every heartbeat, and notices when the scheduler is gone.
//
// Part of a Node: driven by the Node's inputs, owned by it, used on its thread.
#ifndef SLACKLINE_CORE_SESSION_MEMBER_H_
#define SLACKLINE_CORE_SESSION_MEMBER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/digest.h"
#include "core/config/options.h"
#include "core/runtime/node.h"
#include "core/session/timeouts.h"

namespace slackline {

inline constexpr TimerId kMemberTimer{1};

class Member {
 public:
  // `statistics` is asked before every heartbeat.
  Member(const NetworkOptions& network, Hello hello, std::function<Statistics(Time)> statistics);

  void Start(Time now, Outbox& out);

  // What a message meant for the Node that owns this.
  enum class Event : std::uint8_t {
    kNone,      // Not for membership, or nothing new.
    kWelcomed,  // rank() is known.
    kRoster,    // roster() changed.
  };
  // Exits the Node where membership ends: refused for good, or dismissed at the run's end.
  Event OnMessage(Time now, NodeId from, const Message& message, Outbox& out);
  // REQUIRES timer == kMemberTimer.
  void OnTimer(Time now, Outbox& out);

  // Tells the scheduler at once.
  void SetState(Time now, MemberState state, Outbox& out);
  // Reports for the last time and ends the Node when that is acknowledged, or after the farewell.
  void Leave(Time now, Status status, Outbox& out);

  bool welcomed() const { return rank_.has_value(); }
  std::uint32_t rank() const;  // REQUIRES welcomed().
  const Roster& roster() const { return roster_; }
  MemberState state() const { return state_; }
  const Timeouts& timeouts() const { return timeouts_; }
  void AddTo(Digest& digest) const;

 private:
  void SendHeartbeat(Time now, Outbox& out);

  const std::string scheduler_;
  const Duration join_timeout_;
  const Timeouts timeouts_;
  const Hello hello_;
  const std::function<Statistics(Time)> statistics_;

  std::optional<std::uint32_t> rank_;
  Roster roster_;
  MemberState state_ = MemberState::kJoining;
  Time started_{};
  Time scheduler_heard_{};
  std::string last_refusal_;
  std::optional<Time> leaving_since_;
  Status leaving_status_;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_SESSION_MEMBER_H_
