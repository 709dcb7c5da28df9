// The update rules on the CPU: loops over the formulas of kernels/math, nothing else.
#include <cmath>
#include <limits>

#include "core/base/strings.h"
#include "kernels/math/adam.h"
#include "kernels/math/sgd.h"
#include "kernels/rule.h"

namespace slackline {
namespace {

// What the formulas take of RuleOptions.
struct RuleConstants {
  explicit RuleConstants(const RuleOptions& o)
      : momentum(static_cast<float>(o.momentum)),
        beta1(static_cast<float>(o.beta1)),
        beta2(static_cast<float>(o.beta2)),
        epsilon(static_cast<float>(o.epsilon)),
        weight_decay(static_cast<float>(o.weight_decay)),
        momentum_spread(static_cast<float>(o.momentum_spread)),
        momentum_delay(o.momentum_delay) {}
  float momentum, beta1, beta2, epsilon, weight_decay, momentum_spread;
  std::uint64_t momentum_delay;
};

class Sgd : public UpdateRule {
 public:
  explicit Sgd(const RuleConstants& h) : h_(h) {}
  std::string_view name() const override { return "sgd"; }
  std::size_t state_slots() const override { return 0; }
  void Apply(const float* before, float* after, const float* gradient, float* const*,
             std::size_t count, float lr, std::uint64_t) const override {
    for (std::size_t i = 0; i < count; ++i) {
      after[i] = math::Sgd(before[i], math::Decayed(gradient[i], h_.weight_decay, before[i]), lr);
    }
  }

 private:
  const RuleConstants h_;
};

// Rules with one state value a parameter, and one constant beside the learning rate.
template <float (*Formula)(float w, float g, float& state, float lr, float constant)>
class OneState : public UpdateRule {
 public:
  OneState(std::string_view name, float constant, float weight_decay)
      : name_(name), constant_(constant), weight_decay_(weight_decay) {}
  std::string_view name() const override { return name_; }
  std::size_t state_slots() const override { return 1; }
  void Apply(const float* before, float* after, const float* gradient, float* const* state,
             std::size_t count, float lr, std::uint64_t) const override {
    float* values = state[0];
    for (std::size_t i = 0; i < count; ++i) {
      const float g = math::Decayed(gradient[i], weight_decay_, before[i]);
      after[i] = Formula(before[i], g, values[i], lr, constant_);
    }
  }

 private:
  const std::string_view name_;  // A literal.
  const float constant_;         // momentum, or epsilon
  const float weight_decay_;
};
using Momentum = OneState<math::Momentum>;
using Nesterov = OneState<math::Nesterov>;
using Adagrad = OneState<math::Adagrad>;

class DelayedNesterov : public UpdateRule {
 public:
  explicit DelayedNesterov(const RuleConstants& h)
      : weight_decay_(h.weight_decay),
        delay_(h.momentum_delay),
        momentum_(h.momentum),
        between_(h.momentum_spread * h.momentum),
        kick_((1.0f - h.momentum_spread * static_cast<float>(delay_) + h.momentum_spread) *
              h.momentum),
        one_over_delay_(1.0f / static_cast<float>(delay_)) {}
  std::string_view name() const override { return "delayed-nesterov"; }
  std::size_t state_slots() const override { return 2; }
  void Apply(const float* before, float* after, const float* gradient, float* const* state,
             std::size_t count, float lr, std::uint64_t step) const override {
    float* m = state[0];
    float* sum = state[1];
    const bool kick = step % delay_ == 0;
    for (std::size_t i = 0; i < count; ++i) {
      const float w = before[i];
      const float g = math::Decayed(gradient[i], weight_decay_, w);
      after[i] =
          kick
              ? math::DelayedNesterovKick(w, g, m[i], sum[i], lr, momentum_, kick_, one_over_delay_)
              : math::DelayedNesterovBetween(w, g, m[i], sum[i], lr, between_, one_over_delay_);
    }
  }

 private:
  const float weight_decay_;
  const std::uint64_t delay_;
  const float momentum_;
  const float between_;  // c mu
  const float kick_;     // (1 - c N + c) mu
  const float one_over_delay_;
};

class Adam : public UpdateRule {
 public:
  Adam(const RuleConstants& h, bool decoupled) : h_(h), decoupled_(decoupled) {}
  std::string_view name() const override { return decoupled_ ? "adamw" : "adam"; }
  std::size_t state_slots() const override { return 2; }
  void Apply(const float* before, float* after, const float* gradient, float* const* state,
             std::size_t count, float lr, std::uint64_t step) const override {
    const double t = static_cast<double>(step);
    const math::AdamStep s{
        .beta1 = h_.beta1,
        .beta2 = h_.beta2,
        .epsilon = h_.epsilon,
        .step_size = static_cast<float>(static_cast<double>(lr) /
                                        (1.0 - std::pow(static_cast<double>(h_.beta1), t))),
        .root_of_bias2 =
            static_cast<float>(std::sqrt(1.0 - std::pow(static_cast<double>(h_.beta2), t))),
        .keep = decoupled_ ? 1.0f - lr * h_.weight_decay : 1.0f};
    const float l2 = decoupled_ ? 0.0f : h_.weight_decay;
    float* m = state[0];
    float* v = state[1];
    for (std::size_t i = 0; i < count; ++i) {
      after[i] = math::Adam(before[i], math::Decayed(gradient[i], l2, before[i]), m[i], v[i], s);
    }
  }

 private:
  const RuleConstants h_;
  const bool decoupled_;
};

Status CheckRange(const char* what, float value, float low, float high, bool high_included) {
  if (value >= low && (value < high || (high_included && value == high))) return Status::Ok();
  return InvalidArgument(StrCat(what, " is ", value, "; it must lie in [", low, ", ", high,
                                high_included ? "]" : ")"));
}

}  // namespace

std::vector<std::string_view> RuleNames() {
  return {"sgd", "momentum", "nesterov", "delayed-nesterov", "adagrad", "adam", "adamw"};
}

Result<std::unique_ptr<UpdateRule>> MakeRule(const RuleOptions& options) {
  const RuleConstants h(options);
  const std::string& name = options.name;
  const Status checks[] = {
      CheckRange("momentum", h.momentum, 0, 1, false), CheckRange("beta1", h.beta1, 0, 1, false),
      CheckRange("beta2", h.beta2, 0, 1, false),
      // Above zero, also once it is fp32: else a zero gradient gives 0 / 0.
      CheckRange("epsilon", h.epsilon, std::numeric_limits<float>::min(), 1, true),
      CheckRange("weight decay", h.weight_decay, 0, 1, true),
      CheckRange("momentum spread", h.momentum_spread, 0, 1, true),
      CheckRange("momentum delay", static_cast<float>(h.momentum_delay), 1, 1 << 20, true)};
  for (const Status& check : checks) {
    if (!check.ok()) return check;
  }
  if (name == "sgd") return std::unique_ptr<UpdateRule>(new Sgd(h));
  if (name == "momentum")
    return std::unique_ptr<UpdateRule>(new Momentum("momentum", h.momentum, h.weight_decay));
  if (name == "nesterov")
    return std::unique_ptr<UpdateRule>(new Nesterov("nesterov", h.momentum, h.weight_decay));
  if (name == "delayed-nesterov") return std::unique_ptr<UpdateRule>(new DelayedNesterov(h));
  if (name == "adagrad")
    return std::unique_ptr<UpdateRule>(new Adagrad("adagrad", h.epsilon, h.weight_decay));
  if (name == "adam") return std::unique_ptr<UpdateRule>(new Adam(h, /*decoupled=*/false));
  if (name == "adamw") return std::unique_ptr<UpdateRule>(new Adam(h, /*decoupled=*/true));
  return InvalidArgument(StrCat("no rule '", name, "'; there are ", StrJoin(RuleNames())));
}

}  // namespace slackline
