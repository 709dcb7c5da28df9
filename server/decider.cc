#include "server/decider.h"

#include <algorithm>

#include "core/base/check.h"

namespace slackline {

Result<std::unique_ptr<Decider>> Decider::Create(const Options& options, std::uint64_t rounds,
                                                 bool makes_cuts) {
  auto gate = MakeGate(options.recipe.gate, options.recipe.slack);
  if (!gate.ok()) return gate.status();
  auto collector = MakeCollector(options.recipe.collector, options.cluster.workers);
  if (!collector.ok()) return collector.status();
  auto schedule =
      LearningRate::Create(options.recipe, rounds * options.recipe.batch * options.cluster.workers);
  if (!schedule.ok()) return schedule.status();
  return std::unique_ptr<Decider>(new Decider(options, std::move(gate).value(),
                                              std::move(collector).value(), *schedule, rounds,
                                              makes_cuts));
}

Decider::Decider(const Options& options, std::unique_ptr<Gate> gate,
                 std::unique_ptr<Collector> collector, LearningRate schedule, std::uint64_t rounds,
                 bool makes_cuts)
    : recipe_(options.recipe),
      gate_(std::move(gate)),
      collector_(std::move(collector)),
      schedule_(schedule),
      makes_cuts_(makes_cuts && options.cluster.evaluate),
      cut_every_samples_(options.cluster.evaluate_every_samples > 0
                             ? options.cluster.evaluate_every_samples
                             : std::max<std::uint64_t>(1, rounds * options.recipe.batch *
                                                              options.cluster.workers / 10)),
      clocks_(options.cluster.workers),
      workers_(options.cluster.workers) {}

void Decider::OnStart(Log& log) { CutIfDue(log); }

void Decider::OnStaged(const OfferedPush& push, Log& log) {
  Worker& worker = workers_[push.rank];
  if (push.seq < worker.next_offer || !clocks_.IsActive(push.rank)) return;
  worker.ahead.emplace(push.seq, push);
  std::vector<Verdict> verdicts;
  for (auto it = worker.ahead.begin();
       it != worker.ahead.end() && it->first == worker.next_offer;) {
    collector_->Offer(clocks_, it->second, verdicts);
    ++worker.next_offer;
    it = worker.ahead.erase(it);
    Carry(std::move(verdicts), log);
    verdicts.clear();
  }
}

void Decider::Carry(std::vector<Verdict> verdicts, Log& log) {
  bool slowest_changed = false;
  for (const Verdict& verdict : verdicts) {
    Decision decision{.kind = verdict.apply ? Decision::Kind::kApply : Decision::Kind::kDiscard,
                      .pushes = {}};
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
    }
    log.push_back(std::move(decision));
    if (verdict.apply) CutIfDue(log);
    if (!slowest_changed) {
      for (const OfferedPush& push : verdict.pushes) TryRead(push.rank, log);
    }
  }
  if (slowest_changed) TryAllReads(log);
}

void Decider::OnRead(std::uint32_t rank, std::uint64_t request, std::uint64_t round,
                     std::uint64_t own, Log& log) {
  Worker& worker = workers_[rank];
  if (!clocks_.IsActive(rank)) return;
  if (!worker.read.has_value()) ++waiting_;
  worker.read = Read{request, round, own};
  TryRead(rank, log);
}

void Decider::TryRead(std::uint32_t rank, Log& log) {
  Worker& worker = workers_[rank];
  if (!worker.read.has_value()) return;
  const Read read = *worker.read;
  if (clocks_.clock(rank) < read.own || !gate_->Open(clocks_, rank, read.round)) return;
  worker.read.reset();
  --waiting_;
  log.push_back({.kind = Decision::Kind::kGrant,
                 .rank = rank,
                 .round = read.round,
                 .request = read.request,
                 .samples = samples_,
                 .data_begin = DataBegin(rank, read.round),
                 .pushes = {}});
}

void Decider::TryAllReads(Log& log) {
  if (waiting_ == 0) return;
  for (std::uint32_t rank = 0; rank < workers_.size(); ++rank) TryRead(rank, log);
}

std::uint64_t Decider::DataBegin(std::uint32_t rank, std::uint64_t round) {
  if (recipe_.data_order != "global") return 0;
  Worker& worker = workers_[rank];
  // A round that is read again, after a loss or a restart, keeps its place in the data.
  if (!worker.data_begin.has_value() || worker.data_round != round) {
    worker.data_round = round;
    worker.data_begin = data_cursor_;
    data_cursor_ += recipe_.batch;
  }
  return *worker.data_begin;
}

void Decider::OnOpen(std::uint32_t rank, NodeId sender, Log& log) {
  Worker& worker = workers_[rank];
  if (worker.read.has_value()) {
    worker.read.reset();
    --waiting_;
  }
  // What the old life staged but nobody decided or offered is dropped by all shards at this entry.
  worker.ahead.clear();
  log.push_back({.kind = Decision::Kind::kOpen,
                 .rank = rank,
                 .sender = sender,
                 .seq = worker.next_offer,
                 .pushes = {}});
}

void Decider::OnClose(std::uint32_t rank, Log& log) {
  if (!clocks_.IsActive(rank)) return;
  const bool slowest_changed = clocks_.Leave(rank);
  log.push_back({.kind = Decision::Kind::kLeave, .rank = rank, .pushes = {}});
  std::vector<Verdict> verdicts;
  collector_->OnLeave(clocks_, verdicts);
  Carry(std::move(verdicts), log);
  if (slowest_changed) TryAllReads(log);
  if (clocks_.active() == 0 && makes_cuts_) {
    log.push_back({.kind = Decision::Kind::kCut,
                   .cut = ++cuts_,
                   .samples = samples_,
                   .last = true,
                   .pushes = {}});
  }
}

void Decider::CutIfDue(Log& log) {
  if (!makes_cuts_ || samples_ < next_cut_at_) return;
  log.push_back({.kind = Decision::Kind::kCut, .cut = ++cuts_, .samples = samples_, .pushes = {}});
  next_cut_at_ = (samples_ / cut_every_samples_ + 1) * cut_every_samples_;
}

void Decider::AddTo(Digest& digest) const {
  digest.Add(samples_);
  digest.Add(data_cursor_);
  digest.Add(cuts_);
  for (std::uint32_t rank = 0; rank < clocks_.workers(); ++rank) {
    digest.Add(clocks_.clock(rank) * 2 + (clocks_.IsActive(rank) ? 1 : 0));
  }
}

}  // namespace slackline
