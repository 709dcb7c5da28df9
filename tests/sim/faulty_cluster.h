// Clusters whose network loses, repeats and reorders, with pushes of integers that must add up.
#ifndef SLACKLINE_TESTS_SIM_FAULTY_CLUSTER_H_
#define SLACKLINE_TESTS_SIM_FAULTY_CLUSTER_H_

#include <cstdint>
#include <vector>

#include "tests/support/sim_cluster.h"

namespace slackline::testing {

// 8 workers of `rounds` pushes each; servers and scope of decisions go by the seed.
inline Options FaultyCluster(std::uint64_t seed, std::uint64_t rounds) {
  Options options = SmallCluster();
  options.cluster.seed = seed;
  options.cluster.workers = 8;
  options.cluster.servers = 1 + static_cast<std::uint32_t>(seed % 3);
  options.cluster.rounds = rounds;
  options.cluster.segment_bytes = 32;
  options.network.patience = 4s;
  options.recipe.decisions = seed % 2 == 0 ? "tier" : "shard";
  options.sim.loss = 0.02;
  options.sim.duplicate = 0.05;
  options.sim.reorder = 0.1;
  options.sim.reorder_ms = 30;
  options.sim.link_latency_ms = 0.5;
  return options;
}

// What the parameters of MakeIntegers must be in the end.
inline std::vector<float> ExpectedSum(const Options& options, const Model& model,
                                      const Dataset& data) {
  std::vector<float> sum = IntegerSum(options, model, data, options.cluster.rounds);
  for (float& value : sum) value = 0.0f - value;
  return sum;
}

}  // namespace slackline::testing

#endif  // SLACKLINE_TESTS_SIM_FAULTY_CLUSTER_H_
