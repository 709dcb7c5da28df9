#include "core/runtime/sim_runtime.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/check.h"
#include "core/base/strings.h"
#include "core/runtime/event_log.h"
#include "core/runtime/message_size.h"
#include "core/wire/codec.h"
#include "slackline/random.h"

namespace slackline {
namespace {

// Orders of ordinary events have this bit; events that are next of all do not.
constexpr std::uint64_t kOrdinary = std::uint64_t{1} << 63;

std::string ProcessName(Role role, std::uint32_t rank) {
  return role == Role::kScheduler ? RoleName(role) : StrCat(RoleName(role), rank);
}

}  // namespace

Result<std::unique_ptr<SimRuntime>> SimRuntime::Create(SimRuntimeOptions options) {
  constexpr double kSecondsMax = 1e9;
  if (!(options.sim.deadline_s > 0 && options.sim.deadline_s <= kSecondsMax)) {
    return InvalidArgument(StrCat("a virtual deadline of ", options.sim.deadline_s,
                                  " s is not in (0, ", kSecondsMax, "]"));
  }
  if (!(options.sim.apply_ms >= 0 && options.sim.apply_ms <= kSecondsMax * 1e3)) {
    return InvalidArgument(StrCat("an apply time of ", options.sim.apply_ms, " ms is not in [0, ",
                                  kSecondsMax * 1e3, "]"));
  }
  SLACKLINE_ASSIGN_OR_RETURN(SimNetwork network, SimNetwork::Create(options.sim, options.seed));
  std::vector<FaultWindow> crashes;
  for (const std::string& text : options.sim.crash) {
    SLACKLINE_ASSIGN_OR_RETURN(const FaultWindow window, ParseFaultWindow(text));
    crashes.push_back(window);
  }
  std::unique_ptr<SimRuntime> runtime(new SimRuntime(std::move(options), std::move(network)));
  runtime->crashes_ = std::move(crashes);
  SLACKLINE_RETURN_IF_ERROR(runtime->UseRegionLinks());
  return runtime;
}

SimRuntime::SimRuntime(SimRuntimeOptions options, SimNetwork network)
    : options_(std::move(options)),
      run_number_(RunNumber(options_.run_id)),
      deadline_(FromSeconds(options_.sim.deadline_s)),
      apply_time_(FromSeconds(options_.sim.apply_ms * 1e-3)),
      network_(std::move(network)) {}

Status SimRuntime::UseRegionLinks() {
  const LinkOptions& links = options_.links;
  SLACKLINE_ASSIGN_OR_RETURN(
      RegionLinks region_links,
      RegionLinks::Create(links, options_.cluster.regions, options_.own_model_bytes));
  const bool exist = region_links.exist();
  if (exist) {
    region_sites_.emplace(std::move(region_links), Topology(options_.cluster));
    region_sites_->Prepare(network_);
  }
  if (options_.sim.collective != "ring") return Status::Ok();
  const std::uint64_t bytes = links.model_bytes > 0 ? links.model_bytes : options_.own_model_bytes;
  if (!exist || bytes == 0) {
    return InvalidArgument(
        "--collective ring needs --region-gbps, the links that it runs over, and a model's size; "
        "set --model-bytes");
  }
  network_.SetInstant(Role::kWorker, Role::kServer);
  apply_time_ = region_sites_->RingTime(bytes);
  return Status::Ok();
}

// --- Processes ---

NodeId SimRuntime::AddNode(Role role, std::uint32_t rank, MakeNode make, Time start) {
  const auto index = static_cast<std::uint32_t>(processes_.size());
  const bool is_new = index_of_.emplace(std::pair(role, rank), index).second;
  SLACKLINE_CHECK(is_new);
  Process process;
  process.role = role;
  process.rank = rank;
  process.make = std::move(make);
  process.endpoint = network_.AddEndpoint(role, rank);
  process.self = IdOfLife(process);
  if (region_sites_.has_value()) region_sites_->Place(network_, process.endpoint, role, rank);
  processes_.push_back(std::move(process));
  index_of_id_[processes_[index].self] = index;
  ++unfinished_;
  Schedule(std::max(start, now_), Event::Kind::kStart, index, 0);
  return processes_[index].self;
}

NodeId SimRuntime::IdOfLife(const Process& process) const {
  if (process.role == Role::kScheduler) return kSchedulerNode;
  const std::uint64_t name =
      std::uint64_t{static_cast<std::uint8_t>(process.role)} << 32 | process.rank;
  const RandomStream stream(options_.seed, RandomPurpose::kIncarnation, name);
  const std::uint64_t bits = stream.Bits(process.life);
  return NodeId{std::max(bits, static_cast<std::uint64_t>(kSchedulerNode) + 1)};
}

std::uint32_t SimRuntime::IndexOf(Role role, std::uint32_t rank) const {
  const auto found = index_of_.find({role, rank});
  SLACKLINE_CHECK(found != index_of_.end());
  return found->second;
}

void SimRuntime::BeginLife(std::uint32_t index) {
  Process& process = processes_[index];
  process.state = Process::State::kAlive;
  process.messages_sent = 0;
  process.node = process.make(process.self);
  index_of_id_[process.self] = index;
  if (make_observer_) {
    process.observer = make_observer_(process.role, process.rank, process.self, process.life);
  }
  Deliver(index, Input{});
}

// After an exit: the last input has been carried out.
void SimRuntime::EndLife(std::uint32_t index) {
  Process& process = processes_[index];
  process.state = Process::State::kExited;
  process.exit_status = outbox_.exit_status;
  process.final_digest = process.node->StateDigest();
  void_events_ += process.timers.size();
  process.timers.clear();
  process.waits.clear();
  if (process.observer != nullptr) process.observer->OnEnd(now_, process.final_digest);
  process.observer.reset();
  --unfinished_;
}

void SimRuntime::Crash(Role role, std::uint32_t rank) {
  Process& process = processes_[IndexOf(role, rank)];
  if (process.state != Process::State::kAlive) return;
  process.state = Process::State::kCrashed;
  ++process.life;  // Whatever was meant for the old life is void.
  process.self = IdOfLife(process);
  process.node.reset();
  process.observer.reset();
  void_events_ += process.timers.size();
  process.timers.clear();
  process.waits.clear();
  --unfinished_;
}

void SimRuntime::Restart(Role role, std::uint32_t rank) {
  const std::uint32_t index = IndexOf(role, rank);
  if (processes_[index].state != Process::State::kCrashed) return;
  ++unfinished_;
  BeginLife(index);
}

void SimRuntime::Interrupt(Role role, std::uint32_t rank) {
  Schedule(now_, Event::Kind::kInterrupt, IndexOf(role, rank), 0, /*at_once=*/true);
}

// --- Events ---

void SimRuntime::Schedule(Time at, Event::Kind kind, std::uint32_t process, std::uint64_t what,
                          bool at_once) {
  const std::uint64_t order = next_order_++ | (at_once ? 0 : kOrdinary);
  heap_.push_back({at, order, what, process, processes_[process].life, kind});
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

Status SimRuntime::ScheduleFaults() {
  if (faults_scheduled_) return Status::Ok();
  faults_scheduled_ = true;
  std::vector<FaultWindow> named = crashes_;
  named.insert(named.end(), network_.partitions().begin(), network_.partitions().end());
  for (const FaultWindow& window : named) {
    if (!index_of_.contains({window.role, window.rank})) {
      return InvalidArgument(StrCat("a crash or partition names ",
                                    ProcessName(window.role, window.rank),
                                    ", which does not take part"));
    }
  }
  for (std::size_t i = 0; i < crashes_.size(); ++i) {
    const FaultWindow& window = crashes_[i];
    Schedule(std::max(window.from, now_), Event::Kind::kCrash, IndexOf(window.role, window.rank),
             i);
  }
  return Status::Ok();
}

Status SimRuntime::Run() {
  SLACKLINE_RETURN_IF_ERROR(ScheduleFaults());
  while (unfinished_ > 0) {
    if (heap_.empty()) return Unfinished("nothing is left to happen");
    if (heap_.front().time > deadline_) {
      now_ = deadline_;
      return Unfinished("this is the virtual deadline");
    }
    Step();
    SLACKLINE_RETURN_IF_ERROR(failure_);
  }
  return Status::Ok();
}

Status SimRuntime::RunUntil(Time until) {
  SLACKLINE_RETURN_IF_ERROR(ScheduleFaults());
  while (!heap_.empty() && heap_.front().time <= until) {
    Step();
    SLACKLINE_RETURN_IF_ERROR(failure_);
  }
  now_ = std::max(now_, until);
  return Status::Ok();
}

bool SimRuntime::Step() {
  if (heap_.empty()) return false;
  std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
  const Event event = heap_.back();
  heap_.pop_back();
  if (Void(event)) {
    if (event.kind == Event::Kind::kTimer) --void_events_;
    if (event.kind == Event::Kind::kMessage) {
      free_flights_.push_back(static_cast<std::uint32_t>(event.what));
      flights_[event.what].message = Message();
      ++counts_.undeliverable;
    }
    return true;
  }
  inputs_at_now_ = event.time == now_ ? inputs_at_now_ + 1 : 0;
  if (inputs_at_now_ > options_.inputs_at_one_time_max) {
    failure_ = ResourceExhausted(
        StrCat("virtual time stands still at ", Seconds(now_), " s: ", inputs_at_now_,
               " inputs; the last is one of ",
               ProcessName(processes_[event.process].role, processes_[event.process].rank),
               ". Give links a latency or work a duration"));
  }
  now_ = event.time;
  Handle(event);
  return true;
}

// True for what was meant for a life that has ended and for timers that were moved.
bool SimRuntime::Void(const Event& event) const {
  const Process& process = processes_[event.process];
  switch (event.kind) {
    case Event::Kind::kCrash:
    case Event::Kind::kRestart:
      return false;
    case Event::Kind::kStart:
      return process.state != Process::State::kWaiting;
    default:
      break;
  }
  if (process.state != Process::State::kAlive || process.life != event.life) return true;
  if (event.kind != Event::Kind::kTimer) return false;
  const auto timer = process.timers.find(event.what);
  return timer == process.timers.end() || timer->second != event.order;
}

void SimRuntime::Handle(const Event& event) {
  Process& process = processes_[event.process];
  Input input;
  switch (event.kind) {
    case Event::Kind::kStart:
      BeginLife(event.process);
      return;
    case Event::Kind::kCrash: {
      const FaultWindow& window = crashes_[event.what];
      if (process.state != Process::State::kAlive) return;
      Crash(window.role, window.rank);
      if (window.to == kNever) return;
      ++unfinished_;  // It will come back; kRestart takes this back.
      Schedule(window.to, Event::Kind::kRestart, event.process, 0);
      return;
    }
    case Event::Kind::kRestart:
      --unfinished_;
      Restart(process.role, process.rank);
      return;
    case Event::Kind::kMessage: {
      const Flight flight = std::move(flights_[event.what]);
      free_flights_.push_back(static_cast<std::uint32_t>(event.what));
      ++counts_.delivered;
      input.kind = Input::Kind::kMessage;
      input.from = flight.from;
      input.sender = flight.from;
      input.number = flight.number;
      input.message = &flight.message;
      Deliver(event.process, input);
      return;
    }
    case Event::Kind::kTimer:
      process.timers.erase(event.what);
      input.kind = Input::Kind::kTimer;
      input.id = event.what;
      break;
    case Event::Kind::kJobDone:
      input.kind = Input::Kind::kJob;
      input.id = event.what;
      break;
    case Event::Kind::kInterrupt:
      input.kind = Input::Kind::kInterrupt;
      break;
  }
  Deliver(event.process, input);
}

void SimRuntime::Deliver(std::uint32_t index, const Input& input) {
  Process& process = processes_[index];
  ++counts_.inputs;
  inputs_digest_.Add(static_cast<std::uint64_t>(now_.count()));
  inputs_digest_.Add(std::uint64_t{static_cast<std::uint8_t>(input.kind)} << 56 |
                     std::uint64_t{static_cast<std::uint8_t>(process.role)} << 32 | process.rank);
  inputs_digest_.Add(static_cast<std::uint64_t>(input.from));
  inputs_digest_.Add(input.number);
  inputs_digest_.Add(input.message == nullptr ? input.id : DigestOf(*input.message));

  outbox_.Clear();
  Node& node = *process.node;
  switch (input.kind) {
    case Input::Kind::kStart:
      node.OnStart(now_, outbox_);
      break;
    case Input::Kind::kMessage:
      node.OnMessage(now_, input.from, *input.message, outbox_);
      break;
    case Input::Kind::kTimer:
      node.OnTimer(now_, TimerId{input.id}, outbox_);
      break;
    case Input::Kind::kJob:
      node.OnJobDone(now_, JobId{input.id}, outbox_);
      break;
    case Input::Kind::kInterrupt:
      node.OnInterrupt(now_, outbox_);
      break;
  }
  if (process.observer != nullptr) process.observer->OnInput(now_, input, outbox_);
  CarryOut(index);
}

// --- Effects ---

void SimRuntime::CarryOut(std::uint32_t index) {
  for (Outbox::Send& send : outbox_.sends) Transmit(index, std::move(send));
  for (const Outbox::Timer& timer : outbox_.timers) SetTimer(index, timer);
  for (const Job& job : outbox_.jobs) StartJob(index, job);
  const Process& process = processes_[index];
  if (options_.on_report) {
    for (const Report& report : outbox_.reports) {
      options_.on_report(process.role, process.rank, report);
    }
  }
  if (options_.on_note) {
    for (const Outbox::Note& note : outbox_.notes) {
      options_.on_note(now_, process.role, process.rank, note);
    }
  }
  if (outbox_.exit) EndLife(index);
}

void SimRuntime::Transmit(std::uint32_t index, Outbox::Send send) {
  Process& sender = processes_[index];
  Flight flight{std::move(send.message), sender.self, ++sender.messages_sent};
  if (const auto* heartbeat = std::get_if<Heartbeat>(&flight.message.body)) {
    sender.waits = heartbeat->statistics.waits;
  }
  const auto found = index_of_id_.find(send.to);
  if (found == index_of_id_.end()) {
    ++counts_.undeliverable;
    return;
  }
  const std::uint64_t payload_bytes = flight.message.payload.size();
  std::uint64_t header_bytes = 0;
  if (options_.sim.encode && !flight.message.payload.timing_only()) {
    const Frames frames = Encode({run_number_, sender.self, flight.number, 0}, flight.message);
    header_bytes = frames.first.size() + frames.payload.size() - payload_bytes;
    Result<Received> received = Decode(run_number_, frames.first, frames.payload);
    if (!received.ok()) {
      failure_ = Internal(StrCat(ProcessName(sender.role, sender.rank),
                                 " sent what no peer accepts: ", received.status().message()));
      return;
    }
    flight.message = std::move(received->message);
  } else {
    header_bytes = HeaderBytes(flight.message, scratch_);
  }
  const Process& receiver = processes_[found->second];
  const SimNetwork::Arrivals arrivals =
      network_.Send(now_, sender.endpoint, receiver.endpoint, payload_bytes, header_bytes);
  // To an old life of a process: it crosses the network, and finds nobody.
  if (receiver.self != send.to) {
    counts_.undeliverable += arrivals.size();
    return;
  }
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    const bool last = i + 1 == arrivals.size();
    const std::uint64_t slot = StoreFlight(last ? std::move(flight) : flight);
    Schedule(arrivals.begin()[i], Event::Kind::kMessage, found->second, slot);
  }
}

std::uint64_t SimRuntime::StoreFlight(Flight flight) {
  if (free_flights_.empty()) {
    flights_.push_back(std::move(flight));
    return flights_.size() - 1;
  }
  const std::uint32_t slot = free_flights_.back();
  free_flights_.pop_back();
  flights_[slot] = std::move(flight);
  return slot;
}

void SimRuntime::SetTimer(std::uint32_t index, const Outbox::Timer& timer) {
  const auto id = static_cast<std::uint64_t>(timer.id);
  auto& timers = processes_[index].timers;
  if (!timers.emplace(id, next_order_ | kOrdinary).second) {
    timers[id] = next_order_ | kOrdinary;
    ++void_events_;
  }
  Schedule(std::max(timer.at, now_), Event::Kind::kTimer, index, id);
  DropVoidEvents();
}

// Rebuilds the heap once most of it is void, so that a timer moved at every message costs constant
// memory. The order of what stays is given by its keys and does not change.
void SimRuntime::DropVoidEvents() {
  constexpr std::size_t kWorthIt = 1024;
  if (void_events_ < kWorthIt || void_events_ * 2 < heap_.size()) return;
  std::erase_if(
      heap_, [&](const Event& event) { return event.kind == Event::Kind::kTimer && Void(event); });
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  void_events_ = 0;
}

void SimRuntime::StartJob(std::uint32_t index, const Job& job) {
  if (job.run) job.run();
  const Duration duration = DurationOf(job);
  Schedule(now_ + duration, Event::Kind::kJobDone, index, static_cast<std::uint64_t>(job.id),
           /*at_once=*/duration == 0ns);
}

Duration SimRuntime::DurationOf(const Job& job) const {
  switch (job.kind) {
    case Job::Kind::kApply:
      return apply_time_;
    case Job::Kind::kEvaluate:
      return options_.evaluate_time;
    case Job::Kind::kCompute:
      break;
  }
  constexpr double kSecondsPerStep = 0.01;
  const std::optional<Duration> asked = options_.time_model.ComputeTime(job);
  if (asked.has_value()) return *asked;
  return FromSeconds(kSecondsPerStep * job.work * options_.time_model.SlowFactor(job.rank));
}

// --- What is asked of it ---

Status SimRuntime::Unfinished(const std::string& why) const {
  constexpr std::size_t kNamedMax = 10;
  std::vector<std::string> names;
  std::size_t unnamed = 0;
  for (const auto& [key, index] : index_of_) {
    const Process& process = processes_[index];
    if (process.state == Process::State::kExited || process.state == Process::State::kCrashed) {
      continue;
    }
    if (names.size() == kNamedMax) {
      ++unnamed;
      continue;
    }
    std::string name = ProcessName(process.role, process.rank);
    for (const Wait& wait : process.waits) {
      name += StrCat(" (waits for ", wait.what, ": ", wait.missing, ")");
    }
    names.push_back(std::move(name));
  }
  if (unnamed > 0) names.push_back(StrCat("and ", unnamed, " more"));
  return DeadlineExceeded(
      StrCat("at ", Seconds(now_), " s virtual, ", why, "; not exited: ", StrJoin(names)));
}

Node* SimRuntime::FindNode(Role role, std::uint32_t rank) {
  return processes_[IndexOf(role, rank)].node.get();
}

bool SimRuntime::Exited(Role role, std::uint32_t rank) const {
  return processes_[IndexOf(role, rank)].state == Process::State::kExited;
}

Status SimRuntime::ExitStatus(Role role, std::uint32_t rank) const {
  return processes_[IndexOf(role, rank)].exit_status;
}

SimNetwork::Endpoint SimRuntime::EndpointOf(Role role, std::uint32_t rank) const {
  return processes_[IndexOf(role, rank)].endpoint;
}

std::uint64_t SimRuntime::Digest() const {
  slackline::Digest digest = inputs_digest_;
  for (const Process& process : processes_) {
    const bool alive = process.state == Process::State::kAlive;
    digest.Add(alive ? process.node->StateDigest() : process.final_digest);
  }
  return digest.value();
}

}  // namespace slackline
