// Nothing is lost and nothing counts twice, whatever the network does.
#include <gtest/gtest.h>

#include "tests/support/sim_cluster.h"
#include "tests/support/status_matchers.h"

namespace slackline::testing {
namespace {

Options Faulty(std::uint64_t seed) {
  Options options = SmallCluster();
  options.cluster.seed = seed;
  options.cluster.workers = 8;
  options.cluster.servers = 1 + static_cast<std::uint32_t>(seed % 3);
  options.cluster.rounds = 100;
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

std::vector<float> Negated(std::vector<float> values) {
  for (float& v : values) v = 0.0f - v;
  return values;
}

TEST(ExactlyOnceTest, IntegerPushesAddUpUnderLossRepetitionAndReordering) {
  const auto model = MakeIntegers(37);
  const auto data = MakeNumbered(1000);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Options options = Faulty(seed);
    SimCluster cluster(options, model, data);
    ASSERT_THAT(cluster.Run(), IsOk());
    EXPECT_EQ(cluster.DenseParameters(), Negated(IntegerSum(options, *model, *data, 100)));
  }
}

TEST(ExactlyOnceTest, AWorkerThatComesBackGoesOnWhereItWas) {
  const auto model = MakeIntegers(37);
  const auto data = MakeNumbered(1000);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Options options = Faulty(seed);
    options.network.patience = 1s;
    options.network.join_timeout = 1000s;
    options.sim.crash = {"worker1:400:900", "worker3:700:2500"};
    options.recipe.gate = seed % 3 == 0 ? "bsp" : "ssp";
    options.recipe.collector = seed % 3 == 0 ? "all" : "each";
    if (seed % 3 == 0) options.recipe.decisions = "auto";
    SimCluster cluster(options, model, data);
    ASSERT_THAT(cluster.Run(), IsOk()) << ::testing::PrintToString(cluster.notes());
    std::vector<float> sum = IntegerSum(options, *model, *data, 100);
    if (seed % 3 == 0) {  // The mean of eight.
      for (float& v : sum) v /= 8.0f;
    }
    EXPECT_EQ(cluster.DenseParameters(), Negated(sum));
  }
}

}  // namespace
}  // namespace slackline::testing
