#include "tools/observer_node.h"

#include "core/base/strings.h"
#include "core/session/timeouts.h"

namespace slackline {
namespace {
constexpr TimerId kAskAgain{1};
}  // namespace

ObserverNode::ObserverNode(const NetworkOptions& network)
    : scheduler_(network.scheduler), patience_(network.patience) {}

void ObserverNode::OnStart(Time now, Outbox& out) {
  started_ = now;
  out.connects.push_back({kSchedulerNode, StrCat("tcp://", scheduler_)});
  OnTimer(now, kAskAgain, out);
}

void ObserverNode::OnMessage(Time, NodeId from, const Message& message, Outbox& out) {
  if (from != kSchedulerNode) return;
  if (const auto* reply = std::get_if<StatusReply>(&message.body)) {
    reply_ = *reply;
    out.Exit(Status::Ok());
  } else if (const auto* refused = std::get_if<Refused>(&message.body)) {
    out.Exit(
        {refused->code, StrCat("the scheduler at ", scheduler_, " refused: ", refused->message)});
  }
}

void ObserverNode::OnTimer(Time now, TimerId, Outbox& out) {
  if (now - started_ >= patience_) {
    return out.Exit(DeadlineExceeded(
        StrCat("no scheduler answered at ", scheduler_, " within ", Seconds(patience_),
               " s (--patience); name the right one with --scheduler HOST:PORT")));
  }
  out.SendTo(kSchedulerNode, StatusRequest{});
  out.SetTimer(kAskAgain, now + Timeouts::From(patience_).join_retry);
}

void ObserverNode::OnInterrupt(Time, Outbox& out) { out.Exit(Unavailable("interrupted")); }

}  // namespace slackline
