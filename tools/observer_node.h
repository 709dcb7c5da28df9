// ObserverNode: asks the scheduler who takes part, and takes no part itself.
#ifndef SLACKLINE_TOOLS_OBSERVER_NODE_H_
#define SLACKLINE_TOOLS_OBSERVER_NODE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/time.h"
#include "core/config/options.h"
#include "core/runtime/node.h"

namespace slackline {

class ObserverNode : public Node {
 public:
  // Asks again and again until --patience has passed.
  explicit ObserverNode(const NetworkOptions& network);

  void OnStart(Time now, Outbox& out) override;
  void OnMessage(Time now, NodeId from, const Message& message, Outbox& out) override;
  void OnTimer(Time now, TimerId timer, Outbox& out) override;
  void OnJobDone(Time, JobId, Outbox&) override {}
  void OnInterrupt(Time now, Outbox& out) override;
  std::uint64_t StateDigest() const override { return reply_.has_value() ? 1 : 0; }

  // Set once the Node has exited well.
  const std::optional<StatusReply>& reply() const { return reply_; }

 private:
  const std::string scheduler_;
  const Duration patience_;
  Time started_{};
  std::optional<StatusReply> reply_;
};

}  // namespace slackline

#endif  // SLACKLINE_TOOLS_OBSERVER_NODE_H_
