#include "server/uplink.h"

#include "core/base/check.h"

namespace slackline {

void Uplink::Begin(Time now, std::uint64_t seq, std::uint64_t samples, Buffer difference,
                   Outbox& out) {
  SLACKLINE_CHECK(seq == answered_ && !waiting_.has_value());
  // The first difference is from the initial parameters, which every server makes for itself.
  const std::uint64_t version = answered_ == 0 ? 0 : answer_.versions[0];
  waiting_ = PushContent{.seq = seq,
                         .dense = std::move(difference),
                         .rows = {},
                         .versions = {version},
                         .samples = samples};
  GoOn(now, out);
}

void Uplink::Close(Time now, Outbox& out) {
  closing_ = true;
  GoOn(now, out);
}

void Uplink::GoOn(Time now, Outbox& out) {
  if (!open_) return;
  if (waiting_.has_value() && session_.CanPush() && !session_.pulling()) {
    PushContent push = std::move(*waiting_);
    waiting_.reset();
    const std::uint64_t next = push.seq + 1;
    session_.StartPushAndPull(now, std::move(push), next, next, out);
  }
  const bool idle =
      !waiting_.has_value() && session_.pushes_in_flight() == 0 && !session_.pulling();
  if (closing_ && idle) {
    open_ = false;
    session_.Close(now, out);
  }
}

bool Uplink::OnMessage(Time now, NodeId from, const Message& message, Outbox& out) {
  std::vector<SessionEvent> events;
  if (!session_.OnMessage(now, from, message, out, events)) return false;
  for (SessionEvent& event : events) {
    if (std::holds_alternative<SessionOpenedEvent>(event)) {
      open_ = true;
    } else if (auto* pulled = std::get_if<PullDoneEvent>(&event)) {
      answer_ = std::move(pulled->content);
      ++answered_;
    } else if (std::holds_alternative<SessionClosedEvent>(event)) {
      closed_ = true;
    } else if (const auto* fenced = std::get_if<SessionFencedEvent>(&event)) {
      fenced_ = fenced->status;
    }
  }
  GoOn(now, out);
  return true;
}

}  // namespace slackline
