// EvaluatorNode: looks at named cuts of the parameters on held-out data, outside every clock. It
// never holds training up: a cut it is too late for is skipped.
#ifndef SLACKLINE_WORKER_EVALUATOR_NODE_H_
#define SLACKLINE_WORKER_EVALUATOR_NODE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "core/config/options.h"
#include "core/runtime/node.h"
#include "core/session/member.h"
#include "core/session/session.h"
#include "worker/data/dataset.h"
#include "worker/models/model.h"

namespace slackline {

class EvaluatorNode : public Node {
 public:
  // REQUIRES valid options.
  EvaluatorNode(NodeId self, const Options& options, std::shared_ptr<const Model> model,
                std::shared_ptr<const Dataset> test);

  void OnStart(Time now, Outbox& out) override;
  void OnMessage(Time now, NodeId from, const Message& message, Outbox& out) override;
  void OnTimer(Time now, TimerId timer, Outbox& out) override;
  void OnJobDone(Time now, JobId job, Outbox& out) override;
  void OnInterrupt(Time now, Outbox& out) override;
  std::uint64_t StateDigest() const override;

 private:
  void BeginEvaluating(Time now, Outbox& out);
  void AskForCut(Time now, Outbox& out);
  void Evaluate(PullContent cut, Outbox& out);

  const Options options_;
  const std::shared_ptr<const Model> model_;
  const std::shared_ptr<const Dataset> test_;
  const std::shared_ptr<const std::vector<std::uint64_t>> examples_;  // All of the test data.
  Member member_;
  std::optional<Session> session_;
  std::uint64_t next_cut_ = 1;
  bool seen_last_ = false;
  std::shared_ptr<Evaluation> evaluating_;  // The job's result.
  std::deque<Evaluation> unacknowledged_;   // At most as many as cuts are made in a patience.
};

}  // namespace slackline

#endif  // SLACKLINE_WORKER_EVALUATOR_NODE_H_
