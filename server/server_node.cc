#include "server/server_node.h"

#include <algorithm>
#include <utility>

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
                    .parameters = {},
                    .region = options.network.tier == "region" ? options.network.region : -1},
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
  if (training_ == nullptr) {
    if (const auto* open = std::get_if<SessionOpen>(&message.body)) KeepEarlyOpen(from, *open);
    return;  // Whoever else is ahead of us asks again.
  }
  if (training_->uplink.has_value() && training_->uplink->OnMessage(now, from, message, out))
    return OnUplink(now, out);
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
  if (timer == kSessionTimer) {
    if (training_->uplink.has_value()) training_->uplink->OnTimer(now, out);
    return;
  }
  if (training_->stream != nullptr) training_->stream->OnTimer(now, out);
  if (training_->by_tier && training_->place != 0) ReportStaged(out);
  out.SetTimer(kRetryTimer, now + member_.timeouts().transfer_retry);
}

void ServerNode::OnJobDone(Time now, JobId, Outbox& out) {
  Training& t = *training_;
  t.applying = false;
  if (t.applied.kind == Decision::Kind::kApply) {
    FinishApply(out);
  } else if (t.applied.kind == Decision::Kind::kExchange) {
    t.uplink->Begin(now, t.applied.seq, t.applied.samples, std::move(*t.difference), out);
    t.difference.reset();
  }
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
  const Topology topology(options_.cluster);
  if (roster.servers.size() != topology.servers() || roster.workers != topology.workers() ||
      member_.rank() >= topology.servers()) {
    return member_.Leave(
        now,
        DataLoss(StrCat("the roster names ", roster.servers.size(), " servers and ", roster.workers,
                        " workers, and this is server ", member_.rank(), "; expected ",
                        topology.servers(), " and ", topology.workers())),
        out);
  }
  training_ = std::make_unique<Training>(topology.TierOfServer(member_.rank()));
  Training& t = *training_;
  t.rank = member_.rank();
  t.place = t.rank - t.tier.first_server;
  t.by_tier = DecidesByTier(options_);
  out.located_at = topology.RegionOf(Role::kServer, t.rank);
  std::vector<NodeId> followers;
  for (std::uint32_t place = 0; place < t.tier.servers; ++place) {
    const ServerEntry& server = roster.servers[t.tier.first_server + place];
    t.servers.push_back(server.node);
    if (place == t.place) continue;
    if (t.place == 0) followers.push_back(server.node);
    // Both ends connect, so that neither's first word is lost for want of a way back.
    if (t.place == 0 || place == 0) out.connects.push_back({server.node, server.address});
  }
  const bool in_region = t.tier.region.has_value();
  auto rule = MakeRule(in_region ? options_.recipe.region_rule : options_.recipe.rule);
  auto decider =
      Decider::Create(options_, t.tier, roster.rounds, /*makes_cuts=*/!in_region && t.place == 0);
  if (!rule.ok() || !decider.ok()) {
    return member_.Leave(now, rule.ok() ? decider.status() : rule.status(), out);
  }
  const bool timing_only = !options_.model.materialize;
  const std::uint64_t segment_elements =
      std::max<std::uint64_t>(1, options_.cluster.segment_bytes / sizeof(float));
  const ShardRange range = roster.servers[t.rank].range;
  t.shard = std::make_unique<Shard>(Shard::Settings{.range = range,
                                                    .seed = options_.cluster.seed,
                                                    .segment_elements = segment_elements,
                                                    .max_snapshots = options_.cluster.max_snapshots,
                                                    .timing_only = timing_only},
                                    roster.parameters, std::move(rule).value());
  std::vector<std::uint64_t> widths;
  for (const TableSpec& table : roster.parameters.tables) widths.push_back(table.width);
  const std::uint32_t window = options_.cluster.max_inflight_pushes;
  for (std::uint32_t client = 0; client < t.tier.clients; ++client) {
    t.clients.push_back(Client{.stage = Stage(range.size(), widths, window, timing_only),
                               .outcomes = std::vector<PushOutcome>(window, PushOutcome::kApplied),
                               .read = {},
                               .grant = {},
                               .gathered = {}});
  }
  if (t.place == 0)
    t.stream = std::make_unique<DecisionStream>(followers, member_.timeouts().transfer_retry);
  if (t.place == 0 || !t.by_tier) t.decider = std::move(decider).value();
  out.SetTimer(kRetryTimer, now + member_.timeouts().transfer_retry);
  if (in_region) {
    t.shard->TakeReference();
    t.answered.assign(t.tier.servers, 0);
    const ServerEntry& above = roster.servers[t.place];
    out.connects.push_back(
        {above.node, above.address, topology.RegionOf(Role::kServer, above.rank)});
    t.uplink.emplace(Session::Settings{.rank = *t.tier.region,
                                       .retry = member_.timeouts().transfer_retry,
                                       .chunk_elements = segment_elements,
                                       .max_inflight_pushes = 1,
                                       .timing_only = timing_only,
                                       .senders = t.servers},
                     roster.parameters, above);
    t.uplink->Open(now, out);
  }
  if (t.decider != nullptr) {
    Decider::Log log;
    t.decider->OnStart(log);
    Commit(std::move(log), now, out);
  }
  for (const auto& [from, open] : std::exchange(early_opens_, {})) OnOpen(from, open, now, out);
}

void ServerNode::KeepEarlyOpen(NodeId from, const SessionOpen& message) {
  const Topology topology(options_.cluster);
  // Before it is welcomed, nobody can know of this server.
  if (!member_.welcomed() || member_.rank() >= topology.servers()) return;
  for (auto& [sender, open] : early_opens_) {
    if (sender != from) continue;
    open = message;
    return;
  }
  if (early_opens_.size() < topology.TierOfServer(member_.rank()).clients)
    early_opens_.emplace_back(from, message);
}

// --- What clients ask ---

void ServerNode::OnOpen(NodeId from, const SessionOpen& message, Time now, Outbox& out) {
  Training& t = *training_;
  const std::uint32_t index = message.rank - t.tier.first_client;
  if (message.rank < t.tier.first_client || index >= t.clients.size() ||
      (!message.senders.empty() && message.senders.size() != t.servers.size())) {
    return out.SendTo(
        from, Refused{StatusCode::kInvalidArgument, false,
                      StrCat("no client ", message.rank, " with ", message.senders.size(),
                             " senders here; there are ", t.clients.size(), " from ",
                             t.tier.first_client, " on, and ", t.servers.size(), " servers")});
  }
  const Client& client = t.clients[index];
  if (client.opened && client.sender == from) {  // Our answer was lost.
    return out.SendTo(from, SessionOpened{message.rank, client.next_seq, t.version});
  }
  if (t.decider == nullptr) return;  // The lead has been asked too; the answer follows its entry.
  Decider::Log log;
  t.decider->OnOpen(index, message.senders.empty() ? from : message.senders[0], message.senders,
                    log);
  Commit(std::move(log), now, out);
}

void ServerNode::OnClose(NodeId from, const SessionClose& message, Time now, Outbox& out) {
  Training& t = *training_;
  const std::optional<std::uint32_t> client = ClientOf(from, message.rank, out);
  if (!client.has_value()) return;
  if (!t.clocks.IsActive(*client)) return out.SendTo(from, SessionClosed{message.rank});
  if (t.decider == nullptr) return;
  Decider::Log log;
  t.decider->OnClose(*client, log);
  Commit(std::move(log), now, out);
}

std::optional<std::uint32_t> ServerNode::ClientOf(NodeId from, std::uint32_t rank, Outbox& out) {
  const Training& t = *training_;
  const std::uint32_t index = rank - t.tier.first_client;
  if (rank >= t.tier.first_client && index < t.clients.size() && t.clients[index].opened &&
      t.clients[index].sender == from) {
    return index;
  }
  ++statistics_.frames_refused;
  out.SendTo(from, Refused{StatusCode::kFailedPrecondition, false,
                           StrCat(t.tier.of_regions ? "region " : "worker ", rank,
                                  " has a newer life than the one that sent this; "
                                  "this process must end")});
  return std::nullopt;
}

void ServerNode::OnPush(NodeId from, const Push& push, const Buffer& payload, Time now,
                        Outbox& out) {
  Training& t = *training_;
  const std::optional<std::uint32_t> index = ClientOf(from, push.rank, out);
  if (!index.has_value()) return;
  Client& client = t.clients[*index];
  const std::uint64_t decided = t.clocks.clock(*index);
  if (push.seq < decided) {
    if (push.chunk + 1 == push.chunks) {  // Once a repetition, not once a chunk.
      ++statistics_.slices_duplicate;
      out.traces.push_back({.kind = TraceEvent::Kind::kPushDuplicate,
                            .rank = push.rank,
                            .shard = t.rank,
                            .seq = push.seq});
      out.SendTo(from, PushAck{push.rank, push.seq,
                               client.outcomes[push.seq % client.outcomes.size()], t.version});
    }
    return;
  }
  const Result<bool> completed = client.stage.Add(push, payload, decided);
  if (!completed.ok()) {
    ++statistics_.frames_refused;
    return out.SendTo(from,
                      Refused{completed.status().code(), false, completed.status().message()});
  }
  if (!*completed) return;
  const StagedPush staged{*index, client.life, push.seq, client.stage.Find(push.seq)->rejected};
  if (t.decider == nullptr) {
    return out.SendTo(t.servers[0], Staged{.shard = t.place, .pushes = {staged}});
  }
  Decider::Log log;
  NoteStaged(t.place, staged, log);
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
  const std::optional<std::uint32_t> index = ClientOf(from, pull.rank, out);
  if (!index.has_value()) return;
  Client& client = t.clients[*index];
  if (pull.request < client.read.request || !client.read.Add(message)) return;
  if (client.grant.request == pull.request) return ServeRead(*index, out);  // Asked again, or late.
  if (t.decider == nullptr) return;
  Decider::Log log;
  t.decider->OnRead(*index, pull.request, pull.round, pull.own, log);
  Commit(std::move(log), now, out);
}

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

// --- Reporting ---

Statistics ServerNode::CurrentStatistics(Time now) const {
  Statistics statistics = statistics_;
  if (training_ != nullptr && training_->uplink.has_value()) {
    const Session& session = training_->uplink->session();
    statistics.bytes_pushed = session.bytes_pushed();
    statistics.bytes_pulled = session.bytes_pulled();
    statistics.pushes_retried = session.retried();
    statistics.waits = session.Waits(now);
  }
  if (training_ == nullptr || training_->decider == nullptr) return statistics;
  const Decider& decider = *training_->decider;
  statistics.clock_spread_max = decider.clock_spread_max();
  if (decider.waiting() > 0) {
    statistics.waits.push_back({StrCat(decider.gate().name(), " gate: ", decider.waiting(),
                                       training_->tier.of_regions ? " regions" : " workers"),
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
  for (const auto& [from, open] : early_opens_) {
    digest.Add(static_cast<std::uint64_t>(from));
    digest.Add(open.rank);
  }
  if (training_ == nullptr) return digest.value();
  training_->shard->AddTo(digest);
  digest.Add(training_->version);
  if (training_->decider != nullptr) training_->decider->AddTo(digest);
  for (std::uint32_t client = 0; client < training_->clients.size(); ++client) {
    digest.Add(training_->clocks.clock(client));
    digest.Add(static_cast<std::uint64_t>(training_->clients[client].sender));
    digest.Add(training_->clients[client].stage.entries().size());
  }
  if (training_->uplink.has_value()) {
    training_->uplink->session().AddTo(digest);
    digest.Add(training_->merged);
  }
  return digest.value();
}

}  // namespace slackline
