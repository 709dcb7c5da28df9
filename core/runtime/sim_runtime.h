// SimRuntime: drives Nodes in virtual time, all on the caller's thread.
//
// Inputs wait in a heap ordered by (time, order of issue); one after another is handed to its Node
// and what the Node's Outbox asks for is carried out: sends through SimNetwork, timers and jobs as
// later inputs, connects not at all. Jobs are really run, at once; their results are delivered when
// virtual time says so:
//   kCompute   after TimeModel::ComputeTime, or without a model 10 ms * work * SlowFactor(rank);
//   kApply     after SimOptions::apply_ms, or as long as a ring all-reduce of the model takes;
//   kEvaluate  after SimRuntimeOptions::evaluate_time.
// A job that takes no time is the next input of all. Jobs of one Node run side by side.
//
// Where LinkOptions give links between regions, each process is at its region's site, and those
// links take the place of link_gbps, link_latency_ms and link_jitter_ms. SimOptions::collective
// "ring" times an exchange of all workers as a ring all-reduce: messages between workers and
// servers take no time, and a server's apply takes RegionLinks::RingAllReduce.
//
// Same options, seed and Nodes, same build: same inputs, and the same Digest().
//
// A crashed process loses its Node, timers and jobs, and whatever is still on its way to it; what
// it sent before still arrives. A restarted one is made anew under a fresh NodeId. The scheduler
// keeps kSchedulerNode, so what is sent to it while it is down arrives if it is back by then.
#ifndef SLACKLINE_CORE_RUNTIME_SIM_RUNTIME_H_
#define SLACKLINE_CORE_RUNTIME_SIM_RUNTIME_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/digest.h"
#include "core/base/time.h"
#include "core/config/options.h"
#include "core/runtime/input.h"
#include "core/runtime/node.h"
#include "core/runtime/region_sites.h"
#include "core/runtime/sim_network.h"
#include "core/runtime/time_model.h"
#include "slackline/status.h"

namespace slackline {

struct SimRuntimeOptions {
  std::uint64_t seed = 1;
  std::string run_id = "default";
  SimOptions sim;
  LinkOptions links;
  ClusterOptions cluster;             // Who is in which region; asked where there are region links.
  std::uint64_t own_model_bytes = 0;  // What --model-bytes stands for; 0: do not scale.
  TimeModel time_model;
  Duration evaluate_time{};
  // Nodes that answer one another without any delay never let time go on; this ends them.
  std::uint64_t inputs_at_one_time_max = 100'000'000;
  // Told of every Report and Note; may be empty.
  std::function<void(Role role, std::uint32_t rank, const Report& report)> on_report;
  std::function<void(Time now, Role role, std::uint32_t rank, const Outbox::Note& note)> on_note;
};

struct SimCounts {
  std::uint64_t inputs = 0;         // Handed to Nodes.
  std::uint64_t delivered = 0;      // Messages among them.
  std::uint64_t undeliverable = 0;  // Messages to a process that is gone, or to nobody.
};

class SimRuntime {
 public:
  using MakeNode = std::function<std::unique_ptr<Node>(NodeId self)>;
  // The observer of one life of a process; null for none. `life` counts from 0.
  using MakeObserver = std::function<std::unique_ptr<InputObserver>(
      Role role, std::uint32_t rank, NodeId self, std::uint32_t life)>;

  // Errors: kInvalidArgument for sim options or links that make no sense, and for a ring without
  // region links or a size of the model. With region links REQUIRES valid cluster options.
  static Result<std::unique_ptr<SimRuntime>> Create(SimRuntimeOptions options);

  // Observes every life that begins from now on. Call it before the first AddNode.
  void ObserveWith(MakeObserver make) { make_observer_ = std::move(make); }

  // A process that starts at `start`, or now if that is past. `make` is called once a life, when it
  // begins. Returns the NodeId of the first life. REQUIRES (role, rank) to be new and, with region
  // links, one that the cluster has.
  NodeId AddNode(Role role, std::uint32_t rank, MakeNode make, Time start = Time{0});

  // Runs until every process has exited or has crashed for good.
  // Errors: kDeadlineExceeded at the virtual deadline, or when nothing is left to happen, naming
  // who has not exited and what they last reported to wait for; kInvalidArgument for a crash or
  // partition of a process that is not there; kInternal for a message that its own codec refuses;
  // kResourceExhausted when time stands still (inputs_at_one_time_max).
  // How the processes ended is not Run's business: see ExitStatus.
  Status Run();
  // Everything that happens up to and including `until`; then now() == until. Errors: as Run, but
  // for the deadline.
  Status RunUntil(Time until);
  // The next event, if there is one. An event may turn out to be void (a timer that was moved).
  bool Step();

  // Takes effect at once. Nothing happens to a process that is not in the state for it.
  void Crash(Role role, std::uint32_t rank);
  void Restart(Role role, std::uint32_t rank);
  // As ctrl-C; the Node sees it as its next input.
  void Interrupt(Role role, std::uint32_t rank);

  Time now() const { return now_; }
  // Of the newest life; null before its start and after a crash. Kept after its exit.
  Node* FindNode(Role role, std::uint32_t rank);
  bool Exited(Role role, std::uint32_t rank) const;
  // Ok while it has not exited.
  Status ExitStatus(Role role, std::uint32_t rank) const;
  SimNetwork& network() { return network_; }
  SimNetwork::Endpoint EndpointOf(Role role, std::uint32_t rank) const;
  const SimCounts& counts() const { return counts_; }
  // Events to come, void ones among them.
  std::size_t pending() const { return heap_.size(); }
  // Of every input so far and the state of every Node.
  std::uint64_t Digest() const;

 private:
  struct Event {
    enum class Kind : std::uint8_t {
      kStart,
      kMessage,
      kTimer,
      kJobDone,
      kInterrupt,
      kCrash,
      kRestart
    };
    Time time;
    std::uint64_t order;  // Breaks ties; jobs without duration have the small numbers.
    std::uint64_t what;   // Flight, TimerId, JobId or index of the crash window.
    std::uint32_t process;
    std::uint32_t life;
    Kind kind;

    bool operator>(const Event& other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };
  struct Flight {  // A message under way.
    Message message;
    NodeId from{};
    std::uint64_t number = 0;
  };
  struct Process {
    enum class State : std::uint8_t { kWaiting, kAlive, kCrashed, kExited };
    Role role;
    std::uint32_t rank;
    MakeNode make;
    SimNetwork::Endpoint endpoint;
    State state = State::kWaiting;
    std::uint32_t life = 0;
    NodeId self{};
    std::unique_ptr<Node> node;
    std::unique_ptr<InputObserver> observer;
    std::uint64_t messages_sent = 0;
    std::unordered_map<std::uint64_t, std::uint64_t> timers;  // TimerId -> order of its event
    std::vector<Wait> waits;                                  // As last reported.
    Status exit_status;
    std::uint64_t final_digest = 0;
  };

  SimRuntime(SimRuntimeOptions options, SimNetwork network);

  // What options say of links between regions, if anything.
  Status UseRegionLinks();
  std::uint32_t IndexOf(Role role, std::uint32_t rank) const;
  NodeId IdOfLife(const Process& process) const;
  void Schedule(Time at, Event::Kind kind, std::uint32_t process, std::uint64_t what,
                bool at_once = false);
  Status ScheduleFaults();
  void BeginLife(std::uint32_t index);
  void EndLife(std::uint32_t index);
  void Handle(const Event& event);
  void Deliver(std::uint32_t index, const Input& input);
  void CarryOut(std::uint32_t index);
  void Transmit(std::uint32_t index, Outbox::Send send);
  void SetTimer(std::uint32_t index, const Outbox::Timer& timer);
  void StartJob(std::uint32_t index, const Job& job);
  Duration DurationOf(const Job& job) const;
  bool Void(const Event& event) const;
  void DropVoidEvents();
  std::uint64_t StoreFlight(Flight flight);
  Status Unfinished(const std::string& why) const;

  // Constant after construction.
  SimRuntimeOptions options_;
  std::uint64_t run_number_;
  Time deadline_;
  MakeObserver make_observer_;
  Duration apply_time_;

  SimNetwork network_;
  std::optional<RegionSites> region_sites_;  // Where there are region links.
  Time now_{0};
  std::vector<Event> heap_;
  std::uint64_t next_order_ = 0;
  std::size_t void_events_ = 0;  // Timers in the heap that were moved.
  std::vector<Process> processes_;
  std::map<std::pair<Role, std::uint32_t>, std::uint32_t> index_of_;
  std::unordered_map<NodeId, std::uint32_t> index_of_id_;
  std::vector<Flight> flights_;
  std::vector<std::uint32_t> free_flights_;
  std::vector<FaultWindow> crashes_;
  bool faults_scheduled_ = false;
  std::size_t unfinished_ = 0;      // Processes that have not ended, or will come back.
  Outbox outbox_;                   // This and ...
  std::vector<std::byte> scratch_;  // ... this are kept for their memory.
  std::uint64_t inputs_at_now_ = 0;
  Status failure_;
  SimCounts counts_;
  slackline::Digest inputs_digest_;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_RUNTIME_SIM_RUNTIME_H_
