#include "core/session/member.h"

#include "core/base/check.h"
#include "core/base/digest.h"
#include "core/base/strings.h"

namespace slackline {

Member::Member(const NetworkOptions& network, Hello hello,
               std::function<Statistics(Time)> statistics)
    : scheduler_(network.scheduler),
      join_timeout_(network.join_timeout),
      timeouts_(Timeouts::From(network.patience)),
      hello_(std::move(hello)),
      statistics_(std::move(statistics)) {}

void Member::Start(Time now, Outbox& out) {
  started_ = now;
  out.connects.push_back({kSchedulerNode, StrCat("tcp://", scheduler_)});
  out.SendTo(kSchedulerNode, hello_);
  out.SetTimer(kMemberTimer, now + timeouts_.join_retry);
}

Member::Event Member::OnMessage(Time now, NodeId from, const Message& message, Outbox& out) {
  if (from != kSchedulerNode) return Event::kNone;
  scheduler_heard_ = now;
  if (const auto* welcome = std::get_if<Welcome>(&message.body)) {
    if (rank_.has_value()) return Event::kNone;
    rank_ = welcome->rank;
    SetState(now, MemberState::kWorking, out);
    return Event::kWelcomed;
  }
  if (const auto* refused = std::get_if<Refused>(&message.body)) {
    if (rank_.has_value() && refused->retry) return Event::kNone;
    last_refusal_ = refused->message;
    if (!refused->retry) {
      out.Exit(
          {refused->code, StrCat("the scheduler at ", scheduler_, " refused: ", refused->message)});
    }
    return Event::kNone;
  }
  if (const auto* roster = std::get_if<Roster>(&message.body)) {
    // A roster may overtake the welcome; without a rank it is of no use, and it comes again.
    if (!rank_.has_value() || roster->epoch <= roster_.epoch) return Event::kNone;
    roster_ = *roster;
    if (roster_.phase == Phase::kStopping) {
      Leave(now,
            roster_.failed ? Unavailable(StrCat("the run was stopped: ", roster_.reason))
                           : Status::Ok(),
            out);
    }
    return Event::kRoster;
  }
  if (const auto* ack = std::get_if<HeartbeatAck>(&message.body)) {
    if (leaving_since_.has_value() && ack->state == MemberState::kStopped)
      out.Exit(leaving_status_);
  }
  return Event::kNone;
}

void Member::OnTimer(Time now, Outbox& out) {
  if (leaving_since_.has_value()) {
    if (now - *leaving_since_ >= timeouts_.farewell) {
      out.Exit(leaving_status_);
      return;
    }
    SendHeartbeat(now, out);
    out.SetTimer(kMemberTimer, now + timeouts_.join_retry);
    return;
  }
  if (!rank_.has_value()) {
    // Another question could not be answered in time: end within the limit, not beyond it.
    if (now - started_ + timeouts_.join_retry >= join_timeout_) {
      const std::string heard = last_refusal_.empty() ? "no answer" : last_refusal_;
      out.Exit(DeadlineExceeded(
          StrCat("could not join the scheduler at ", scheduler_, " within ", Seconds(join_timeout_),
                 " s: ", heard, "; start slackline-scheduler there, or correct --scheduler")));
      return;
    }
    out.SendTo(kSchedulerNode, hello_);
    out.SetTimer(kMemberTimer, now + timeouts_.join_retry);
    return;
  }
  if (now - scheduler_heard_ >= timeouts_.patience) {
    out.Exit(Unavailable(StrCat("the scheduler at ", scheduler_, " has been silent for ",
                                Seconds(now - scheduler_heard_), " s (--patience)")));
    return;
  }
  SendHeartbeat(now, out);
  out.SetTimer(kMemberTimer, now + timeouts_.heartbeat);
}

std::uint32_t Member::rank() const {
  SLACKLINE_CHECK(rank_.has_value());
  return *rank_;
}

void Member::SetState(Time now, MemberState state, Outbox& out) {
  state_ = state;
  SendHeartbeat(now, out);
  out.SetTimer(kMemberTimer, now + timeouts_.heartbeat);
}

void Member::Leave(Time now, Status status, Outbox& out) {
  if (leaving_since_.has_value()) return;
  leaving_status_ = std::move(status);
  if (!rank_.has_value()) {
    out.Exit(leaving_status_);
    return;
  }
  leaving_since_ = now;
  state_ = MemberState::kStopped;
  SendHeartbeat(now, out);
  out.SetTimer(kMemberTimer, now + timeouts_.join_retry);
}

void Member::SendHeartbeat(Time now, Outbox& out) {
  out.SendTo(kSchedulerNode, Heartbeat{.epoch = roster_.epoch,
                                       .state = state_,
                                       .reason = leaving_status_.message(),
                                       .statistics = statistics_(now)});
}

void Member::AddTo(Digest& digest) const {
  digest.Add(rank_.has_value() ? *rank_ + 1 : 0);
  digest.Add(roster_.epoch);
  digest.Add(static_cast<std::uint64_t>(state_));
}

}  // namespace slackline
