#include "core/policy/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/strings.h"

namespace slackline {

Result<LearningRate> LearningRate::Create(double lr, const RecipeOptions& options,
                                          std::uint64_t total_samples) {
  LearningRate schedule;
  if (options.lr_schedule == "constant") {
    schedule.kind_ = Kind::kConstant;
  } else if (options.lr_schedule == "step") {
    schedule.kind_ = Kind::kStep;
    if (options.lr_step_samples == 0) {
      return InvalidArgument("--lr-schedule step needs --lr-step-samples above 0");
    }
  } else if (options.lr_schedule == "cosine") {
    schedule.kind_ = Kind::kCosine;
  } else {
    return InvalidArgument(
        StrCat("no lr schedule '", options.lr_schedule, "'; there are constant, step, cosine"));
  }
  schedule.lr_ = lr;
  schedule.batch_ = std::max<std::uint64_t>(1, options.batch);
  schedule.warmup_ = options.warmup_samples;
  schedule.step_ = options.lr_step_samples;
  schedule.step_factor_ = options.lr_step_factor;
  schedule.final_factor_ = options.lr_final_factor;
  schedule.total_ = total_samples;
  return schedule;
}

LearningRate LearningRate::Constant(double lr) {
  LearningRate schedule;
  schedule.lr_ = lr;
  return schedule;
}

double LearningRate::At(std::uint64_t samples) const {
  if (samples < warmup_) {
    const double reached = static_cast<double>(samples + batch_) / static_cast<double>(warmup_);
    return lr_ * std::min(1.0, reached);
  }
  switch (kind_) {
    case Kind::kConstant:
      return lr_;
    case Kind::kStep:
      return lr_ * std::pow(step_factor_, static_cast<double>(samples / step_));
    case Kind::kCosine: {
      const double span = total_ > warmup_ ? static_cast<double>(total_ - warmup_) : 1.0;
      const double x = std::min(1.0, static_cast<double>(samples - warmup_) / span);
      const double wave = 0.5 * (1.0 + std::cos(std::numbers::pi * x));
      return lr_ * (final_factor_ + (1.0 - final_factor_) * wave);
    }
  }
  return lr_;
}

}  // namespace slackline
