// WorkerNode: pull, compute, push, until its rounds are done. What it computes is a Model on a
// Dataset, as a job; what it may read, and when, is the servers' to say.
#ifndef SLACKLINE_WORKER_WORKER_NODE_H_
#define SLACKLINE_WORKER_WORKER_NODE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/config/options.h"
#include "core/runtime/node.h"
#include "core/session/member.h"
#include "core/session/session.h"
#include "worker/data/data_order.h"
#include "worker/data/dataset.h"
#include "worker/local_optimizer.h"
#include "worker/models/model.h"

namespace slackline {

// How many rounds each worker does: --rounds, or --epochs over the data shared by all workers; as
// many as it can where --samples ends the run.
std::uint64_t RoundsOf(const Options& options, const Dataset& train);

class WorkerNode : public Node {
 public:
  // REQUIRES valid options; `train` may be empty only for models that need no data.
  WorkerNode(NodeId self, const Options& options, std::shared_ptr<const Model> model,
             std::shared_ptr<const Dataset> train);

  void OnStart(Time now, Outbox& out) override;
  void OnMessage(Time now, NodeId from, const Message& message, Outbox& out) override;
  void OnTimer(Time now, TimerId timer, Outbox& out) override;
  void OnJobDone(Time now, JobId job, Outbox& out) override;
  void OnInterrupt(Time now, Outbox& out) override;
  std::uint64_t StateDigest() const override;

 private:
  // A round from its parameters to its push.
  struct Round {
    std::uint64_t number = 0;
    std::vector<std::uint64_t> examples;
    PullContent parameters;
    Time started{};
    // The job's result; the job alone touches it until it is done.
    struct Result {
      Buffer gradient;  // Or what stands for it: where the round began less where it ended.
      std::vector<Rows> rows;
      double loss = 0;
      bool finite = true;
    };
    std::shared_ptr<Result> result;
    bool computed = false;
  };

  void BeginTraining(Time now, Outbox& out);
  void Carry(Time now, std::vector<SessionEvent> events, Outbox& out);
  // Does whatever can be done next.
  void GoOn(Time now, Outbox& out);
  void AskForRound(Time now, std::uint64_t number, Outbox& out);
  // How many of its own pushes a round's read must hold: all; with prefetch, all but those that may
  // still be under way.
  std::uint64_t OwnFor(std::uint64_t round) const;
  void Compute(Time now, PullContent parameters, Outbox& out);
  void PushRound(Time now, Outbox& out);
  std::vector<std::uint64_t> ExamplesOf(std::uint64_t round, std::uint64_t data_begin) const;
  // What a round computes, to be run on any thread.
  std::function<void()> GradientJob(const Round& round) const;
  std::function<void()> LocalStepsJob(const Round& round) const;
  Statistics CurrentStatistics(Time now) const;

  const Options options_;
  const std::shared_ptr<const Model> model_;
  const std::shared_ptr<const Dataset> train_;
  const std::uint64_t rounds_;
  Member member_;
  std::uint32_t local_steps_ = 1;  // In a round, once the rank is known.
  std::uint64_t samples_of_round_ = 0;
  std::shared_ptr<LocalOptimizer> optimizer_;  // Of local steps; a job's while one is under way.
  std::optional<DataOrder> order_;
  std::optional<Session> session_;
  bool opened_ = false;
  bool closing_ = false;
  bool budget_used_ = false;     // There is no further round.
  std::uint64_t next_pull_ = 0;  // The round to be asked for next.
  Time pull_started_{};
  std::optional<PullContent> ready_;  // Parameters that came ahead of their use.
  std::optional<Round> round_;        // Being computed, or waiting to be pushed.
  Statistics statistics_;
};

}  // namespace slackline

#endif  // SLACKLINE_WORKER_WORKER_NODE_H_
