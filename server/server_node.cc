#include "server/server_node.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/strings.h"
#include "core/config/agreement.h"
#include "core/policy/decision_scope.h"
#include "core/wire/header.h"

namespace slackline {
namespace {

constexpr TimerId kRetryTimer{3};
constexpr TimerId kSnapshotTimer{4};
constexpr Duration kSnapshotRetry = 5ms;

}  // namespace

ServerNode::ServerNode(NodeId, const Options& options, std::string address)
    : options_(options),
      member_(options.network,
              Hello{.role = Role::kServer,
                    .preferred_rank = options.network.rank,
                    .address = std::move(address),
                    .agreement = Agreement(options),
                    .parameters = {}},
              [this](Time now) { return CurrentStatistics(now); }) {}

// --- Inputs ---

void ServerNode::OnStart(Time now, Outbox& out) { member_.Start(now, out); }

void ServerNode::OnMessage(Time now, NodeId from, const Message& message, Outbox& out) {
  if (from == kSchedulerNode) {
    const Member::Event event = member_.OnMessage(now, from, message, out);
    if (event == Member::Event::kRoster && training_ == nullptr &&
        member_.roster().phase == Phase::kRunning) {
      BeginTraining(now, out);
    }
    return;
  }
  if (training_ == nullptr) return;  // Whoever is ahead of us asks again.
  if (const auto* push = std::get_if<Push>(&message.body)) {
    OnPush(from, *push, message.payload, now, out);
    if (push->pull_request == 0) return;
    return OnPull(from,
                  Pull{.request = push->pull_request,
                       .rank = push->rank,
                       .round = push->pull_round,
                       .own = push->pull_own},
                  now, out);
  }
  if (std::holds_alternative<Pull>(message.body)) return OnPull(from, message, now, out);
  if (const auto* open = std::get_if<SessionOpen>(&message.body))
    return OnOpen(from, *open, now, out);
  if (const auto* close = std::get_if<SessionClose>(&message.body))
    return OnClose(from, *close, now, out);
  if (const auto* staged = std::get_if<Staged>(&message.body)) {
    if (training_->stream != nullptr && staged->shard < training_->servers.size() &&
        training_->servers[staged->shard] == from) {
      return OnStaged(*staged, now, out);
    }
  } else if (const auto* decisions = std::get_if<Decisions>(&message.body)) {
    if (from == training_->servers[0]) return OnDecisions(from, *decisions, now, out);
  } else if (const auto* ack = std::get_if<DecisionsAck>(&message.body)) {
    if (training_->stream != nullptr) return training_->stream->OnAck(from, ack->next);
  }
  ++statistics_.frames_refused;
}

void ServerNode::OnTimer(Time now, TimerId timer, Outbox& out) {
  if (timer == kMemberTimer) return member_.OnTimer(now, out);
  if (training_ == nullptr) return;
  if (timer == kSnapshotTimer) return ServeDeferred(now, out);
  if (training_->stream != nullptr) training_->stream->OnTimer(now, out);
  if (training_->by_tier && training_->rank != 0) ReportStaged(out);
  out.SetTimer(kRetryTimer, now + member_.timeouts().transfer_retry);
}

void ServerNode::OnJobDone(Time now, JobId, Outbox& out) {
  FinishApply(out);
  ServeCuts(out);
  ServeDeferred(now, out);
  Execute(now, out);
}

void ServerNode::OnInterrupt(Time now, Outbox& out) {
  member_.Leave(now, Unavailable("interrupted: this server was asked to end"), out);
}

// --- The run begins ---

void ServerNode::BeginTraining(Time now, Outbox& out) {
  const Roster& roster = member_.roster();
  if (roster.servers.size() != options_.cluster.servers ||
      roster.workers != options_.cluster.workers) {
    return member_.Leave(
        now,
        DataLoss(StrCat("the roster names ", roster.servers.size(), " servers and ", roster.workers,
                        " workers; expected ", options_.cluster.servers, " and ",
                        options_.cluster.workers)),
        out);
  }
  training_ = std::make_unique<Training>(options_.cluster.workers);
  Training& t = *training_;
  t.rank = member_.rank();
  t.by_tier = DecidesByTier(options_.recipe);
  std::vector<NodeId> followers;
  for (const ServerEntry& server : roster.servers) {
    t.servers.push_back(server.node);
    if (server.rank == t.rank) continue;
    if (t.rank == 0) followers.push_back(server.node);
    // Both ends connect, so that neither's first word is lost for want of a way back.
    if (t.rank == 0 || server.rank == 0) out.connects.push_back({server.node, server.address});
  }
  const RecipeOptions& recipe = options_.recipe;
  auto rule = MakeRule(recipe.rule, {.momentum = static_cast<float>(recipe.momentum),
                                     .beta1 = static_cast<float>(recipe.beta1),
                                     .beta2 = static_cast<float>(recipe.beta2),
                                     .epsilon = static_cast<float>(recipe.epsilon),
                                     .weight_decay = static_cast<float>(recipe.weight_decay)});
  auto decider = Decider::Create(options_, roster.rounds, t.rank == 0);
  if (!rule.ok() || !decider.ok()) {
    return member_.Leave(now, rule.ok() ? decider.status() : rule.status(), out);
  }
  const bool timing_only = !options_.model.materialize;
  const ShardRange range = roster.servers[t.rank].range;
  t.shard = std::make_unique<Shard>(
      Shard::Settings{.range = range,
                      .seed = options_.cluster.seed,
                      .segment_elements = std::max<std::uint64_t>(
                          1, options_.cluster.segment_bytes / sizeof(float)),
                      .max_snapshots = options_.cluster.max_snapshots,
                      .timing_only = timing_only},
      roster.parameters, std::move(rule).value());
  std::vector<std::uint64_t> widths;
  for (const TableSpec& table : roster.parameters.tables) widths.push_back(table.width);
  const std::uint32_t window = options_.cluster.max_inflight_pushes;
  for (std::uint32_t w = 0; w < options_.cluster.workers; ++w) {
    t.workers.push_back(Worker{.stage = Stage(range.size(), widths, window, timing_only),
                               .outcomes = std::vector<PushOutcome>(window, PushOutcome::kApplied),
                               .read = {},
                               .grant = {},
                               .gathered = {}});
  }
  if (t.rank == 0)
    t.stream = std::make_unique<DecisionStream>(followers, member_.timeouts().transfer_retry);
  if (t.rank == 0 || !t.by_tier) t.decider = std::move(decider).value();
  out.SetTimer(kRetryTimer, now + member_.timeouts().transfer_retry);
  if (t.decider != nullptr) {
    Decider::Log log;
    t.decider->OnStart(log);
    Commit(std::move(log), now, out);
  }
}

// --- What workers ask ---

void ServerNode::OnOpen(NodeId from, const SessionOpen& message, Time now, Outbox& out) {
  Training& t = *training_;
  if (message.rank >= t.workers.size()) {
    return out.SendTo(
        from, Refused{StatusCode::kInvalidArgument, false,
                      StrCat("no worker ", message.rank, "; there are ", t.workers.size())});
  }
  const Worker& worker = t.workers[message.rank];
  if (worker.opened && worker.sender == from) {  // Our answer was lost.
    return out.SendTo(from, SessionOpened{message.rank, worker.next_seq, t.version});
  }
  if (t.decider == nullptr) return;  // The lead has been asked too; the answer follows its entry.
  Decider::Log log;
  t.decider->OnOpen(message.rank, from, log);
  Commit(std::move(log), now, out);
}

void ServerNode::OnClose(NodeId from, const SessionClose& message, Time now, Outbox& out) {
  Training& t = *training_;
  const Worker* worker = WorkerOf(from, message.rank, out);
  if (worker == nullptr) return;
  if (!t.clocks.IsActive(message.rank)) return out.SendTo(from, SessionClosed{message.rank});
  if (t.decider == nullptr) return;
  Decider::Log log;
  t.decider->OnClose(message.rank, log);
  Commit(std::move(log), now, out);
}

ServerNode::Worker* ServerNode::WorkerOf(NodeId from, std::uint32_t rank, Outbox& out) {
  Training& t = *training_;
  if (rank < t.workers.size() && t.workers[rank].opened && t.workers[rank].sender == from) {
    return &t.workers[rank];
  }
  ++statistics_.frames_refused;
  out.SendTo(from, Refused{StatusCode::kFailedPrecondition, false,
                           StrCat("worker ", rank,
                                  " has a newer life than the one that sent this; "
                                  "this process must end")});
  return nullptr;
}

void ServerNode::OnPush(NodeId from, const Push& push, const Buffer& payload, Time now,
                        Outbox& out) {
  Training& t = *training_;
  Worker* worker = WorkerOf(from, push.rank, out);
  if (worker == nullptr) return;
  const std::uint64_t decided = t.clocks.clock(push.rank);
  if (push.seq < decided) {
    if (push.chunk + 1 == push.chunks) {  // Once a repetition, not once a chunk.
      ++statistics_.slices_duplicate;
      out.traces.push_back({.kind = TraceEvent::Kind::kPushDuplicate,
                            .rank = push.rank,
                            .shard = t.rank,
                            .seq = push.seq});
      out.SendTo(from, PushAck{push.rank, push.seq,
                               worker->outcomes[push.seq % worker->outcomes.size()], t.version});
    }
    return;
  }
  const Result<bool> completed = worker->stage.Add(push, payload, decided);
  if (!completed.ok()) {
    ++statistics_.frames_refused;
    return out.SendTo(from,
                      Refused{completed.status().code(), false, completed.status().message()});
  }
  if (!*completed) return;
  const StagedPush staged{push.rank, from, push.seq, worker->stage.Find(push.seq)->rejected};
  if (t.decider == nullptr) {
    return out.SendTo(t.servers[0], Staged{.shard = t.rank, .pushes = {staged}});
  }
  Decider::Log log;
  NoteStaged(t.rank, staged, log);
  Commit(std::move(log), now, out);
}

void ServerNode::OnPull(NodeId from, const Message& message, Time now, Outbox& out) {
  Training& t = *training_;
  const auto& pull = std::get<Pull>(message.body);
  const auto refuse = [&](StatusCode code, std::string text) {
    ++statistics_.frames_refused;
    out.SendTo(from, Refused{code, false, std::move(text)});
  };
  if (pull.table != kDense) {
    if (pull.table >= t.shard->tables().size()) {
      return refuse(
          StatusCode::kInvalidArgument,
          StrCat("pull from table ", pull.table, "; the model has ", t.shard->tables().size()));
    }
    const std::uint64_t row_bytes = t.shard->tables()[pull.table].width() * sizeof(float);
    if (pull.count > kPayloadBytesMax / row_bytes) {
      return refuse(
          StatusCode::kResourceExhausted,
          StrCat("a pull of ", pull.count, " rows of ", row_bytes, " bytes; one answer holds ",
                 kPayloadBytesMax, " bytes: ask for fewer keys at a time"));
    }
  }
  if (pull.cut > 0) {
    if (t.cuts.Add(from, message, out)) ServeCuts(out);
    return;
  }
  Worker* worker = WorkerOf(from, pull.rank, out);
  if (worker == nullptr || pull.request < worker->read.request) return;
  if (!worker->read.Add(message)) return;
  if (worker->grant.request == pull.request)
    return ServeRead(pull.rank, out);  // Asked again, or late.
  if (t.decider == nullptr) return;
  Decider::Log log;
  t.decider->OnRead(pull.rank, pull.request, pull.round, pull.own, log);
  Commit(std::move(log), now, out);
}

// --- Deciding ---

void ServerNode::NoteStaged(std::uint32_t shard, const StagedPush& push, Decider::Log& log) {
  Training& t = *training_;
  Worker& worker = t.workers[push.rank];
  const StagedEntry* here = worker.stage.Find(push.seq);
  bool rejected = push.rejected;
  if (t.by_tier) {
    Gathered& gathered = worker.gathered[push.seq];
    if (gathered.shards.empty()) {
      gathered.shards.assign(t.servers.size(), false);
      gathered.missing = t.servers.size();
    }
    if (gathered.shards[shard]) return;
    gathered.shards[shard] = true;
    gathered.rejected |= push.rejected;
    if (--gathered.missing > 0) return;
    rejected = gathered.rejected;
    worker.gathered.erase(push.seq);
  }
  SLACKLINE_CHECK(here != nullptr);
  t.decider->OnStaged({push.rank, push.seq, here->samples, rejected}, log);
}

void ServerNode::OnStaged(const Staged& message, Time now, Outbox& out) {
  Training& t = *training_;
  Decider::Log log;
  for (const StagedPush& push : message.pushes) {
    if (push.rank >= t.workers.size()) continue;
    const Worker& worker = t.workers[push.rank];
    const std::uint64_t decided = t.clocks.clock(push.rank);
    // Reports are repeated until the decision reaches the follower; old lives' count for nothing.
    if (worker.sender != push.sender || push.seq < decided ||
        push.seq - decided >= worker.outcomes.size())
      continue;
    NoteStaged(message.shard, push, log);
  }
  Commit(std::move(log), now, out);
}

void ServerNode::ReportStaged(Outbox& out) {
  Training& t = *training_;
  Staged message{.shard = t.rank, .pushes = {}};
  for (std::uint32_t rank = 0; rank < t.workers.size(); ++rank) {
    for (const auto& [seq, entry] : t.workers[rank].stage.entries()) {
      if (entry.complete())
        message.pushes.push_back({rank, t.workers[rank].sender, seq, entry.rejected});
    }
  }
  if (!message.pushes.empty()) out.SendTo(t.servers[0], std::move(message));
}

void ServerNode::OnDecisions(NodeId from, const Decisions& message, Time now, Outbox& out) {
  Training& t = *training_;
  std::vector<Decision> entries;
  out.SendTo(from, t.receiver.OnDecisions(t.rank, message, entries));
  t.log.insert(t.log.end(), std::make_move_iterator(entries.begin()),
               std::make_move_iterator(entries.end()));
  Execute(now, out);
}

void ServerNode::Commit(Decider::Log log, Time now, Outbox& out) {
  Training& t = *training_;
  if (log.empty()) return;
  if (t.stream != nullptr) {
    if (t.by_tier) {
      t.stream->Append(log);
    } else {  // Shards decide by themselves, save where the parameters are cut.
      std::vector<Decision> cuts;
      for (const Decision& d : log) {
        if (d.kind == Decision::Kind::kCut) cuts.push_back(d);
      }
      t.stream->Append(cuts);
    }
    t.stream->Flush(now, out);
  }
  t.log.insert(t.log.end(), std::make_move_iterator(log.begin()),
               std::make_move_iterator(log.end()));
  Execute(now, out);
}

// --- Executing ---

void ServerNode::Execute(Time now, Outbox& out) {
  Training& t = *training_;
  while (!t.applying && !t.log.empty()) {
    // A last cut of the lead's must not overtake what this shard decides by itself.
    if (t.log.front().kind == Decision::Kind::kCut && t.log.front().last && t.clocks.active() > 0) {
      if (t.log.size() == 1) break;
      std::rotate(t.log.begin(), t.log.begin() + 1, t.log.end());
    }
    const Decision decision = std::move(t.log.front());
    t.log.pop_front();
    if (const Status executable = Executable(decision); !executable.ok()) {
      t.log.clear();
      return member_.Leave(now, executable, out);
    }
    switch (decision.kind) {
      case Decision::Kind::kApply:
        StartApply(decision, out);
        break;
      case Decision::Kind::kDiscard:
        ExecuteDiscard(decision, out);
        break;
      case Decision::Kind::kGrant:
        ExecuteGrant(decision, out);
        break;
      case Decision::Kind::kOpen:
        ExecuteOpen(decision, out);
        break;
      case Decision::Kind::kLeave:
        ExecuteLeave(decision, out);
        break;
      case Decision::Kind::kCut:
        ExecuteCut(decision, out);
        break;
    }
  }
  SendAcks(out);
  if (!t.applying && !t.deferred_reads.empty()) out.SetTimer(kSnapshotTimer, now + kSnapshotRetry);
}

Status ServerNode::Executable(const Decision& decision) const {
  const Training& t = *training_;
  if (decision.rank >= t.workers.size()) {
    return DataLoss(
        StrCat("the lead decided about worker ", decision.rank, "; there are ", t.workers.size()));
  }
  for (const PushShare& share : decision.pushes) {
    const StagedEntry* entry =
        share.rank < t.workers.size() ? t.workers[share.rank].stage.Find(share.seq) : nullptr;
    if (entry == nullptr || !entry->complete() || share.seq != t.clocks.clock(share.rank)) {
      return DataLoss(StrCat("the lead decided on push ", share.seq, " of worker ", share.rank,
                             ", which does not lie here complete and next in turn"));
    }
  }
  return Status::Ok();
}

void ServerNode::StartApply(const Decision& decision, Outbox& out) {
  Training& t = *training_;
  auto update = std::make_shared<Update>();
  update->lr = static_cast<float>(decision.lr);
  update->step = t.version + 1;
  t.updating.clear();
  for (const PushShare& share : decision.pushes) {
    StagedEntry entry = t.workers[share.rank].stage.Take(share.seq);
    if (share.weight != 0.0f) {
      entry.contribution.weight = share.weight;
      update->contributions.push_back(std::move(entry.contribution));
    }
    t.updating.push_back(std::move(entry));
  }
  t.applying = true;
  t.applied = decision;
  out.jobs.push_back({.id = JobId{next_job_++},
                      .kind = Job::Kind::kApply,
                      .rank = t.rank,
                      .index = t.version,
                      .run = [shard = t.shard.get(), update] { shard->Apply(*update); }});
}

void ServerNode::FinishApply(Outbox& out) {
  Training& t = *training_;
  t.applying = false;
  ++t.version;
  statistics_.version = t.version;
  statistics_.lr = t.applied.lr;
  for (std::size_t i = 0; i < t.updating.size(); ++i) {
    const PushShare& share = t.applied.pushes[i];
    Decided(share, t.updating[i],
            share.weight != 0.0f ? PushOutcome::kApplied : PushOutcome::kRejected, out);
  }
  t.updating.clear();
}

void ServerNode::Decided(const PushShare& share, const StagedEntry& entry, PushOutcome outcome,
                         Outbox& out) {
  Training& t = *training_;
  Worker& worker = t.workers[share.rank];
  t.clocks.Advance(share.rank);
  worker.outcomes[share.seq % worker.outcomes.size()] = outcome;
  TraceEvent event{.rank = share.rank,
                   .shard = t.rank,
                   .seq = share.seq,
                   .version = t.version,
                   .extra = entry.samples};
  switch (outcome) {
    case PushOutcome::kApplied:
      event.kind = TraceEvent::Kind::kPushApplied;
      event.value = t.version - 1 - entry.version;
      statistics_.staleness.Add(event.value);
      statistics_.samples_applied += entry.samples;
      ++statistics_.slices_applied;
      break;
    case PushOutcome::kDiscarded:
      event.kind = TraceEvent::Kind::kPushDiscarded;
      ++statistics_.slices_discarded;
      break;
    case PushOutcome::kRejected:
      event.kind = TraceEvent::Kind::kPushRejected;
      ++statistics_.slices_rejected;
      break;
  }
  out.traces.push_back(event);
  t.acks.emplace_back(worker.sender, PushAck{share.rank, share.seq, outcome, t.version});
}

void ServerNode::SendAcks(Outbox& out) {
  for (const auto& [to, ack] : training_->acks) out.SendTo(to, ack);
  training_->acks.clear();
}

void ServerNode::ExecuteDiscard(const Decision& decision, Outbox& out) {
  for (const PushShare& share : decision.pushes) {
    const StagedEntry entry = training_->workers[share.rank].stage.Take(share.seq);
    const bool rejected = entry.rejected || share.weight == 0.0f;
    Decided(share, entry, rejected ? PushOutcome::kRejected : PushOutcome::kDiscarded, out);
  }
}

void ServerNode::ExecuteGrant(const Decision& decision, Outbox& out) {
  Worker& worker = training_->workers[decision.rank];
  worker.grant = decision;
  if (worker.read.request == decision.request && worker.read.complete())
    ServeRead(decision.rank, out);
}

void ServerNode::ServeRead(std::uint32_t rank, Outbox& out) {
  Training& t = *training_;
  Worker& worker = t.workers[rank];
  if (worker.grant.request == 0 || worker.read.request != worker.grant.request) return;
  if (t.applying || !t.shard->SnapshotAllowed()) {
    t.deferred_reads.push_back(rank);
    return;
  }
  out.traces.push_back({.kind = TraceEvent::Kind::kReadServed,
                        .rank = rank,
                        .shard = t.rank,
                        .seq = worker.read.round,
                        .version = t.version,
                        .value = t.clocks.clock(rank),
                        .extra = t.clocks.slowest()});
  PullReply reply{
      .version = t.version, .samples = worker.grant.samples, .data_begin = worker.grant.data_begin};
  // The push that made this answer possible is acknowledged with it: a message less.
  const auto ack = std::find_if(t.acks.begin(), t.acks.end(), [&](const auto& a) {
    return a.second.rank == rank && a.second.outcome == PushOutcome::kApplied;
  });
  if (ack != t.acks.end()) {
    reply.acknowledged = ack->second.seq + 1;
    t.acks.erase(ack);
  }
  Answer(worker.sender, worker.read, *t.shard, t.shard->Snapshot(), nullptr, reply, out);
}

void ServerNode::ServeDeferred(Time now, Outbox& out) {
  std::vector<std::uint32_t> ranks;
  ranks.swap(training_->deferred_reads);
  for (const std::uint32_t rank : ranks) ServeRead(rank, out);
  if (!training_->deferred_reads.empty()) out.SetTimer(kSnapshotTimer, now + kSnapshotRetry);
}

void ServerNode::ExecuteOpen(const Decision& decision, Outbox& out) {
  Training& t = *training_;
  Worker& worker = t.workers[decision.rank];
  worker.sender = decision.sender;
  worker.opened = true;
  worker.next_seq = decision.seq;
  worker.read = {};
  worker.grant = {};
  worker.gathered.clear();
  worker.stage.DropFrom(decision.seq);
  out.traces.push_back({.kind = TraceEvent::Kind::kSessionOpened,
                        .rank = decision.rank,
                        .shard = t.rank,
                        .seq = decision.seq});
  out.SendTo(worker.sender, SessionOpened{decision.rank, decision.seq, t.version});
}

void ServerNode::ExecuteLeave(const Decision& decision, Outbox& out) {
  Training& t = *training_;
  t.clocks.Leave(decision.rank);
  out.traces.push_back({.kind = TraceEvent::Kind::kWorkerLeft,
                        .rank = decision.rank,
                        .shard = t.rank,
                        .seq = t.clocks.clock(decision.rank)});
  out.SendTo(t.workers[decision.rank].sender, SessionClosed{decision.rank});
}

void ServerNode::ExecuteCut(const Decision& decision, Outbox& out) {
  Training& t = *training_;
  t.cuts.Keep({.number = decision.cut,
               .version = t.version,
               .samples = decision.samples,
               .last = decision.last,
               .content = t.shard->MakeCut()});
  out.traces.push_back({.kind = TraceEvent::Kind::kCutMade,
                        .shard = t.rank,
                        .seq = decision.cut,
                        .version = t.version,
                        .value = decision.samples});
  ServeCuts(out);
}

void ServerNode::ServeCuts(Outbox& out) {
  if (!training_->applying) training_->cuts.Serve(*training_->shard, out);
}

// --- Reporting ---

Statistics ServerNode::CurrentStatistics(Time) const {
  Statistics statistics = statistics_;
  if (training_ == nullptr || training_->decider == nullptr) return statistics;
  const Decider& decider = *training_->decider;
  statistics.clock_spread_max = decider.clock_spread_max();
  if (decider.waiting() > 0) {
    statistics.waits.push_back(
        {StrCat(decider.gate().name(), " gate: ", decider.waiting(), " workers"),
         decider.gate().WaitsFor(decider.clocks()), 0});
  }
  if (!training_->deferred_reads.empty()) {
    statistics.waits.push_back({StrCat("snapshots: ", training_->deferred_reads.size(), " reads"),
                                StrCat("readers that hold ", training_->shard->held_bytes(),
                                       " bytes of older versions (--max-snapshots)"),
                                0});
  }
  return statistics;
}

std::uint64_t ServerNode::StateDigest() const {
  Digest digest;
  member_.AddTo(digest);
  if (training_ == nullptr) return digest.value();
  training_->shard->AddTo(digest);
  digest.Add(training_->version);
  if (training_->decider != nullptr) training_->decider->AddTo(digest);
  for (std::uint32_t rank = 0; rank < training_->workers.size(); ++rank) {
    digest.Add(training_->clocks.clock(rank));
    digest.Add(static_cast<std::uint64_t>(training_->workers[rank].sender));
    digest.Add(training_->workers[rank].stage.entries().size());
  }
  return digest.value();
}

}  // namespace slackline
