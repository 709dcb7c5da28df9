#include "core/policy/topology.h"

#include <gtest/gtest.h>

#include "core/policy/work_plan.h"

namespace slackline {
namespace {

ClusterOptions Regional() {
  ClusterOptions cluster;
  cluster.topology = "regional";
  cluster.regions = 3;
  cluster.global_region = 1;
  cluster.workers_per_region = {2, 0, 3};
  cluster.workers = 5;
  cluster.servers = 2;
  return cluster;
}

TEST(TopologyTest, FlatIsOneTierOfAllWorkers) {
  ClusterOptions cluster;
  cluster.workers = 4;
  cluster.servers = 3;
  cluster.regions = 2;
  const Topology topology(cluster);
  EXPECT_EQ(topology.servers(), 3u);
  EXPECT_EQ(topology.TierOfWorker(3).clients, 4u);
  EXPECT_FALSE(topology.TierOfServer(2).region.has_value());
  EXPECT_EQ(topology.RegionOf(Role::kWorker, 1), 0u);
  EXPECT_EQ(topology.RegionOf(Role::kWorker, 2), 1u);
  EXPECT_EQ(topology.RegionOf(Role::kServer, 2), 0u);
}

TEST(TopologyTest, RanksRunThroughTheTiers) {
  const Topology topology(Regional());
  EXPECT_EQ(topology.servers(), 8u);
  EXPECT_TRUE(topology.TierOfServer(1).of_regions);
  EXPECT_EQ(topology.TierOfServer(1).clients, 3u);
  const Tier last = topology.TierOfServer(7);
  EXPECT_EQ(last.region, 2u);
  EXPECT_EQ(last.first_server, 6u);
  EXPECT_EQ(last.first_client, 2u);
  EXPECT_EQ(last.clients, 3u);
  EXPECT_EQ(topology.RegionTier(1).clients, 0u);
  EXPECT_EQ(topology.TierOfWorker(1).region, 0u);
  EXPECT_EQ(topology.TierOfWorker(2).region, 2u);  // Past the region without workers.
  EXPECT_EQ(topology.RegionOf(Role::kServer, 0), 1u);
  EXPECT_EQ(topology.RegionOf(Role::kServer, 3), 0u);
  EXPECT_EQ(topology.RegionOf(Role::kEvaluator, 0), 1u);
  EXPECT_EQ(topology.NameOf(Role::kServer, 7), "server 7 (region 2)");
  EXPECT_EQ(topology.NameOf(Role::kServer, 1), "server 1");
}

// The machines of the HALoS paper, and its published vectors of local steps.
TEST(WorkPlanTest, LocalStepsAreThoseOfThePaper) {
  Options options;
  options.cluster.workers = 16;
  options.time.speeds = {.232, .907, .828, .347, .574, .531, .722, .194,
                         .852, .132, .896, .107, .827, .515, .527, .788};
  options.recipe.step = "local";
  options.recipe.dynamic_local_steps = "ceil";
  const auto steps = [&](std::uint32_t most) {
    options.recipe.local_steps = most;
    std::vector<std::uint32_t> all;
    for (std::uint32_t rank = 0; rank < 16; ++rank) all.push_back(LocalStepsOf(options, rank));
    return all;
  };
  EXPECT_EQ(steps(8), (std::vector<std::uint32_t>{3, 8, 8, 4, 6, 5, 7, 2, 8, 2, 8, 1, 8, 5, 5, 7}));
  EXPECT_EQ(steps(32), (std::vector<std::uint32_t>{9, 32, 30, 13, 21, 19, 26, 7, 31, 5, 32, 4, 30,
                                                   19, 19, 28}));
  options.recipe.dynamic_local_steps = "floor";
  EXPECT_EQ(steps(8)[11], 1u);  // Never nothing.
  EXPECT_EQ(steps(8)[0], 2u);
}

TEST(WorkPlanTest, WorkersBeyondTheListCountAsTheFastestMayBe) {
  TimeOptions time;
  time.speeds = {0.5};
  EXPECT_EQ(RelativeSpeed(time, 0, 2), 0.5);
  EXPECT_EQ(RelativeSpeed(time, 1, 2), 1.0);
  EXPECT_EQ(RelativeSpeed(time, 0, 1), 1.0);
}

TEST(WorkPlanTest, TheRunIsItsBudgetOrItsRounds) {
  Options options;
  options.cluster.workers = 2;
  options.recipe.batch = 10;
  options.recipe.step = "local";
  options.recipe.local_steps = 4;
  options.recipe.dynamic_local_steps = "ceil";
  options.time.speeds = {1.0, 0.5};
  EXPECT_EQ(SamplesOfRound(options, 1), 20u);
  EXPECT_EQ(SamplesPlanned(options, 3), 3 * 60u);
  options.cluster.samples = 7;
  EXPECT_EQ(SamplesPlanned(options, 3), 7u);
}

}  // namespace
}  // namespace slackline
