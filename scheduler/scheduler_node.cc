#include "scheduler/scheduler_node.h"

#include <algorithm>

#include "core/base/digest.h"
#include "core/base/strings.h"
#include "core/config/agreement.h"
#include "core/policy/placement.h"
#include "core/policy/work_plan.h"

namespace slackline {
namespace {

constexpr TimerId kTickTimer{1};
constexpr std::size_t kBarriersMax = 1024;

Status CheckShapes(const ParameterSpec& spec) {
  if (spec.dense_elements() == 0 && spec.tables.empty()) {
    return InvalidArgument(
        "the model has no parameters: no tensor has an element and there is no table");
  }
  return Status::Ok();
}

}  // namespace

SchedulerNode::SchedulerNode(NodeId, const Options& options)
    : options_(options),
      topology_(options.cluster),
      timeouts_(Timeouts::From(options.network.patience)),
      agreement_(Agreement(options)) {
  const auto add = [&](Role role, std::uint32_t count) {
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      members_.push_back({.role = role, .rank = rank, .address = {}, .statistics = {}, .lost = {}});
    }
  };
  add(Role::kServer, topology_.servers());
  add(Role::kWorker, options.cluster.workers);
  add(Role::kEvaluator, options.cluster.evaluate ? 1 : 0);
  roster_.workers = options.cluster.workers;
  roster_.evaluators = options.cluster.evaluate ? 1 : 0;
}

// --- Inputs ---

void SchedulerNode::OnStart(Time now, Outbox& out) {
  next_waiting_note_ = now + timeouts_.patience / 2;
  out.SetTimer(kTickTimer, now + timeouts_.heartbeat);
}

void SchedulerNode::OnMessage(Time now, NodeId from, const Message& message, Outbox& out) {
  if (const auto* hello = std::get_if<Hello>(&message.body)) return OnHello(now, from, *hello, out);
  if (std::holds_alternative<StatusRequest>(message.body))
    return out.SendTo(from, CurrentStatus(now));
  Member* member = MemberOf(from);
  if (member == nullptr) {  // A life that is not, or no longer, part of this run.
    return out.SendTo(from, Refused{StatusCode::kFailedPrecondition, false,
                                    "this process is not part of the run: its place was given to "
                                    "another, or it never joined"});
  }
  member->heard = now;
  if (const auto* heartbeat = std::get_if<Heartbeat>(&message.body)) {
    OnHeartbeat(now, *member, *heartbeat, out);
  } else if (const auto* evaluation = std::get_if<Evaluation>(&message.body)) {
    OnEvaluation(now, *evaluation, out);
    out.SendTo(from, EvaluationAck{evaluation->cut});
  } else if (const auto* enter = std::get_if<BarrierEnter>(&message.body)) {
    if (member->role == Role::kWorker) OnBarrier(from, *enter, out);
  }
}

void SchedulerNode::OnTimer(Time now, TimerId, Outbox& out) {
  if (stopping_since_.has_value()) {
    if (now - *stopping_since_ >= timeouts_.farewell) return Finish(now, out);
  } else {
    LookForLost(now, out);
  }
  if (roster_.phase == Phase::kForming && now >= next_waiting_note_) {
    next_waiting_note_ = now + timeouts_.patience;
    out.Info(StrCat("waiting for ", Missing()));
    if (now >= options_.network.join_timeout) {
      Stop(now, true,
           StrCat("not everybody joined within ", Seconds(options_.network.join_timeout),
                  " s (--join-timeout): missing ", Missing()),
           out);
    }
  }
  if (roster_.phase == Phase::kRunning && now >= next_progress_) {
    next_progress_ = now + options_.output.progress_interval;
    ReportProgress(now, out);
  }
  out.SetTimer(kTickTimer, now + std::min(timeouts_.heartbeat, options_.output.progress_interval));
}

void SchedulerNode::OnInterrupt(Time now, Outbox& out) { Stop(now, true, "interrupted", out); }

// --- Joining ---

Status SchedulerNode::Fits(const Hello& hello) const {
  if (hello.role != Role::kServer && hello.role != Role::kWorker &&
      hello.role != Role::kEvaluator) {
    return InvalidArgument(StrCat("a ", RoleName(hello.role), " does not join"));
  }
  if (hello.agreement != agreement_) {
    return FailedPrecondition(StrCat(FirstDifference(agreement_, hello.agreement),
                                     "; start every process of a run with the same options"));
  }
  if (hello.role == Role::kServer) return Status::Ok();
  SLACKLINE_RETURN_IF_ERROR(CheckShapes(hello.parameters));
  const bool known = roster_.parameters.dense_elements() > 0 || !roster_.parameters.tables.empty();
  if (known && !(hello.parameters == roster_.parameters)) {
    return FailedPrecondition(
        StrCat("this model has ", hello.parameters.tensors.size(), " tensors of ",
               hello.parameters.dense_elements(), " values and ", hello.parameters.tables.size(),
               " tables; the run's has ", roster_.parameters.tensors.size(), " of ",
               roster_.parameters.dense_elements(), " and ", roster_.parameters.tables.size(),
               " (or their names, shapes or initial values differ)"));
  }
  if (hello.role == Role::kWorker && roster_.rounds > 0 && hello.rounds != roster_.rounds) {
    return FailedPrecondition(StrCat("this worker would do ", hello.rounds,
                                     " rounds, the run's do ", roster_.rounds,
                                     "; its data has another number of examples"));
  }
  return Status::Ok();
}

bool SchedulerNode::Suits(const Member& place, const Hello& hello) const {
  if (hello.preferred_rank >= 0)
    return place.rank == static_cast<std::uint64_t>(hello.preferred_rank);
  if (place.role == Role::kServer) {
    const std::optional<std::uint32_t> region = topology_.TierOfServer(place.rank).region;
    return region.has_value() ? hello.region == static_cast<std::int64_t>(*region)
                              : hello.region < 0;
  }
  return hello.region < 0 ||
         topology_.RegionOf(place.role, place.rank) == static_cast<std::uint64_t>(hello.region);
}

SchedulerNode::Member* SchedulerNode::PlaceFor(Time now, NodeId from, const Hello& hello,
                                               Outbox& out) {
  const auto refuse = [&](bool retry, std::string text) -> Member* {
    out.SendTo(from, Refused{StatusCode::kUnavailable, retry, std::move(text)});
    return nullptr;
  };
  std::uint32_t count = 0;
  Member* free = nullptr;
  for (Member& member : members_) {
    if (member.role != hello.role) continue;
    ++count;
    if (!Suits(member, hello)) continue;
    if (free == nullptr && !member.present()) free = &member;
    if (hello.preferred_rank >= 0 && member.present()) {
      return refuse(true,
                    StrCat(RoleName(hello.role), " ", member.rank, " is here already (heard ",
                           Seconds(now - member.heard), " s ago); two cannot have one --rank"));
    }
  }
  if (hello.preferred_rank >= count) {
    return refuse(false, StrCat("no ", RoleName(hello.role), " ", hello.preferred_rank,
                                ": the run has ", count));
  }
  if (free == nullptr) {
    return refuse(true, StrCat("all places for a ", RoleName(hello.role),
                               hello.region >= 0 ? StrCat(" of region ", hello.region) : "",
                               " are taken; there are ", count, " in all (--",
                               hello.role == Role::kServer ? "servers" : "workers", ")"));
  }
  if (hello.role == Role::kServer && roster_.phase != Phase::kForming) {
    return refuse(false, StrCat("server ", free->rank,
                                " cannot come back into a run: its parameters are lost"));
  }
  return free;
}

void SchedulerNode::OnHello(Time now, NodeId from, const Hello& hello, Outbox& out) {
  if (Member* known = MemberOf(from); known != nullptr) {  // Our welcome was lost.
    known->heard = now;
    out.SendTo(from, Welcome{known->role, known->rank});
    return out.SendTo(from, roster_);
  }
  if (const Status fits = Fits(hello); !fits.ok()) {
    out.Warn(StrCat("refused a ", RoleName(hello.role), ": ", fits.message()));
    return out.SendTo(from, Refused{fits.code(), false, fits.message()});
  }
  if (roster_.phase >= Phase::kFinishing) {
    return out.SendTo(from, Refused{StatusCode::kFailedPrecondition, false, "the run is over"});
  }
  Member* place = PlaceFor(now, from, hello, out);
  if (place == nullptr) return;
  const bool again = place->lost.has_value();
  if (place->node != kNoNode) by_node_.erase(place->node);
  place->node = from;
  place->address = hello.address;
  place->state = MemberState::kJoining;
  place->heard = now;
  place->lost.reset();
  by_node_[from] = static_cast<std::size_t>(place - members_.data());
  if (hello.role != Role::kServer) roster_.parameters = hello.parameters;
  if (hello.role == Role::kWorker) roster_.rounds = hello.rounds;
  ReportMembership(
      now, "joined", *place,
      StrCat(topology_.NameOf(place->role, place->rank), again ? " is back" : " joined",
             hello.address.empty() ? "" : " at " + hello.address),
      out);
  out.SendTo(from, Welcome{place->role, place->rank});
  if (roster_.phase == Phase::kForming) {
    StartIfComplete(now, out);
  } else {
    out.SendTo(from, roster_);
  }
}

void SchedulerNode::StartIfComplete(Time now, Outbox& out) {
  if (!std::all_of(members_.begin(), members_.end(), [](const Member& m) { return m.present(); }))
    return;
  const std::vector<ShardRange> ranges =
      PlaceDense(roster_.parameters.dense_elements(), options_.cluster.servers);
  for (const Member& member : members_) {
    if (member.role != Role::kServer) continue;
    // Every tier is cut alike, so a region's shard has one shard above it.
    roster_.servers.push_back(
        {member.rank, member.node, member.address, ranges[member.rank % options_.cluster.servers]});
  }
  if (ranges.back().size() == 0 && roster_.parameters.tables.empty()) {
    out.Warn(StrCat(options_.cluster.servers, " servers for ", roster_.parameters.dense_elements(),
                    " parameters: some own nothing; fewer --servers would do"));
  }
  out.reports.push_back({now, PlacementReport{roster_.servers, roster_.parameters.dense_elements(),
                                              Imbalance(ranges)}});
  running_since_ = now;
  next_progress_ = now + options_.output.progress_interval;
  Advance(now, Phase::kRunning, out);
}

// --- Running ---

void SchedulerNode::OnHeartbeat(Time now, Member& member, const Heartbeat& heartbeat, Outbox& out) {
  const bool finished =
      heartbeat.state == MemberState::kFinished && member.state != MemberState::kFinished;
  member.state = heartbeat.state;
  member.statistics = heartbeat.statistics;
  if (heartbeat.epoch < roster_.epoch) out.SendTo(member.node, roster_);
  out.SendTo(member.node, HeartbeatAck{roster_.epoch, heartbeat.state});
  if (finished) {
    ReportMembership(now, "finished", member,
                     StrCat(topology_.NameOf(member.role, member.rank), " finished"), out);
  }
  if (heartbeat.state == MemberState::kStopped && !stopping_since_.has_value()) {
    Stop(now, true,
         StrCat(topology_.NameOf(member.role, member.rank),
                " ended before the run did: ", heartbeat.reason),
         out);
  }
  AdvanceIfDone(now, out);
}

void SchedulerNode::AdvanceIfDone(Time now, Outbox& out) {
  const auto all = [&](Role role, MemberState state) {
    return std::all_of(members_.begin(), members_.end(), [&](const Member& m) {
      return m.role != role || m.state == state || (role == Role::kEvaluator && !m.present());
    });
  };
  // Regions have something to send after their last worker has finished.
  const bool regions_done = std::all_of(members_.begin(), members_.end(), [&](const Member& m) {
    return m.role != Role::kServer || !topology_.TierOfServer(m.rank).region.has_value() ||
           m.state == MemberState::kFinished;
  });
  if (roster_.phase == Phase::kRunning && all(Role::kWorker, MemberState::kFinished) &&
      regions_done) {
    trained_at_ = now;
    Advance(now, Phase::kFinishing, out);
  }
  if (roster_.phase == Phase::kFinishing && all(Role::kEvaluator, MemberState::kFinished)) {
    Stop(now, false, "every worker has finished", out);
  }
  if (stopping_since_.has_value() &&
      std::all_of(members_.begin(), members_.end(), [](const Member& m) {
        return !m.present() || m.state == MemberState::kStopped;
      })) {
    Finish(now, out);
  }
}

void SchedulerNode::OnEvaluation(Time now, const Evaluation& evaluation, Outbox& out) {
  for (const EvaluationReport& known : evaluations_) {
    if (known.evaluation.cut == evaluation.cut) return;
  }
  EvaluationReport report{running_since_.has_value() ? now - *running_since_ : Duration{},
                          evaluation};
  evaluations_.push_back(report);
  out.reports.push_back({now, std::move(report)});
}

void SchedulerNode::OnBarrier(NodeId from, const BarrierEnter& enter, Outbox& out) {
  const Member* member = MemberOf(from);
  if (!barriers_.contains(enter.name) && barriers_.size() >= kBarriersMax) {
    return out.SendTo(from, Refused{StatusCode::kResourceExhausted, false,
                                    StrCat("more than ", kBarriersMax, " barriers")});
  }
  std::set<std::uint32_t>& inside = barriers_[enter.name];
  const bool complete = inside.size() == options_.cluster.workers;
  inside.insert(member->rank);
  if (complete) return out.SendTo(from, BarrierRelease{enter.name});  // Our release was lost.
  if (inside.size() < options_.cluster.workers) return;
  for (const Member& m : members_) {
    if (m.role == Role::kWorker && m.present()) out.SendTo(m.node, BarrierRelease{enter.name});
  }
}

void SchedulerNode::LookForLost(Time now, Outbox& out) {
  for (Member& member : members_) {
    if (member.present() && now - member.heard >= timeouts_.patience) {
      if (roster_.phase == Phase::kForming) {  // Its place is free again.
        by_node_.erase(member.node);
        member.node = kNoNode;
        continue;
      }
      member.lost = now;
      ReportMembership(now, "lost", member,
                       StrCat(RoleName(member.role), " ", member.rank, " at ", member.address,
                              " has been silent for ", Seconds(now - member.heard),
                              " s (--patience): taken for lost"),
                       out);
      if (member.role == Role::kServer) {
        Stop(now, true, StrCat("server ", member.rank, " was lost with its part of the parameters"),
             out);
        return;
      }
    }
    if (member.lost.has_value() && member.role == Role::kWorker &&
        now - *member.lost >= timeouts_.rejoin) {
      Stop(now, true,
           StrCat("worker ", member.rank, " was lost and did not come back within ",
                  Seconds(timeouts_.rejoin), " s"),
           out);
      return;
    }
  }
  AdvanceIfDone(now, out);
}

// --- Ending ---

void SchedulerNode::Stop(Time now, bool failed, std::string reason, Outbox& out) {
  if (stopping_since_.has_value()) return;
  stopping_since_ = now;
  roster_.failed = failed;
  roster_.reason = std::move(reason);
  Advance(now, Phase::kStopping, out);
  AdvanceIfDone(now, out);
}

void SchedulerNode::Finish(Time now, Outbox& out) {
  SummaryReport summary{.failed = roster_.failed,
                        .reason = roster_.reason,
                        .members = CurrentStatus(now).members,
                        .evaluations = evaluations_};
  if (running_since_.has_value()) summary.running = trained_at_.value_or(now) - *running_since_;
  out.reports.push_back({now, std::move(summary)});
  out.Exit(roster_.failed ? Unavailable(StrCat("the run failed: ", roster_.reason)) : Status::Ok());
}

void SchedulerNode::Advance(Time now, Phase phase, Outbox& out) {
  roster_.phase = phase;
  ++roster_.epoch;
  out.reports.push_back({now, MembershipReport{.event = "phase",
                                               .role = Role::kScheduler,
                                               .phase = phase,
                                               .text = StrCat("the run is ", PhaseName(phase))}});
  Broadcast(out);
}

void SchedulerNode::Broadcast(Outbox& out) {
  for (const Member& member : members_) {
    if (member.present()) out.SendTo(member.node, roster_);
  }
}

// --- Telling people ---

StatusReply SchedulerNode::CurrentStatus(Time now) const {
  StatusReply reply{.phase = roster_.phase, .members = {}};
  if (running_since_.has_value())
    reply.running_ns = static_cast<std::uint64_t>((now - *running_since_).count());
  for (const Member& m : members_) {
    reply.members.push_back(
        {.role = m.role,
         .rank = m.rank,
         .present = m.present(),
         .address = m.address,
         .state = m.state,
         .silent_ns = m.node == kNoNode ? 0 : static_cast<std::uint64_t>((now - m.heard).count()),
         .statistics = m.statistics});
  }
  return reply;
}

void SchedulerNode::ReportMembership(Time now, const std::string& event, const Member& member,
                                     std::string text, Outbox& out) {
  out.reports.push_back(
      {now, MembershipReport{event, member.role, member.rank, roster_.phase, std::move(text)}});
}

void SchedulerNode::ReportProgress(Time now, Outbox& out) {
  ProgressReport report{.running = now - *running_since_};
  Histogram staleness;
  double loss = 0, workers = 0, wait_ns = 0;
  bool first = true;
  for (const Member& m : members_) {
    const Statistics& s = m.statistics;
    if (m.role == Role::kServer && m.rank == 0) {
      report.updates = s.version;
      report.lr = s.lr;
      staleness = s.staleness;
    }
    if (m.role != Role::kWorker) continue;
    report.samples += s.samples;
    report.rounds_min = first ? s.rounds : std::min(report.rounds_min, s.rounds);
    report.rounds_max = std::max(report.rounds_max, s.rounds);
    first = false;
    if (s.rounds > 0) {
      loss += s.loss;
      ++workers;
    }
    wait_ns += static_cast<double>(s.gate_wait_ns);
    report.bytes_pushed += s.bytes_pushed;
    report.bytes_pulled += s.bytes_pulled;
  }
  report.samples_planned = SamplesPlanned(options_, roster_.rounds);
  if (workers > 0) report.loss = loss / workers;
  if (staleness.count() > 0) {
    report.staleness_p50 = staleness.Quantile(0.5);
    report.staleness_p99 = staleness.Quantile(0.99);
  }
  if (report.running > Duration{}) {
    report.gate_wait_share =
        wait_ns / (static_cast<double>(report.running.count()) * options_.cluster.workers);
  }
  out.reports.push_back({now, report});
}

std::string SchedulerNode::Missing() const {
  std::vector<std::string> missing;
  for (const Member& member : members_) {
    if (!member.present()) missing.push_back(topology_.NameOf(member.role, member.rank));
  }
  const std::size_t count = missing.size();
  if (count > 8) missing.resize(8);
  return StrCat(StrJoin(missing), count > 8 ? StrCat(" and ", count - 8, " more") : "", " (",
                members_.size() - count, " of ", members_.size(), " are here)");
}

SchedulerNode::Member* SchedulerNode::MemberOf(NodeId node) {
  const auto it = by_node_.find(node);
  return it == by_node_.end() ? nullptr : &members_[it->second];
}

std::uint64_t SchedulerNode::StateDigest() const {
  Digest digest;
  digest.Add(roster_.epoch);
  digest.Add(static_cast<std::uint64_t>(roster_.phase));
  for (const Member& member : members_) {
    digest.Add(static_cast<std::uint64_t>(member.node));
    digest.Add(static_cast<std::uint64_t>(member.state));
  }
  return digest.value();
}

}  // namespace slackline
