#include "worker/worker_node.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"
#include "core/base/strings.h"
#include "core/config/agreement.h"
#include "core/policy/decision_scope.h"
#include "core/policy/topology.h"
#include "core/policy/work_plan.h"
#include "kernels/clip.h"
#include "kernels/ops.h"

namespace slackline {
namespace {
constexpr double kLossWindow = 16;  // Rounds of the moving average that is reported.
}  // namespace

std::uint64_t RoundsOf(const Options& options, const Dataset& train) {
  if (options.cluster.samples > 0) return std::uint64_t{1} << 40;
  if (options.cluster.rounds > 0) return options.cluster.rounds;
  const double samples = options.cluster.epochs * static_cast<double>(train.examples);
  const double a_round = static_cast<double>(SamplesPlanned(options, 1));
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(samples / a_round)));
}

WorkerNode::WorkerNode(NodeId, const Options& options, std::shared_ptr<const Model> model,
                       std::shared_ptr<const Dataset> train)
    : options_(options),
      model_(std::move(model)),
      train_(std::move(train)),
      rounds_(RoundsOf(options, *train_)),
      member_(options.network,
              Hello{.role = Role::kWorker,
                    .preferred_rank = options.network.rank,
                    .address = {},
                    .agreement = Agreement(options),
                    .parameters = model_->spec(),
                    .rounds = rounds_,
                    .region = options.network.region},
              [this](Time now) { return CurrentStatistics(now); }) {}

// --- Inputs ---

void WorkerNode::OnStart(Time now, Outbox& out) { member_.Start(now, out); }

void WorkerNode::OnMessage(Time now, NodeId from, const Message& message, Outbox& out) {
  if (from == kSchedulerNode) {
    if (member_.OnMessage(now, from, message, out) == Member::Event::kRoster &&
        !session_.has_value() && member_.roster().phase == Phase::kRunning) {
      BeginTraining(now, out);
    }
    return;
  }
  if (!session_.has_value()) return;
  std::vector<SessionEvent> events;
  session_->OnMessage(now, from, message, out, events);
  Carry(now, std::move(events), out);
}

void WorkerNode::OnTimer(Time now, TimerId timer, Outbox& out) {
  if (timer == kMemberTimer) return member_.OnTimer(now, out);
  if (session_.has_value()) session_->OnTimer(now, out);
}

void WorkerNode::OnInterrupt(Time now, Outbox& out) {
  member_.Leave(now, Unavailable("interrupted: this worker was asked to end"), out);
}

void WorkerNode::BeginTraining(Time now, Outbox& out) {
  const Roster& roster = member_.roster();
  const Topology topology(options_.cluster);
  if (roster.servers.size() != topology.servers() || member_.rank() >= topology.workers()) {
    return member_.Leave(now,
                         DataLoss(StrCat("the roster names ", roster.servers.size(),
                                         " servers; expected ", topology.servers())),
                         out);
  }
  local_steps_ = LocalStepsOf(options_, member_.rank());
  samples_of_round_ = SamplesOfRound(options_, member_.rank());
  if (train_->examples > 0) {
    order_.emplace(options_.cluster.seed, train_->examples, member_.rank(),
                   options_.cluster.workers);
  }
  const Tier tier = topology.TierOfWorker(member_.rank());
  const auto first = roster.servers.begin() + tier.first_server;
  const std::vector<ServerEntry> servers(first, first + tier.servers);
  session_.emplace(Session::Settings{.rank = member_.rank(),
                                     .retry = member_.timeouts().transfer_retry,
                                     .chunk_elements = std::max<std::uint64_t>(
                                         1, options_.cluster.segment_bytes / sizeof(float)),
                                     .max_inflight_pushes = options_.cluster.max_inflight_pushes,
                                     .one_version = DecidesByTier(options_),
                                     .timing_only = !options_.model.materialize},
                   model_->spec(), servers);
  out.located_at = topology.RegionOf(Role::kWorker, member_.rank());
  for (const ServerEntry& server : servers) {
    out.connects.push_back(
        {server.node, server.address, topology.RegionOf(Role::kServer, server.rank)});
  }
  if (options_.recipe.step == "local" && options_.model.materialize) {
    auto optimizer =
        LocalOptimizer::Create(options_.recipe, SamplesPlanned(options_, roster.rounds), model_);
    if (!optimizer.ok()) return member_.Leave(now, optimizer.status(), out);
    optimizer_ = std::move(optimizer).value();
  }
  session_->Open(now, out);
}

void WorkerNode::Carry(Time now, std::vector<SessionEvent> events, Outbox& out) {
  for (SessionEvent& event : events) {
    if (const auto* opened = std::get_if<SessionOpenedEvent>(&event)) {
      opened_ = true;
      next_pull_ = opened->next_seq;
      statistics_.rounds = opened->next_seq;
    } else if (const auto* done = std::get_if<PushDoneEvent>(&event)) {
      out.traces.push_back({.kind = TraceEvent::Kind::kPushDone,
                            .rank = member_.rank(),
                            .seq = done->seq,
                            .value = static_cast<std::uint64_t>(done->outcome)});
      ++statistics_.rounds;
      switch (done->outcome) {
        case PushOutcome::kApplied:
          ++statistics_.pushes_applied;
          statistics_.samples += samples_of_round_;
          break;
        case PushOutcome::kDiscarded:
          ++statistics_.pushes_discarded;
          break;
        case PushOutcome::kRejected:
          ++statistics_.pushes_rejected;
          break;
      }
    } else if (auto* pulled = std::get_if<PullDoneEvent>(&event)) {
      statistics_.gate_wait_ns +=
          static_cast<std::uint64_t>((now - (round_.has_value() ? now : pull_started_)).count());
      if (pulled->content.last) {
        budget_used_ = true;
      } else {
        ready_ = std::move(pulled->content);
      }
    } else if (std::holds_alternative<SessionClosedEvent>(event)) {
      member_.SetState(now, MemberState::kFinished, out);
    } else if (const auto* fenced = std::get_if<SessionFencedEvent>(&event)) {
      return member_.Leave(now, fenced->status, out);
    }
  }
  GoOn(now, out);
}

// --- A round ---

void WorkerNode::GoOn(Time now, Outbox& out) {
  if (!opened_ || closing_) return;
  if (round_.has_value() && round_->computed && session_->CanPush()) PushRound(now, out);
  if (!round_.has_value() && ready_.has_value()) {
    PullContent parameters = std::move(*ready_);
    ready_.reset();
    Compute(now, std::move(parameters), out);
  }
  // Without prefetch the next read waits for this round's push; with it, it overlaps computing.
  const bool may_ask = options_.cluster.prefetch || !round_.has_value();
  if (may_ask && !budget_used_ && next_pull_ < rounds_ && !session_->pulling() &&
      !ready_.has_value()) {
    AskForRound(now, next_pull_++, out);
  }
  if ((budget_used_ || next_pull_ == rounds_) && !round_.has_value() && !ready_.has_value() &&
      !session_->pulling() && session_->pushes_in_flight() == 0) {
    closing_ = true;
    session_->Close(now, out);
  }
}

void WorkerNode::AskForRound(Time now, std::uint64_t number, Outbox& out) {
  std::vector<Rows> rows;
  if (!model_->spec().tables.empty()) rows = model_->Keys(*train_, ExamplesOf(number, 0));
  pull_started_ = now;
  session_->StartPull(now, number, OwnFor(number), std::move(rows), out);
}

std::uint64_t WorkerNode::OwnFor(std::uint64_t round) const {
  const std::uint64_t ahead =
      options_.cluster.prefetch ? options_.cluster.max_inflight_pushes - 1 : 0;
  return round > ahead ? round - ahead : 0;
}

std::vector<std::uint64_t> WorkerNode::ExamplesOf(std::uint64_t round,
                                                  std::uint64_t data_begin) const {
  if (!order_.has_value()) return {};
  const auto samples = static_cast<std::uint32_t>(samples_of_round_);
  return options_.recipe.data_order == "global" ? order_->GlobalBatch(data_begin, samples)
                                                : order_->ShardBatch(round, samples);
}

void WorkerNode::Compute(Time now, PullContent parameters, Outbox& out) {
  out.traces.push_back(
      {.kind = TraceEvent::Kind::kRoundStarted,
       .rank = member_.rank(),
       .seq = parameters.round,
       .version = *std::min_element(parameters.versions.begin(), parameters.versions.end()),
       .value = parameters.data_begin});
  Round& round = round_.emplace();
  round.number = parameters.round;
  round.started = now;
  round.examples = ExamplesOf(parameters.round, parameters.data_begin);
  round.parameters = std::move(parameters);
  round.result = std::make_shared<Round::Result>();
  Job job{.id = JobId{round.number},
          .kind = Job::Kind::kCompute,
          .rank = member_.rank(),
          .index = round.number,
          .work = static_cast<double>(local_steps_),
          .run = [] {}};
  if (options_.model.materialize) {
    job.run = options_.recipe.step == "local" ? LocalStepsJob(round) : GradientJob(round);
  } else {
    round.result->gradient = Buffer::TimingOnly(model_->spec().dense_elements() * sizeof(float));
  }
  out.jobs.push_back(std::move(job));
}

std::function<void()> WorkerNode::GradientJob(const Round& round) const {
  return [model = model_, train = train_, recipe = options_.recipe, result = round.result,
          examples = round.examples, pulled = round.parameters] {
    const ParameterSpec& spec = model->spec();
    result->gradient = Buffer::Allocate(spec.dense_elements() * sizeof(float));
    Gradient gradient{result->gradient.mutable_floats(), {}};
    result->loss =
        model->ComputeGradient(*train, examples, {pulled.dense.floats(), pulled.rows}, gradient);
    ClipGradient(recipe.clip, static_cast<float>(recipe.clip_norm), spec, gradient.dense,
                 gradient.rows);
    result->finite = AllFinite(gradient.dense);
    for (const Rows& rows : gradient.rows)
      result->finite = result->finite && AllFinite(rows.values);
    result->rows = std::move(gradient.rows);
  };
}

std::function<void()> WorkerNode::LocalStepsJob(const Round& round) const {
  return [optimizer = optimizer_, train = train_, steps = local_steps_, result = round.result,
          examples = round.examples, begun = round.parameters.data_begin,
          start = round.parameters.dense] {
    LocalOptimizer::Outcome outcome =
        optimizer->Run(*train, examples, steps, start.floats(), begun);
    result->gradient = std::move(outcome.way_back);
    result->loss = outcome.loss;
    result->finite = AllFinite(result->gradient.floats());
  };
}

void WorkerNode::OnJobDone(Time now, JobId, Outbox& out) {
  SLACKLINE_CHECK(round_.has_value());
  round_->computed = true;
  statistics_.compute_ns += static_cast<std::uint64_t>((now - round_->started).count());
  const double loss = round_->result->loss;
  if (std::isfinite(loss)) {
    statistics_.loss = statistics_.pushes_sent == 0
                           ? loss
                           : statistics_.loss + (loss - statistics_.loss) / kLossWindow;
  }
  GoOn(now, out);
}

void WorkerNode::PushRound(Time now, Outbox& out) {
  Round::Result& result = *round_->result;
  PushContent push{.seq = round_->number,
                   .dense = {},
                   .rows = {},
                   .versions = round_->parameters.versions,
                   .samples = samples_of_round_,
                   .rejected = !result.finite};
  if (push.rejected) {
    out.Warn(StrCat("round ", round_->number, ": the gradient has a NaN or an infinity (loss ",
                    result.loss,
                    "); it is pushed as rejected and changes nothing. Lower --lr or set --clip"));
  } else {
    push.dense = std::move(result.gradient);
    push.rows = std::move(result.rows);
  }
  out.traces.push_back(
      {.kind = TraceEvent::Kind::kPushSent, .rank = member_.rank(), .seq = push.seq});
  ++statistics_.pushes_sent;
  const std::uint64_t next = round_->number + 1;
  round_.reset();
  if (options_.cluster.prefetch || next_pull_ != next || next == rounds_ ||
      !model_->spec().tables.empty()) {
    return session_->StartPush(now, std::move(push), out);
  }
  // The next read follows from this push: both in one message.
  pull_started_ = now;
  ++next_pull_;
  session_->StartPushAndPull(now, std::move(push), next, OwnFor(next), out);
}

// --- Reporting ---

Statistics WorkerNode::CurrentStatistics(Time now) const {
  Statistics statistics = statistics_;
  if (session_.has_value()) {
    statistics.bytes_pushed = session_->bytes_pushed();
    statistics.bytes_pulled = session_->bytes_pulled();
    statistics.pushes_retried = session_->retried();
    statistics.waits = session_->Waits(now);
  }
  return statistics;
}

std::uint64_t WorkerNode::StateDigest() const {
  Digest digest;
  member_.AddTo(digest);
  digest.Add(next_pull_);
  digest.Add(statistics_.rounds);
  digest.Add(round_.has_value() ? round_->number + 1 : 0);
  if (session_.has_value()) session_->AddTo(digest);
  return digest.value();
}

}  // namespace slackline
