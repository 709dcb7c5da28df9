#include "server/server_node.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/base/strings.h"
#include "core/config/agreement.h"
#include "core/policy/decision_scope.h"
#include "core/wire/header.h"

namespace slackline {

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
