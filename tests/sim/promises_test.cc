// The promises of docs/PROTOCOL.md, judged by the checker that users run, over seeded faults.
#include <gtest/gtest.h>

#include <filesystem>

#include "core/runtime/event_log.h"
#include "core/runtime/replay.h"
#include "slackline/random.h"
#include "tests/support/fresh_folder.h"
#include "tests/support/sim_cluster.h"
#include "tests/support/status_matchers.h"
#include "tools/verify.h"

namespace slackline::testing {
namespace {

// Gate, slack, collector, scope, prefetch, sizes and faults, all drawn from the seed.
Options Drawn(std::uint64_t seed) {
  RandomSequence draw(RandomStream(seed, RandomPurpose::kTest, 1));
  Options options = SmallCluster();
  options.cluster.seed = seed;
  options.cluster.workers = 2 + static_cast<std::uint32_t>(draw.Below(5));
  options.cluster.servers = 1 + static_cast<std::uint32_t>(draw.Below(3));
  options.cluster.rounds = 25;
  options.cluster.segment_bytes = 32;
  options.cluster.prefetch = draw.Chance(0.3);
  options.cluster.max_inflight_pushes = 2 + static_cast<std::uint32_t>(draw.Below(2));
  options.network.patience = 2s;
  options.recipe.rule.lr = 0.01;
  options.recipe.gate = draw.Chance(0.3) ? "bsp" : "ssp";
  options.recipe.slack = static_cast<std::uint32_t>(draw.Below(4));
  options.recipe.collector = draw.Chance(0.3) ? "all" : "each";
  options.recipe.decisions = draw.Chance(0.5) ? "auto" : "tier";
  options.recipe.data_order = draw.Chance(0.3) ? "global" : "shard";
  options.time.inject = {"slow:worker1:5x"};
  options.sim.loss = draw.Uniform() * 0.03;
  options.sim.duplicate = draw.Uniform() * 0.05;
  options.sim.reorder = draw.Uniform() * 0.2;
  options.sim.reorder_ms = 40;
  options.sim.link_latency_ms = draw.Uniform() * 3;
  if (draw.Chance(0.4)) options.sim.crash = {"worker0:300:700"};
  if (draw.Chance(0.3)) options.sim.partition = {"worker1:500:900"};
  return options;
}

TEST(PromisesTest, HoldOnEverySeed) {
  std::uint64_t lossy = 0, restarted = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Options options = Drawn(seed);
    const std::string folder = FreshFolder();
    SimCluster cluster(options, MakeQuadratic(37, 1.0f), MakeNumbered(64));
    cluster.WriteEventLogs(folder);

    ASSERT_THAT(cluster.Run(), IsOk());

    const Result<Verification> verification = VerifyRun(folder, VerifyOptionsFrom(options));
    ASSERT_THAT(verification, IsOk());
    EXPECT_TRUE(verification->ok()) << verification->ToString();
    EXPECT_EQ(verification->applied,
              options.cluster.workers * options.cluster.servers * options.cluster.rounds);
    lossy += cluster.runtime().network().Total().dropped > 0 ? 1 : 0;
    restarted += verification->killed > 0 ? 1 : 0;
  }
  EXPECT_GT(lossy, 100u);  // The faults did happen.
  EXPECT_GT(restarted, 30u);
}

// The checker must notice a gate that lets workers through: promise less slack than was run with.
TEST(PromisesTest, AnOpenGateIsNoticed) {
  Options options = SmallCluster();
  options.recipe.gate = "asp";
  options.recipe.rule.lr = 0.01;
  options.time.inject = {"slow:worker1:5x"};
  const std::string folder = FreshFolder();
  SimCluster cluster(options, MakeQuadratic(8, 1.0f), MakeNumbered(64));
  cluster.WriteEventLogs(folder);
  ASSERT_THAT(cluster.Run(), IsOk());
  options.recipe.gate = "ssp";
  options.recipe.slack = 2;

  const Result<Verification> verification = VerifyRun(folder, VerifyOptionsFrom(options));

  ASSERT_THAT(verification, IsOk());
  EXPECT_FALSE(verification->ok());
}

// Nothing can be said of a role whose log is not there: that is no success.
TEST(PromisesTest, AMissingLogIsNamed) {
  for (const auto& [file, names] :
       {std::pair("server-1.bin", "server 1"), std::pair("worker-2.bin", "worker 2")}) {
    const Options options = SmallCluster();
    const std::string folder = FreshFolder();
    SimCluster cluster(options, MakeQuadratic(8, 0.01f), MakeNumbered(64));
    cluster.WriteEventLogs(folder);
    ASSERT_THAT(cluster.Run(), IsOk());
    ASSERT_THAT(VerifyRun(folder, VerifyOptionsFrom(options)), IsOk());

    std::filesystem::remove(folder + "/events/" + file);

    EXPECT_THAT(VerifyRun(folder, VerifyOptionsFrom(options)),
                StatusIs(StatusCode::kNotFound, names));
  }
}

TEST(PromisesTest, ReplayingTheLogsGivesIdenticalOutboxes) {
  for (const std::uint64_t seed : {3u, 4u, 5u, 6u, 7u, 8u}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::string folder = FreshFolder();
    SimCluster cluster(Drawn(seed), MakeQuadratic(37, 1.0f), MakeNumbered(64));
    cluster.WriteEventLogs(folder);
    ASSERT_THAT(cluster.Run(), IsOk());
    const Result<std::vector<EventLog>> logs = ReadEventLogs(folder);
    ASSERT_THAT(logs, IsOk());

    const Result<ReplayReport> replay =
        Replay(*logs, [&](const EventLogHeader& whose) { return cluster.MakeNode(whose); });

    ASSERT_THAT(replay, IsOk());
    EXPECT_TRUE(replay->identical())
        << (replay->difference.has_value() ? replay->difference->ToString() : "stopped");
    EXPECT_GT(replay->inputs, 100u);
  }
}

}  // namespace
}  // namespace slackline::testing
