// Decider: turns what happens (pushes staged, reads asked for, workers coming and going) into the
// entries of a decision log. It owns the tier's clocks, gate, collector and schedule, and is pure:
// the same calls give the same entries.
//
// Under --decisions tier the lead's Decider decides for all shards. Under --decisions shard every
// server has its own, for recipes in which they cannot differ in what matters.
#ifndef SLACKLINE_SERVER_DECIDER_H_
#define SLACKLINE_SERVER_DECIDER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/digest.h"
#include "core/config/options.h"
#include "core/policy/clock_table.h"
#include "core/policy/collector.h"
#include "core/policy/gate.h"
#include "core/policy/schedule.h"
#include "core/wire/messages.h"
#include "slackline/status.h"

namespace slackline {

class Decider {
 public:
  // `rounds` of each worker; `makes_cuts`: only one of several Deciders of a tier may.
  // Errors: kInvalidArgument for an unknown gate, collector or schedule.
  static Result<std::unique_ptr<Decider>> Create(const Options& options, std::uint64_t rounds,
                                                 bool makes_cuts);

  using Log = std::vector<Decision>;

  void OnStart(Log& log);
  // A push lies complete at every shard concerned. In any order of seqs.
  void OnStaged(const OfferedPush& push, Log& log);
  // A worker asks to read for `round`, with at least `own` of its own pushes in.
  void OnRead(std::uint32_t rank, std::uint64_t request, std::uint64_t round, std::uint64_t own,
              Log& log);
  void OnOpen(std::uint32_t rank, NodeId sender, Log& log);
  void OnClose(std::uint32_t rank, Log& log);

  const ClockTable& clocks() const { return clocks_; }
  const Gate& gate() const { return *gate_; }
  std::uint64_t clock_spread_max() const { return spread_max_; }
  double lr() const { return lr_; }
  // Ranks whose read waits at the gate.
  std::uint32_t waiting() const { return waiting_; }
  void AddTo(Digest& digest) const;

 private:
  struct Read {
    std::uint64_t request;
    std::uint64_t round;
    std::uint64_t own;
  };
  struct Worker {
    std::map<std::uint64_t, OfferedPush> ahead;  // Staged before their predecessors; by seq.
    std::uint64_t next_offer = 0;                // The seq to be offered next.
    std::optional<Read> read;
    std::uint64_t data_round = 0;  // --data-order global: the place of this round.
    std::optional<std::uint64_t> data_begin;
  };

  Decider(const Options& options, std::unique_ptr<Gate> gate, std::unique_ptr<Collector> collector,
          LearningRate schedule, std::uint64_t rounds, bool makes_cuts);
  void Carry(std::vector<Verdict> verdicts, Log& log);
  void TryRead(std::uint32_t rank, Log& log);
  void TryAllReads(Log& log);
  std::uint64_t DataBegin(std::uint32_t rank, std::uint64_t round);
  void CutIfDue(Log& log);

  const RecipeOptions recipe_;
  const std::unique_ptr<Gate> gate_;
  const std::unique_ptr<Collector> collector_;
  const LearningRate schedule_;
  const bool makes_cuts_;
  const std::uint64_t cut_every_samples_;
  ClockTable clocks_;
  std::vector<Worker> workers_;    // By rank.
  std::uint64_t samples_ = 0;      // In updates so far.
  std::uint64_t data_cursor_ = 0;  // --data-order global: samples handed out.
  std::uint64_t cuts_ = 0;
  std::uint64_t next_cut_at_ = 0;  // In samples.
  std::uint64_t spread_max_ = 0;
  std::uint32_t waiting_ = 0;
  double lr_ = 0;
};

}  // namespace slackline

#endif  // SLACKLINE_SERVER_DECIDER_H_
