// LocalOptimizer: the local steps of a round (local SGD). It starts at the parameters that were
// pulled, takes H optimizer steps, and gives the way back as a pseudo-gradient. Its state (momenta,
// step count) stays with the worker from round to round and is never sent.
//
// Threads: one at a time.
#ifndef SLACKLINE_WORKER_LOCAL_OPTIMIZER_H_
#define SLACKLINE_WORKER_LOCAL_OPTIMIZER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/buffer.h"
#include "core/config/options.h"
#include "core/policy/schedule.h"
#include "kernels/rule.h"
#include "slackline/status.h"
#include "worker/data/dataset.h"
#include "worker/models/model.h"

namespace slackline {

class LocalOptimizer {
 public:
  // REQUIRES a model without tables.
  // Errors: kInvalidArgument for a rule or schedule that does not exist.
  static Result<std::unique_ptr<LocalOptimizer>> Create(const RecipeOptions& recipe,
                                                        std::uint64_t total_samples,
                                                        std::shared_ptr<const Model> model);

  struct Outcome {
    Buffer way_back;  // start - end.
    double loss = 0;  // Mean over the steps.
  };
  // `steps` steps from `start`, each on an equal share of `examples`, in their order. The learning
  // rate is that of the samples begun by all workers: `begun` at the round's start, and this
  // round's own from there on.
  Outcome Run(const Dataset& data, std::span<const std::uint64_t> examples, std::uint32_t steps,
              std::span<const float> start, std::uint64_t begun);

 private:
  LocalOptimizer(const RecipeOptions& recipe, LearningRate schedule,
                 std::unique_ptr<UpdateRule> rule, std::unique_ptr<UpdateRule> without_decay,
                 std::shared_ptr<const Model> model);
  void Step(std::span<float> parameters, std::span<const float> gradient, float lr);

  const std::string clip_;
  const float clip_norm_;
  const LearningRate schedule_;
  const std::unique_ptr<UpdateRule> rule_;
  const std::unique_ptr<UpdateRule> without_decay_;  // For biases and the like.
  const std::shared_ptr<const Model> model_;
  std::vector<std::vector<float>> state_;  // By slot, all parameters each.
  std::uint64_t steps_ = 0;                // In all rounds.
};

}  // namespace slackline

#endif  // SLACKLINE_WORKER_LOCAL_OPTIMIZER_H_
