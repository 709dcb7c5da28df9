// Decider: turns what happens (pushes staged, reads asked for, clients coming and going, answers
// from above) into the entries of a decision log. It owns the tier's clocks, gate, collector,
// schedule and, in a region, exchanges, and is pure: the same calls give the same entries.
//
// Clients are workers or, at the global tier over regions, regions. They are numbered from 0 within
// the tier; `client` is such a number.
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
#include "core/policy/exchange.h"
#include "core/policy/gate.h"
#include "core/policy/schedule.h"
#include "core/policy/topology.h"
#include "core/wire/messages.h"
#include "slackline/status.h"

namespace slackline {

class Decider {
 public:
  // `rounds` of each worker; `makes_cuts`: only one of several Deciders of the global tier may.
  // Errors: kInvalidArgument for an unknown gate, collector or schedule.
  static Result<std::unique_ptr<Decider>> Create(const Options& options, const Tier& tier,
                                                 std::uint64_t rounds, bool makes_cuts);

  using Log = std::vector<Decision>;

  void OnStart(Log& log);
  // A push lies complete at every shard concerned. In any order of seqs.
  void OnStaged(const OfferedPush& push, Log& log);
  // A client asks to read for `round`, with at least `own` of its own pushes in.
  void OnRead(std::uint32_t client, std::uint64_t request, std::uint64_t round, std::uint64_t own,
              Log& log);
  // `senders`: as SessionOpen's.
  void OnOpen(std::uint32_t client, NodeId sender, std::vector<NodeId> senders, Log& log);
  void OnClose(std::uint32_t client, Log& log);
  // Every shard of this region holds the answer to exchange `seq`, made when `global_samples` had
  // been trained on by all.
  void OnAnswered(std::uint64_t seq, std::uint64_t global_samples, Log& log);

  const ClockTable& clocks() const { return clocks_; }
  const Gate& gate() const { return *gate_; }
  std::uint64_t clock_spread_max() const { return spread_max_; }
  double lr() const { return lr_; }
  // Clients whose read waits at the gate.
  std::uint32_t waiting() const { return waiting_; }
  void AddTo(Digest& digest) const;

 private:
  struct Read {
    std::uint64_t request;
    std::uint64_t round;
    std::uint64_t own;
  };
  struct Client {
    std::map<std::uint64_t, OfferedPush> ahead;  // Staged before their predecessors; by seq.
    std::uint64_t next_offer = 0;                // The seq to be offered next.
    std::optional<Read> read;
    std::uint64_t begun_round = 0;          // The newest round granted, and ...
    std::optional<std::uint64_t> begun_at;  // ... the samples that all had begun before it.
  };

  Decider(const Options& options, const Tier& tier, std::unique_ptr<Gate> gate,
          std::unique_ptr<Collector> collector, LearningRate schedule, std::uint64_t rounds,
          bool makes_cuts);
  void Carry(std::vector<Verdict> verdicts, Log& log);
  void TryRead(std::uint32_t client, Log& log);
  void TryAllReads(Log& log);
  // The samples that all had begun before this round; nothing if --samples leaves none for it.
  std::optional<std::uint64_t> BeginRound(std::uint32_t client, std::uint64_t round);
  void CutIfDue(Log& log);
  // A region begins an exchange, or leaves for good.
  void ExchangeIfDue(Log& log);

  std::vector<std::uint64_t> samples_of_round_;  // By client.
  const std::uint64_t samples_budget_;           // 0: none.
  const std::unique_ptr<Gate> gate_;
  const std::unique_ptr<Collector> collector_;
  const LearningRate schedule_;
  const bool makes_cuts_;
  const std::uint64_t cut_every_samples_;
  ClockTable clocks_;
  std::vector<Client> clients_;
  std::optional<ExchangePolicy> exchanges_;  // A region's.
  bool detached_ = false;
  std::uint64_t samples_ = 0;  // In updates so far.
  std::uint64_t begun_ = 0;    // In rounds granted so far.
  std::uint64_t cuts_ = 0;
  std::uint64_t next_cut_at_ = 0;  // In samples.
  std::uint64_t spread_max_ = 0;
  std::uint32_t waiting_ = 0;
  double lr_ = 0;
};

}  // namespace slackline

#endif  // SLACKLINE_SERVER_DECIDER_H_
