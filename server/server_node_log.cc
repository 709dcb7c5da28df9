// ServerNode: how its tier's log comes about and is executed.
#include <algorithm>

#include "core/base/check.h"
#include "core/base/strings.h"
#include "server/server_node.h"

namespace slackline {

// --- Deciding ---

void ServerNode::NoteStaged(std::uint32_t shard, const StagedPush& push, Decider::Log& log) {
  Training& t = *training_;
  Client& client = t.clients[push.rank];
  const StagedEntry* here = client.stage.Find(push.seq);
  bool rejected = push.rejected;
  if (t.by_tier) {
    Gathered& gathered = client.gathered[push.seq];
    if (gathered.shards.empty()) {
      gathered.shards.assign(t.servers.size(), false);
      gathered.missing = t.servers.size();
    }
    if (gathered.shards[shard]) return;
    gathered.shards[shard] = true;
    gathered.rejected |= push.rejected;
    if (--gathered.missing > 0) return;
    rejected = gathered.rejected;
    client.gathered.erase(push.seq);
  }
  SLACKLINE_CHECK(here != nullptr);
  t.decider->OnStaged({push.rank, push.seq, here->samples, rejected}, log);
}

void ServerNode::OnStaged(const Staged& message, Time now, Outbox& out) {
  Training& t = *training_;
  Decider::Log log;
  for (const StagedPush& push : message.pushes) {
    if (push.rank >= t.clients.size()) continue;
    const Client& client = t.clients[push.rank];
    const std::uint64_t decided = t.clocks.clock(push.rank);
    // Reports are repeated until the decision reaches the follower; old lives' count for nothing.
    if (client.life != push.sender || push.seq < decided ||
        push.seq - decided >= client.outcomes.size())
      continue;
    NoteStaged(message.shard, push, log);
  }
  NoteAnswered(message.shard, message.answered, log);
  Commit(std::move(log), now, out);
}

void ServerNode::ReportStaged(Outbox& out) {
  Training& t = *training_;
  Staged message{.shard = t.place, .pushes = {}};
  for (std::uint32_t client = 0; client < t.clients.size(); ++client) {
    for (const auto& [seq, entry] : t.clients[client].stage.entries()) {
      if (entry.complete())
        message.pushes.push_back({client, t.clients[client].life, seq, entry.rejected});
    }
  }
  if (t.uplink.has_value()) message.answered = t.uplink->answered();
  if (!message.pushes.empty() || message.answered > t.merged)
    out.SendTo(t.servers[0], std::move(message));
}

void ServerNode::OnUplink(Time now, Outbox& out) {
  Training& t = *training_;
  if (!t.uplink->fenced().ok()) return member_.Leave(now, t.uplink->fenced(), out);
  if (t.uplink->closed() && member_.state() == MemberState::kWorking)
    member_.SetState(now, MemberState::kFinished, out);
  if (t.uplink->answered() == t.merged) return;
  if (t.decider == nullptr) return ReportStaged(out);
  Decider::Log log;
  NoteAnswered(t.place, t.uplink->answered(), log);
  Commit(std::move(log), now, out);
}

// An answer can be merged once every shard has its part of it.
void ServerNode::NoteAnswered(std::uint32_t shard, std::uint64_t answered, Decider::Log& log) {
  Training& t = *training_;
  if (!t.uplink.has_value()) return;
  t.answered[shard] = std::max(t.answered[shard], answered);
  if (*std::min_element(t.answered.begin(), t.answered.end()) > t.merged)
    t.decider->OnAnswered(t.merged, t.uplink->answer().samples, log);
}

void ServerNode::OnDecisions(NodeId from, const Decisions& message, Time now, Outbox& out) {
  Training& t = *training_;
  std::vector<Decision> entries;
  out.SendTo(from, t.receiver.OnDecisions(t.place, message, entries));
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
      case Decision::Kind::kExchange:
        StartExchange(decision, out);
        break;
      case Decision::Kind::kMerge:
        StartMerge(decision, out);
        break;
      case Decision::Kind::kDetach:
        t.uplink->Close(now, out);
        break;
    }
  }
  SendAcks(out);
  if (!t.applying && !t.deferred_reads.empty()) out.SetTimer(kSnapshotTimer, now + kSnapshotRetry);
}

Status ServerNode::Executable(const Decision& decision) const {
  using Kind = Decision::Kind;
  const Training& t = *training_;
  const bool about_client = decision.kind == Kind::kGrant || decision.kind == Kind::kOpen ||
                            decision.kind == Kind::kLeave;
  if (about_client && decision.rank >= t.clients.size()) {
    return DataLoss(
        StrCat("the lead decided about client ", decision.rank, "; there are ", t.clients.size()));
  }
  if (decision.kind >= Kind::kExchange && !t.uplink.has_value()) {
    return DataLoss("the lead decided on an exchange; this tier has nothing above it");
  }
  if (decision.kind == Kind::kExchange && decision.seq != t.uplink->answered()) {
    return DataLoss(StrCat("the lead began exchange ", decision.seq, " where ",
                           t.uplink->answered(), " comes next"));
  }
  if (decision.kind == Kind::kMerge &&
      (decision.seq != t.merged || t.uplink->answered() != decision.seq + 1)) {
    return DataLoss(StrCat("the lead merged exchange ", decision.seq, "; ", t.merged,
                           " were merged and ", t.uplink->answered(), " answered here"));
  }
  if (decision.kind == Kind::kOpen && !decision.senders.empty() &&
      decision.senders.size() != t.servers.size()) {
    return DataLoss(StrCat("the lead named ", decision.senders.size(), " senders of a client for ",
                           t.servers.size(), " servers"));
  }
  for (const PushShare& share : decision.pushes) {
    const StagedEntry* entry =
        share.rank < t.clients.size() ? t.clients[share.rank].stage.Find(share.seq) : nullptr;
    if (entry == nullptr || !entry->complete() || share.seq != t.clocks.clock(share.rank)) {
      return DataLoss(StrCat("the lead decided on push ", share.seq, " of client ", share.rank,
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
    StagedEntry entry = t.clients[share.rank].stage.Take(share.seq);
    if (share.weight != 0.0f) {
      entry.contribution.weight = share.weight;
      update->contributions.push_back(std::move(entry.contribution));
    }
    t.updating.push_back(std::move(entry));
  }
  StartJob(
      decision, [shard = t.shard.get(), update] { shard->Apply(*update); }, out);
}

void ServerNode::StartExchange(const Decision& decision, Outbox& out) {
  Training& t = *training_;
  out.traces.push_back({.kind = TraceEvent::Kind::kExchangeBegun,
                        .rank = *t.tier.region,
                        .shard = t.rank,
                        .seq = decision.seq,
                        .version = t.version,
                        .value = decision.samples});
  t.difference = std::make_shared<Buffer>();
  const bool lossless = options_.recipe.uplink_reference == "lossless";
  StartJob(
      decision,
      [shard = t.shard.get(), lossless, difference = t.difference] {
        *difference = shard->TakeDifference(lossless);
      },
      out);
}

void ServerNode::StartMerge(const Decision& decision, Outbox& out) {
  Training& t = *training_;
  const PullContent& answer = t.uplink->answer();
  out.traces.push_back({.kind = TraceEvent::Kind::kMerged,
                        .rank = *t.tier.region,
                        .shard = t.rank,
                        .seq = decision.seq,
                        .version = t.version,
                        .value = answer.versions[0]});
  t.merged = decision.seq + 1;
  ++statistics_.exchanges;
  const bool lossless = options_.recipe.uplink_reference == "lossless";
  StartJob(
      decision,
      [shard = t.shard.get(), lossless, pulled = answer.dense,
       weight = static_cast<float>(options_.recipe.merge_weight)] {
        shard->Merge(pulled, weight, lossless);
      },
      out);
}

void ServerNode::StartJob(const Decision& decision, std::function<void()> run, Outbox& out) {
  Training& t = *training_;
  t.applying = true;
  t.applied = decision;
  out.jobs.push_back({.id = JobId{next_job_++},
                      .kind = Job::Kind::kApply,
                      .rank = t.rank,
                      .index = t.version,
                      .run = std::move(run)});
}

void ServerNode::FinishApply(Outbox& out) {
  Training& t = *training_;
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
  Client& client = t.clients[share.rank];
  const std::uint32_t rank = t.RankOf(share.rank);
  t.clocks.Advance(share.rank);
  client.outcomes[share.seq % client.outcomes.size()] = outcome;
  TraceEvent event{.rank = rank,
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
  t.acks.emplace_back(client.sender, PushAck{rank, share.seq, outcome, t.version});
}

void ServerNode::SendAcks(Outbox& out) {
  for (const auto& [to, ack] : training_->acks) out.SendTo(to, ack);
  training_->acks.clear();
}

void ServerNode::ExecuteDiscard(const Decision& decision, Outbox& out) {
  for (const PushShare& share : decision.pushes) {
    const StagedEntry entry = training_->clients[share.rank].stage.Take(share.seq);
    const bool rejected = entry.rejected || share.weight == 0.0f;
    Decided(share, entry, rejected ? PushOutcome::kRejected : PushOutcome::kDiscarded, out);
  }
}

void ServerNode::ExecuteGrant(const Decision& decision, Outbox& out) {
  Client& client = training_->clients[decision.rank];
  client.grant = decision;
  if (client.read.request == decision.request && client.read.complete())
    ServeRead(decision.rank, out);
}

void ServerNode::ServeRead(std::uint32_t index, Outbox& out) {
  Training& t = *training_;
  Client& client = t.clients[index];
  if (client.grant.request == 0 || client.read.request != client.grant.request) return;
  if (t.applying || !t.shard->SnapshotAllowed()) {
    t.deferred_reads.push_back(index);
    return;
  }
  if (!client.grant.last)
    out.traces.push_back({.kind = TraceEvent::Kind::kReadServed,
                          .rank = t.RankOf(index),
                          .shard = t.rank,
                          .seq = client.read.round,
                          .version = t.version,
                          .value = t.clocks.clock(index),
                          .extra = t.clocks.slowest()});
  PullReply reply{.version = t.version,
                  .samples = client.grant.samples,
                  .data_begin = client.grant.data_begin,
                  .last = client.grant.last};
  // The push that made this answer possible is acknowledged with it: a message less.
  const auto ack = std::find_if(t.acks.begin(), t.acks.end(), [&](const auto& a) {
    return a.second.rank == t.RankOf(index) && a.second.outcome == PushOutcome::kApplied;
  });
  if (ack != t.acks.end()) {
    reply.acknowledged = ack->second.seq + 1;
    t.acks.erase(ack);
  }
  Answer(client.sender, client.read, *t.shard,
         client.grant.last ? std::vector<Shard::Segment>() : t.shard->Snapshot(), nullptr, reply,
         out);
}

void ServerNode::ServeDeferred(Time now, Outbox& out) {
  std::vector<std::uint32_t> clients;
  clients.swap(training_->deferred_reads);
  for (const std::uint32_t client : clients) ServeRead(client, out);
  if (!training_->deferred_reads.empty()) out.SetTimer(kSnapshotTimer, now + kSnapshotRetry);
}

void ServerNode::ExecuteOpen(const Decision& decision, Outbox& out) {
  Training& t = *training_;
  Client& client = t.clients[decision.rank];
  client.life = decision.sender;
  client.sender = decision.senders.empty() ? decision.sender : decision.senders[t.place];
  client.opened = true;
  const std::uint32_t rank = t.RankOf(decision.rank);
  out.located.push_back(
      {client.sender,
       t.tier.of_regions ? rank : Topology(options_.cluster).RegionOf(Role::kWorker, rank)});
  client.next_seq = decision.seq;
  client.read = {};
  client.grant = {};
  client.gathered.clear();
  client.stage.DropFrom(decision.seq);
  out.traces.push_back({.kind = TraceEvent::Kind::kSessionOpened,
                        .rank = t.RankOf(decision.rank),
                        .shard = t.rank,
                        .seq = decision.seq});
  out.SendTo(client.sender, SessionOpened{t.RankOf(decision.rank), decision.seq, t.version});
}

void ServerNode::ExecuteLeave(const Decision& decision, Outbox& out) {
  Training& t = *training_;
  t.clocks.Leave(decision.rank);
  out.traces.push_back({.kind = TraceEvent::Kind::kWorkerLeft,
                        .rank = t.RankOf(decision.rank),
                        .shard = t.rank,
                        .seq = t.clocks.clock(decision.rank)});
  out.SendTo(t.clients[decision.rank].sender, SessionClosed{t.RankOf(decision.rank)});
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

}  // namespace slackline
