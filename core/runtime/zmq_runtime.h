// ZmqRuntime: drives one Node over real sockets and the real clock.
//
// The thread that calls Run is the reactor: it owns the Node and hands it one input after another,
// and carries out what the Node's Outbox asks for before the next. Compute and evaluation jobs run
// on a small pool; a server's applies run on the reactor, as the next input of all.
//
// Where there are links between regions, a message to a peer is held back until it would arrive
// (LinkShaper), once the Node has said where both are; all others go at once.
#ifndef SLACKLINE_CORE_RUNTIME_ZMQ_RUNTIME_H_
#define SLACKLINE_CORE_RUNTIME_ZMQ_RUNTIME_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/clock.h"
#include "core/config/options.h"
#include "core/runtime/input.h"
#include "core/runtime/job_pool.h"
#include "core/runtime/link_shaper.h"
#include "core/runtime/node.h"
#include "core/runtime/time_model.h"
#include "core/runtime/zmq_transport.h"
#include "slackline/status.h"

namespace slackline {

struct ZmqRuntimeOptions {
  NodeId self = kNoNode;
  std::string run_id = "default";
  bool listen = false;
  NetworkOptions network;
  LinkOptions links;
  ClusterOptions cluster;             // Regions and seed of the links.
  std::uint64_t own_model_bytes = 0;  // What --model-bytes stands for; 0: do not scale.
  std::size_t job_threads = 1;
  TimeModel time_model;               // Holds compute results back.
  InputObserver* observer = nullptr;  // Outlives the runtime.
  // Called on the reactor; may be empty.
  std::function<void(const Report&)> on_report;
  std::function<void(const Outbox::Note&)> on_note;
};

class ZmqRuntime {
 public:
  // Binds, when listening. Errors: those of ZmqTransport::Create and of
  // RegionLinks::Create.
  static Result<std::unique_ptr<ZmqRuntime>> Create(ZmqRuntimeOptions options);

  // Where others reach this process, "tcp://host:port"; "" when not listening.
  const std::string& address() const { return transport_->address(); }

  // Until the Node exits; its exit status. A second Interrupt ends it without the Node.
  // Blocking: for as long as the Node lives. Call it once.
  Status Run(Node& node);

  // Asks the Node to end. From any thread, and from signal handlers.
  void Interrupt();

  const TransportCounts& counts() const { return transport_->counts(); }

 private:
  struct Due {  // A timer, or a job's result that is held back.
    Time at;
    std::uint64_t order;
    Input::Kind kind;
    std::uint64_t id;
    bool operator>(const Due& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  ZmqRuntime(ZmqRuntimeOptions options, const RegionLinks& links,
             std::unique_ptr<ZmqTransport> transport);
  // An input, and then the inline jobs that it and they lead to.
  void Deliver(const Input& input);
  void DeliverOne(const Input& input);
  void CarryOut();
  void CarryOutPlaces();
  void Transmit(Outbox::Send send);
  void SendDue();
  // What is held back still leaves when it is due, or after kLingerMax.
  void SendAllHeld();
  void TakeFinishedJobs();
  // Delivers what is due. True if there was anything.
  bool DeliverDue();
  Duration UntilNextDue() const;
  void NoteRefused(const Status& status);

  const ZmqRuntimeOptions options_;
  const SteadyClock clock_;
  std::unique_ptr<ZmqTransport> transport_;
  std::unique_ptr<JobPool> pool_;  // Made with the first job that needs it.
  Node* node_ = nullptr;
  Outbox outbox_;
  LinkShaper shaper_;
  HeldMessages held_;
  std::vector<std::byte> scratch_;  // Kept for its memory.
  std::uint64_t messages_sent_ = 0;
  std::uint64_t next_order_ = 0;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::unordered_map<std::uint64_t, std::uint64_t> timers_;  // TimerId -> order of its Due.
  std::deque<Job> inline_jobs_;
  bool exited_ = false;
  Status exit_status_;
  Time next_refusal_note_{};
  std::atomic<int> interrupts_{0};
  int interrupts_seen_ = 0;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_RUNTIME_ZMQ_RUNTIME_H_
