// Uplink: one region server's connection to the global shard of its own place (both tiers are cut
// alike). It stands on the same Session as a worker, with one push and its answer under way at
// most.
//
// Threads: one at a time.
#ifndef SLACKLINE_SERVER_UPLINK_H_
#define SLACKLINE_SERVER_UPLINK_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/session/session.h"

namespace slackline {

class Uplink {
 public:
  Uplink(Session::Settings settings, const ParameterSpec& spec, const ServerEntry& above)
      : session_(std::move(settings), spec, {above}) {}

  void Open(Time now, Outbox& out) { session_.Open(now, out); }
  // Pushes this shard's part of exchange `seq` and asks for the global parameters after it. Waits
  // for the session to open. REQUIRES the exchange before to be answered.
  void Begin(Time now, std::uint64_t seq, std::uint64_t samples, Buffer difference, Outbox& out);
  // Leaves the global tier once it is open and nothing is under way.
  void Close(Time now, Outbox& out);

  // True where the message was from above.
  bool OnMessage(Time now, NodeId from, const Message& message, Outbox& out);
  void OnTimer(Time now, Outbox& out) { session_.OnTimer(now, out); }

  // Exchanges answered so far.
  std::uint64_t answered() const { return answered_; }
  // The newest answer; its `versions` has one element. Empty before the first.
  const PullContent& answer() const { return answer_; }
  bool closed() const { return closed_; }
  // Not Ok: the global tier will not have us any more.
  const Status& fenced() const { return fenced_; }

  const Session& session() const { return session_; }

 private:
  void GoOn(Time now, Outbox& out);

  Session session_;
  bool open_ = false;
  bool closing_ = false;
  bool closed_ = false;
  std::optional<PushContent> waiting_;  // For the session to open.
  PullContent answer_;
  std::uint64_t answered_ = 0;
  Status fenced_;
};

}  // namespace slackline

#endif  // SLACKLINE_SERVER_UPLINK_H_
