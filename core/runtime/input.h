// Input: what a Node is handed, as seen at a runtime's boundary. Both runtimes show every input and
// the Outbox it led to; the event log is written from there.
#ifndef SLACKLINE_CORE_RUNTIME_INPUT_H_
#define SLACKLINE_CORE_RUNTIME_INPUT_H_

#include <cstdint>

#include "core/base/time.h"
#include "core/runtime/node.h"
#include "core/wire/types.h"

namespace slackline {

struct Input {
  // Written to event logs: a number is never reused.
  enum class Kind : std::uint8_t { kStart = 1, kMessage = 2, kTimer = 3, kJob = 4, kInterrupt = 5 };

  Kind kind = Kind::kStart;
  // kMessage only. `from` is as the Node sees it: kSchedulerNode for the scheduler, whose own
  // NodeId is then the sender. (sender, number) names the message over all processes.
  NodeId from = kNoNode;
  NodeId sender = kNoNode;
  std::uint64_t number = 0;
  const Message* message = nullptr;  // Lives as long as the call that shows it.
  std::uint64_t id = 0;              // kTimer: the TimerId. kJob: the JobId.
};

class InputObserver {
 public:
  virtual ~InputObserver() = default;

  // Called on the runtime's thread after the Node has answered `input` and before `out` is carried
  // out.
  virtual void OnInput(Time now, const Input& input, const Outbox& out) = 0;
  // Called once the Node's exit has been carried out, with its last StateDigest; not after a kill.
  virtual void OnEnd(Time /*now*/, std::uint64_t /*state_digest*/) {}
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_RUNTIME_INPUT_H_
