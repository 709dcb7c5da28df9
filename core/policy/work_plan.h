// WorkPlan: how much a round is, and how much the run. Pure functions of the options, so that
// workers, servers and the scheduler agree without a word.
#ifndef SLACKLINE_CORE_POLICY_WORK_PLAN_H_
#define SLACKLINE_CORE_POLICY_WORK_PLAN_H_

#include <cstdint>

#include "core/config/options.h"

namespace slackline {

// A worker's speed as a share of the fastest's among so many.
double RelativeSpeed(const TimeOptions& time, std::uint32_t rank, std::uint32_t workers);

// Local steps of one round: 1, or H, or with --dynamic-local-steps max(1, H * relative speed)
// rounded down or up (HALoS, Kim et al., ICML 2025: up).
std::uint32_t LocalStepsOf(const Options& options, std::uint32_t rank);

// Samples behind one push of this worker.
std::uint64_t SamplesOfRound(const Options& options, std::uint32_t rank);

// Samples of the whole run: --samples, or what `rounds` of every worker come to.
std::uint64_t SamplesPlanned(const Options& options, std::uint64_t rounds);

}  // namespace slackline

#endif  // SLACKLINE_CORE_POLICY_WORK_PLAN_H_
