#include "core/runtime/zmq_runtime.h"

#include <algorithm>

#include "core/base/strings.h"
#include "core/runtime/message_size.h"

namespace slackline {
namespace {
// Messages handled between two looks at timers and jobs.
constexpr std::size_t kMessagesAtOnce = 256;
constexpr Duration kIdleMax = 1s;
// How long what is held back may keep a process that has ended.
constexpr Duration kLingerMax = 2s;
}  // namespace

Result<std::unique_ptr<ZmqRuntime>> ZmqRuntime::Create(ZmqRuntimeOptions options) {
  SLACKLINE_ASSIGN_OR_RETURN(
      const RegionLinks links,
      RegionLinks::Create(options.links, options.cluster.regions, options.own_model_bytes));
  auto made = ZmqTransport::Create({.self = options.self,
                                    .run_id = options.run_id,
                                    .listen = options.listen,
                                    .network = options.network});
  if (!made.ok()) return made.status();
  return std::unique_ptr<ZmqRuntime>(new ZmqRuntime(std::move(options), links, std::move(*made)));
}

ZmqRuntime::ZmqRuntime(ZmqRuntimeOptions options, const RegionLinks& links,
                       std::unique_ptr<ZmqTransport> transport)
    : options_(std::move(options)),
      transport_(std::move(transport)),
      shaper_(links, options_.cluster.seed) {
  transport_->OnRefused([this](const Status& status) { NoteRefused(status); });
}

Status ZmqRuntime::Run(Node& node) {
  node_ = &node;
  Deliver({.kind = Input::Kind::kStart});
  while (!exited_) {
    if (const int interrupts = interrupts_.load(std::memory_order_relaxed);
        interrupts > interrupts_seen_) {
      if (interrupts > 1) {
        exit_status_ = Unavailable("interrupted twice: ended at once");
        break;
      }
      interrupts_seen_ = interrupts;
      Deliver({.kind = Input::Kind::kInterrupt});
      continue;
    }
    if (pool_ != nullptr) TakeFinishedJobs();
    SendDue();
    bool busy = DeliverDue();
    if (exited_) break;
    busy |= transport_->Receive(kMessagesAtOnce, [this](NodeId from, Received received) {
      if (exited_) return;
      Deliver({.kind = Input::Kind::kMessage,
               .from = from,
               .sender = received.envelope.sender,
               .number = received.envelope.number,
               .message = &received.message});
    }) > 0;
    if (!busy) transport_->Wait(UntilNextDue());
  }
  SendAllHeld();
  pool_.reset();  // Joins: no job sees the Node's things after this.
  if (options_.observer != nullptr && exited_)
    options_.observer->OnEnd(clock_.Now(), node.StateDigest());
  return exit_status_;
}

void ZmqRuntime::Interrupt() {
  interrupts_.fetch_add(1, std::memory_order_relaxed);
  transport_->Wake();
}

void ZmqRuntime::Deliver(const Input& input) {
  DeliverOne(input);
  // A server's applies come before anything else that waits, and so do those that they lead to.
  while (!inline_jobs_.empty() && !exited_) {
    Job job = std::move(inline_jobs_.front());
    inline_jobs_.pop_front();
    job.run();
    job.run = nullptr;  // What it held is free again when the Node hears of it.
    DeliverOne({.kind = Input::Kind::kJob, .id = static_cast<std::uint64_t>(job.id)});
  }
}

void ZmqRuntime::DeliverOne(const Input& input) {
  const Time now = clock_.Now();
  switch (input.kind) {
    case Input::Kind::kStart:
      node_->OnStart(now, outbox_);
      break;
    case Input::Kind::kMessage:
      node_->OnMessage(now, input.from, *input.message, outbox_);
      break;
    case Input::Kind::kTimer:
      node_->OnTimer(now, TimerId{input.id}, outbox_);
      break;
    case Input::Kind::kJob:
      node_->OnJobDone(now, JobId{input.id}, outbox_);
      break;
    case Input::Kind::kInterrupt:
      node_->OnInterrupt(now, outbox_);
      break;
  }
  if (options_.observer != nullptr) options_.observer->OnInput(now, input, outbox_);
  CarryOut();
}

void ZmqRuntime::CarryOut() {
  for (const Outbox::Connect& connect : outbox_.connects) {
    const Status status = transport_->Connect(connect.node, connect.address);
    if (status.ok()) continue;
    // The scheduler's address is the user's word; any other came from a peer and ends nobody.
    if (connect.node == kSchedulerNode) {
      outbox_.Exit(status);
    } else {
      outbox_.Warn(status.message());
    }
  }
  CarryOutPlaces();
  for (Outbox::Send& send : outbox_.sends) Transmit(std::move(send));
  for (const Outbox::Timer& timer : outbox_.timers) {
    const std::uint64_t id = static_cast<std::uint64_t>(timer.id);
    timers_[id] = next_order_;
    due_.push({timer.at, next_order_++, Input::Kind::kTimer, id});
  }
  for (Job& job : outbox_.jobs) {
    if (job.kind == Job::Kind::kApply) {
      inline_jobs_.push_back(std::move(job));
      continue;
    }
    if (pool_ == nullptr) {
      pool_ =
          std::make_unique<JobPool>(options_.job_threads, clock_, [this] { transport_->Wake(); });
    }
    pool_->Submit(std::move(job));
  }
  if (options_.on_report) {
    for (const Report& report : outbox_.reports) options_.on_report(report);
  }
  if (options_.on_note) {
    for (const Outbox::Note& note : outbox_.notes) options_.on_note(note);
  }
  if (outbox_.exit) {
    exited_ = true;
    exit_status_ = outbox_.exit_status;
  }
  outbox_.Clear();
}

void ZmqRuntime::CarryOutPlaces() {
  bool known = true;
  if (outbox_.located_at.has_value()) known &= shaper_.LocateSelf(*outbox_.located_at);
  for (const Outbox::Connect& connect : outbox_.connects) {
    if (connect.region.has_value()) known &= shaper_.Locate(connect.node, *connect.region);
  }
  for (const Outbox::Located& located : outbox_.located)
    known &= shaper_.Locate(located.node, located.region);
  if (known) return;
  outbox_.Warn(StrCat("somebody is in a region that --regions ", options_.cluster.regions,
                      " does not have; messages between us are not held back"));
}

void ZmqRuntime::Transmit(Outbox::Send send) {
  const std::uint64_t number = ++messages_sent_;
  if (!shaper_.Shapes(send.to)) {
    transport_->Send(send.to, send.message, number);
    return;
  }
  const std::uint64_t header_bytes = HeaderBytes(send.message, scratch_);
  const Time due = shaper_.DueAt(clock_.Now(), send.to, send.message.payload.size(), header_bytes);
  held_.Hold(due, {send.to, std::move(send.message), number});
}

void ZmqRuntime::SendDue() {
  const Time now = clock_.Now();
  while (const std::optional<HeldMessages::Held> held = held_.TakeDue(now))
    transport_->Send(held->to, held->message, held->number);
}

void ZmqRuntime::SendAllHeld() {
  const Time until = clock_.Now() + kLingerMax;
  for (Time now = clock_.Now(); !held_.empty() && now < until; now = clock_.Now()) {
    if (interrupts_.load(std::memory_order_relaxed) > 1) break;
    transport_->Wait(std::clamp<Duration>(held_.next_due() - now, Duration{}, until - now));
    // Nobody is there any more to hear what comes in; left lying, it would keep Wait awake.
    (void)transport_->Receive(kMessagesAtOnce, [](NodeId, const Received&) {});
    SendDue();
  }
  while (const std::optional<HeldMessages::Held> held = held_.TakeDue(Time::max()))
    transport_->Send(held->to, held->message, held->number);
}

void ZmqRuntime::TakeFinishedJobs() {
  while (std::optional<JobPool::Done> done = pool_->TakeDone()) {
    const Duration due_after = done->job.kind == Job::Kind::kCompute
                                   ? options_.time_model.DueAfter(done->job, done->measured)
                                   : done->measured;
    due_.push({done->started + due_after, next_order_++, Input::Kind::kJob,
               static_cast<std::uint64_t>(done->job.id)});
  }
}

bool ZmqRuntime::DeliverDue() {
  bool any = false;
  // What becomes due while these are delivered waits for the next look.
  const Time now = clock_.Now();
  while (!exited_ && !due_.empty() && due_.top().at <= now) {
    const Due due = due_.top();
    due_.pop();
    if (due.kind == Input::Kind::kTimer) {
      const auto timer = timers_.find(due.id);
      if (timer == timers_.end() || timer->second != due.order) continue;  // It was moved.
      timers_.erase(timer);
    }
    Deliver({.kind = due.kind, .id = due.id});
    any = true;
  }
  return any;
}

Duration ZmqRuntime::UntilNextDue() const {
  Time next = Time::max();
  if (!due_.empty()) next = due_.top().at;
  if (!held_.empty()) next = std::min(next, held_.next_due());
  if (next == Time::max()) return kIdleMax;
  return std::clamp<Duration>(next - clock_.Now(), Duration{}, kIdleMax);
}

void ZmqRuntime::NoteRefused(const Status& status) {
  const Time now = clock_.Now();
  if (!options_.on_note || now < next_refusal_note_) return;
  next_refusal_note_ = now + 1s;
  options_.on_note(
      {Outbox::Note::Level::kWarning, StrCat("refused a message: ", status.message(), " (",
                                             transport_->counts().refused, " so far)")});
}

}  // namespace slackline
