#include "core/policy/work_plan.h"

#include <algorithm>
#include <cmath>

namespace slackline {

double RelativeSpeed(const TimeOptions& time, std::uint32_t rank, std::uint32_t workers) {
  const auto speed = [&](std::uint32_t of) {
    return of < time.speeds.size() ? time.speeds[of] : 1.0;
  };
  double fastest = time.speeds.size() < workers ? 1.0 : 0.0;
  for (const double s : time.speeds) fastest = std::max(fastest, s);
  return speed(rank) / fastest;
}

std::uint32_t LocalStepsOf(const Options& options, std::uint32_t rank) {
  const RecipeOptions& recipe = options.recipe;
  if (recipe.step != "local") return 1;
  if (recipe.dynamic_local_steps == "off") return recipe.local_steps;
  const double share =
      recipe.local_steps * RelativeSpeed(options.time, rank, options.cluster.workers);
  const double steps = recipe.dynamic_local_steps == "ceil" ? std::ceil(share) : std::floor(share);
  return static_cast<std::uint32_t>(std::max(1.0, steps));
}

std::uint64_t SamplesOfRound(const Options& options, std::uint32_t rank) {
  return std::uint64_t{options.recipe.batch} * LocalStepsOf(options, rank);
}

std::uint64_t SamplesPlanned(const Options& options, std::uint64_t rounds) {
  if (options.cluster.samples > 0) return options.cluster.samples;
  std::uint64_t a_round = 0;
  for (std::uint32_t rank = 0; rank < options.cluster.workers; ++rank)
    a_round += SamplesOfRound(options, rank);
  return rounds * a_round;
}

}  // namespace slackline
