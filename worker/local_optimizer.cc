#include "worker/local_optimizer.h"

#include "core/base/check.h"
#include "kernels/clip.h"
#include "kernels/ops.h"

namespace slackline {

Result<std::unique_ptr<LocalOptimizer>> LocalOptimizer::Create(const RecipeOptions& recipe,
                                                               std::uint64_t total_samples,
                                                               std::shared_ptr<const Model> model) {
  SLACKLINE_CHECK(model->spec().tables.empty());
  auto schedule = LearningRate::Create(recipe.local_rule.lr, recipe, total_samples);
  if (!schedule.ok()) return schedule.status();
  auto rule = MakeRule(recipe.local_rule);
  if (!rule.ok()) return rule.status();
  RuleOptions bare = recipe.local_rule;
  bare.weight_decay = 0;
  auto without_decay = MakeRule(bare);
  if (!without_decay.ok()) return without_decay.status();
  return std::unique_ptr<LocalOptimizer>(new LocalOptimizer(
      recipe, *schedule, std::move(*rule), std::move(*without_decay), std::move(model)));
}

LocalOptimizer::LocalOptimizer(const RecipeOptions& recipe, LearningRate schedule,
                               std::unique_ptr<UpdateRule> rule,
                               std::unique_ptr<UpdateRule> without_decay,
                               std::shared_ptr<const Model> model)
    : clip_(recipe.clip),
      clip_norm_(static_cast<float>(recipe.clip_norm)),
      schedule_(schedule),
      rule_(std::move(rule)),
      without_decay_(std::move(without_decay)),
      model_(std::move(model)),
      state_(rule_->state_slots(), std::vector<float>(model_->spec().dense_elements(), 0.0f)) {}

LocalOptimizer::Outcome LocalOptimizer::Run(const Dataset& data,
                                            std::span<const std::uint64_t> examples,
                                            std::uint32_t steps, std::span<const float> start,
                                            std::uint64_t begun) {
  const std::size_t batch = examples.size() / steps;
  std::vector<float> parameters(start.begin(), start.end());
  std::vector<float> values(start.size());
  Gradient gradient{values, {}};
  double loss = 0;
  for (std::uint32_t step = 0; step < steps; ++step) {
    loss += model_->ComputeGradient(data, examples.subspan(step * batch, batch), {parameters, {}},
                                    gradient);
    ClipGradient(clip_, clip_norm_, model_->spec(), gradient.dense, gradient.rows);
    Step(parameters, values, static_cast<float>(schedule_.At(begun + step * batch)));
  }
  Outcome outcome{Buffer::Allocate(start.size() * sizeof(float)), loss / steps};
  Subtract(start.data(), parameters.data(), outcome.way_back.mutable_floats().data(), start.size());
  return outcome;
}

void LocalOptimizer::Step(std::span<float> parameters, std::span<const float> gradient, float lr) {
  ++steps_;
  std::size_t at = 0;
  std::vector<float*> state(state_.size());
  for (const TensorSpec& tensor : model_->spec().tensors) {
    for (std::size_t slot = 0; slot < state.size(); ++slot) state[slot] = state_[slot].data() + at;
    // Weight decay is for matrices; biases and scales go without, as is usual for AdamW.
    const UpdateRule& rule = tensor.shape.size() > 1 ? *rule_ : *without_decay_;
    rule.Apply(parameters.data() + at, parameters.data() + at, gradient.data() + at, state.data(),
               tensor.elements(), lr, steps_);
    at += tensor.elements();
  }
}

}  // namespace slackline
