#include "server/decider.h"

#include <algorithm>

#include "core/policy/work_plan.h"

namespace slackline {

namespace {

// The gate and the collector between regions are choices of their own.
Result<std::unique_ptr<Gate>> GateOf(const RecipeOptions& recipe, const Tier& tier) {
  return tier.of_regions ? MakeGate(recipe.region_gate, recipe.region_slack)
                         : MakeGate(recipe.gate, recipe.slack);
}
Result<std::unique_ptr<Collector>> CollectorOf(const RecipeOptions& recipe, const Tier& tier) {
  return MakeCollector(tier.of_regions ? "each" : recipe.collector, tier.clients);
}

// The schedule shapes the rate that meets gradients. Where clients push the outcome of steps of
// their own, theirs was the rate to shape.
Result<LearningRate> ScheduleOf(const Options& options, const Tier& tier, std::uint64_t rounds) {
  const RecipeOptions& recipe = options.recipe;
  const double lr = tier.region.has_value() ? recipe.region_rule.lr : recipe.rule.lr;
  if (tier.of_regions || recipe.step == "local") return LearningRate::Constant(lr);
  return LearningRate::Create(lr, recipe, SamplesPlanned(options, rounds));
}

std::uint64_t SamplesBetweenCuts(const Options& options, std::uint64_t rounds) {
  if (options.cluster.evaluate_every_samples > 0) return options.cluster.evaluate_every_samples;
  return std::max<std::uint64_t>(1, SamplesPlanned(options, rounds) / 10);
}

}  // namespace

Result<std::unique_ptr<Decider>> Decider::Create(const Options& options, const Tier& tier,
                                                 std::uint64_t rounds, bool makes_cuts) {
  auto gate = GateOf(options.recipe, tier);
  if (!gate.ok()) return gate.status();
  auto collector = CollectorOf(options.recipe, tier);
  if (!collector.ok()) return collector.status();
  auto schedule = ScheduleOf(options, tier, rounds);
  if (!schedule.ok()) return schedule.status();
  return std::unique_ptr<Decider>(new Decider(options, tier, std::move(gate).value(),
                                              std::move(collector).value(), *schedule, rounds,
                                              makes_cuts));
}

Decider::Decider(const Options& options, const Tier& tier, std::unique_ptr<Gate> gate,
                 std::unique_ptr<Collector> collector, LearningRate schedule, std::uint64_t rounds,
                 bool makes_cuts)
    : samples_of_round_(tier.clients, 0),
      samples_budget_(tier.of_regions ? 0 : options.cluster.samples),
      gate_(std::move(gate)),
      collector_(std::move(collector)),
      schedule_(schedule),
      makes_cuts_(makes_cuts && options.cluster.evaluate),
      cut_every_samples_(SamplesBetweenCuts(options, rounds)),
      clocks_(tier.clients),
      clients_(tier.clients) {
  if (!tier.of_regions) {
    for (std::uint32_t client = 0; client < tier.clients; ++client)
      samples_of_round_[client] = SamplesOfRound(options, tier.first_client + client);
  }
  if (tier.region.has_value()) {
    exchanges_.emplace(options.recipe.accumulate, options.recipe.uplink_reference == "lossless");
  }
}

void Decider::OnStart(Log& log) {
  CutIfDue(log);
  ExchangeIfDue(log);  // A region without workers leaves at once.
}

void Decider::OnStaged(const OfferedPush& push, Log& log) {
  Client& client = clients_[push.rank];
  if (push.seq < client.next_offer || !clocks_.IsActive(push.rank)) return;
  client.ahead.emplace(push.seq, push);
  std::vector<Verdict> verdicts;
  for (auto it = client.ahead.begin();
       it != client.ahead.end() && it->first == client.next_offer;) {
    collector_->Offer(clocks_, it->second, verdicts);
    ++client.next_offer;
    it = client.ahead.erase(it);
    Carry(std::move(verdicts), log);
    verdicts.clear();
  }
}

void Decider::Carry(std::vector<Verdict> verdicts, Log& log) {
  bool slowest_changed = false;
  for (const Verdict& verdict : verdicts) {
    Decision decision{.kind = verdict.apply ? Decision::Kind::kApply : Decision::Kind::kDiscard,
                      .pushes = {},
                      .senders = {}};
    std::size_t fit = 0;
    for (const OfferedPush& push : verdict.pushes) fit += push.rejected ? 0 : 1;
    std::uint64_t samples = 0;
    for (const OfferedPush& push : verdict.pushes) {
      // The mean over what can be applied (one push: itself, exactly).
      const float weight = push.rejected ? 0.0f : 1.0f / static_cast<float>(fit);
      decision.pushes.push_back({push.rank, push.seq, weight});
      if (!push.rejected) samples += push.samples;
      slowest_changed |= clocks_.Advance(push.rank);
      spread_max_ = std::max(spread_max_, clocks_.fastest() - clocks_.slowest());
    }
    if (verdict.apply) {
      lr_ = schedule_.At(samples_);
      samples_ += samples;
      decision.lr = lr_;
      decision.samples = samples_;
      if (exchanges_.has_value()) exchanges_->OnUpdate(samples_);
    }
    log.push_back(std::move(decision));
    if (verdict.apply) {
      CutIfDue(log);
      ExchangeIfDue(log);
    }
    if (!slowest_changed) {
      for (const OfferedPush& push : verdict.pushes) TryRead(push.rank, log);
    }
  }
  if (slowest_changed) TryAllReads(log);
}

void Decider::OnRead(std::uint32_t client, std::uint64_t request, std::uint64_t round,
                     std::uint64_t own, Log& log) {
  if (!clocks_.IsActive(client)) return;
  std::optional<Read>& read = clients_[client].read;
  if (!read.has_value()) ++waiting_;
  read = Read{request, round, own};
  TryRead(client, log);
}

void Decider::TryRead(std::uint32_t client, Log& log) {
  std::optional<Read>& waiting = clients_[client].read;
  if (!waiting.has_value()) return;
  const Read read = *waiting;
  if (clocks_.clock(client) < read.own || !gate_->Open(clocks_, client, read.round)) return;
  waiting.reset();
  --waiting_;
  const std::optional<std::uint64_t> begin = BeginRound(client, read.round);
  log.push_back({.kind = Decision::Kind::kGrant,
                 .rank = client,
                 .round = read.round,
                 .request = read.request,
                 .samples = samples_,
                 .data_begin = begin.value_or(0),
                 .last = !begin.has_value(),
                 .pushes = {},
                 .senders = {}});
}

void Decider::TryAllReads(Log& log) {
  if (waiting_ == 0) return;
  for (std::uint32_t client = 0; client < clients_.size(); ++client) TryRead(client, log);
}

std::optional<std::uint64_t> Decider::BeginRound(std::uint32_t client, std::uint64_t round) {
  Client& c = clients_[client];
  // A round that is read again, after a loss or a restart, keeps its place.
  if (c.begun_at.has_value() && c.begun_round == round) return c.begun_at;
  const std::uint64_t elsewhere = exchanges_.has_value() ? exchanges_->samples_elsewhere() : 0;
  const std::uint64_t begun = elsewhere + begun_;
  if (samples_budget_ > 0 && begun >= samples_budget_) return std::nullopt;
  begun_ += samples_of_round_[client];
  c.begun_round = round;
  c.begun_at = begun;
  return begun;
}

void Decider::OnOpen(std::uint32_t client, NodeId sender, std::vector<NodeId> senders, Log& log) {
  Client& c = clients_[client];
  if (c.read.has_value()) {
    c.read.reset();
    --waiting_;
  }
  // What the old life staged but nobody decided or offered is dropped by all shards at this entry.
  c.ahead.clear();
  log.push_back({.kind = Decision::Kind::kOpen,
                 .rank = client,
                 .sender = sender,
                 .seq = c.next_offer,
                 .pushes = {},
                 .senders = std::move(senders)});
}

void Decider::OnClose(std::uint32_t client, Log& log) {
  if (!clocks_.IsActive(client)) return;
  const bool slowest_changed = clocks_.Leave(client);
  log.push_back({.kind = Decision::Kind::kLeave, .rank = client, .pushes = {}, .senders = {}});
  std::vector<Verdict> verdicts;
  collector_->OnLeave(clocks_, verdicts);
  Carry(std::move(verdicts), log);
  if (slowest_changed) TryAllReads(log);
  if (clocks_.active() == 0 && makes_cuts_) {
    log.push_back({.kind = Decision::Kind::kCut,
                   .cut = ++cuts_,
                   .samples = samples_,
                   .last = true,
                   .pushes = {},
                   .senders = {}});
  }
  ExchangeIfDue(log);
}

void Decider::ExchangeIfDue(Log& log) {
  if (!exchanges_.has_value() || detached_) return;
  const bool draining = clocks_.active() == 0;
  if (const std::optional<Exchange> exchange = exchanges_->Begin(draining)) {
    log.push_back({.kind = Decision::Kind::kExchange,
                   .seq = exchange->seq,
                   .samples = exchange->samples,
                   .pushes = {},
                   .senders = {}});
  } else if (draining && !exchanges_->under_way()) {
    detached_ = true;
    log.push_back({.kind = Decision::Kind::kDetach, .pushes = {}, .senders = {}});
  }
}

void Decider::OnAnswered(std::uint64_t seq, std::uint64_t global_samples, Log& log) {
  if (!exchanges_.has_value() || !exchanges_->under_way() || seq != exchanges_->merged()) return;
  exchanges_->OnMerge(global_samples);
  log.push_back({.kind = Decision::Kind::kMerge,
                 .seq = seq,
                 .samples = global_samples,
                 .pushes = {},
                 .senders = {}});
  ExchangeIfDue(log);
}

void Decider::CutIfDue(Log& log) {
  if (!makes_cuts_ || samples_ < next_cut_at_) return;
  log.push_back({.kind = Decision::Kind::kCut,
                 .cut = ++cuts_,
                 .samples = samples_,
                 .pushes = {},
                 .senders = {}});
  next_cut_at_ = (samples_ / cut_every_samples_ + 1) * cut_every_samples_;
}

void Decider::AddTo(Digest& digest) const {
  digest.Add(samples_);
  digest.Add(begun_);
  digest.Add(exchanges_.has_value() ? exchanges_->merged() : 0);
  digest.Add(cuts_);
  for (std::uint32_t client = 0; client < clients_.size(); ++client) {
    digest.Add(clocks_.clock(client) * 2 + (clocks_.IsActive(client) ? 1 : 0));
  }
}

}  // namespace slackline
