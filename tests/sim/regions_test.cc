// Regions with servers of their own, over whole clusters in virtual time.
#include <gtest/gtest.h>

#include <cmath>

#include "slackline/random.h"
#include "tests/sim/faulty_cluster.h"
#include "tests/support/fresh_folder.h"
#include "tests/support/sim_cluster.h"
#include "tests/support/status_matchers.h"
#include "tools/verify.h"

namespace slackline::testing {
namespace {

Options WithRegions(Options options, std::vector<std::uint32_t> workers) {
  options.cluster.topology = "regional";
  options.cluster.regions = static_cast<std::uint32_t>(workers.size());
  options.cluster.workers = 0;
  for (const std::uint32_t count : workers) options.cluster.workers += count;
  options.cluster.workers_per_region = std::move(workers);
  options.recipe.decisions = "auto";
  options.recipe.region_rule.name = "sgd";
  options.recipe.region_rule.lr = 1.0;
  options.recipe.accumulate = 3;
  options.recipe.merge_weight = 0.5;
  return options;
}

Options LocalSgd() {
  Options options = SmallCluster();
  options.recipe.step = "local";
  options.recipe.local_steps = 3;
  options.recipe.local_rule.name = "adamw";
  options.recipe.local_rule.lr = 0.05;
  options.recipe.batch = 2;
  return options;
}

std::vector<float> Trained(const Options& options) {
  SimCluster cluster(options, MakeQuadratic(37, 1.0f), MakeNumbered(64));
  EXPECT_THAT(cluster.Run(), IsOk()) << ::testing::PrintToString(cluster.notes());
  return cluster.DenseParameters();
}

// Kim et al., ICML 2025: with one region that exchanges after every update and takes the global
// parameters as they are, nothing is left of the hierarchy.
TEST(RegionsTest, OneRegionThatAlwaysExchangesIsFlat) {
  for (const char* reference : {"paper", "lossless"}) {
    Options regional = WithRegions(LocalSgd(), {4});
    regional.recipe.accumulate = 1;
    regional.recipe.merge_weight = 1.0;
    regional.recipe.uplink_reference = reference;

    const std::vector<float> hierarchy = Trained(regional);
    const std::vector<float> flat = Trained(LocalSgd());

    ASSERT_EQ(hierarchy.size(), flat.size());
    for (std::size_t i = 0; i < flat.size(); ++i)
      EXPECT_NEAR(hierarchy[i], flat[i], 1e-6) << reference << " element " << i;
  }
}

TEST(RegionsTest, ARegionWithoutWorkersChangesNothing) {
  EXPECT_EQ(Trained(WithRegions(LocalSgd(), {2, 2, 0})), Trained(WithRegions(LocalSgd(), {2, 2})));
}

TEST(RegionsTest, TheNumberOfServersChangesNoBit) {
  Options options = WithRegions(LocalSgd(), {2, 2});
  options.recipe.rule = {.name = "delayed-nesterov", .lr = 0.6, .momentum = 0.5};
  options.recipe.rule.momentum_delay = 2;
  options.cluster.servers = 1;
  const std::vector<float> one = Trained(options);
  for (const std::uint32_t servers : {2u, 3u, 7u}) {
    options.cluster.servers = servers;
    EXPECT_EQ(Trained(options), one) << servers;
  }
}

// Integer pushes of all regions add up exactly at the global tier, whatever the network does, if
// every update is sent once.
TEST(RegionsTest, LosslessExchangesAddUpUnderFaults) {
  const auto model = MakeIntegers(37);
  const auto data = MakeNumbered(1000);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Options options = WithRegions(FaultyCluster(seed, 60), {3, 4, 1});
    options.recipe.uplink_reference = "lossless";
    options.recipe.merge_weight = 1.0;
    SimCluster cluster(options, model, data);

    ASSERT_THAT(cluster.Run(), IsOk()) << ::testing::PrintToString(cluster.notes());

    EXPECT_EQ(cluster.DenseParameters(), ExpectedSum(options, *model, *data));
  }
}

// The checker of the line above must notice updates that are never sent.
TEST(RegionsTest, ThePapersReferenceLosesWhatComesDuringAnExchange) {
  const auto model = MakeIntegers(37);
  const auto data = MakeNumbered(1000);
  Options options = WithRegions(FaultyCluster(1, 60), {3, 4, 1});
  options.recipe.merge_weight = 1.0;
  options.sim.link_latency_ms = 20;
  SimCluster cluster(options, model, data);

  ASSERT_THAT(cluster.Run(), IsOk());

  EXPECT_NE(cluster.DenseParameters(), ExpectedSum(options, *model, *data));
}

// Slack at both tiers, order, own pushes, exactly-once and the exchanges, over drawn faults.
TEST(RegionsTest, PromisesHoldOnEverySeed) {
  std::uint64_t exchanges = 0, lossy = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomSequence draw(RandomStream(seed, RandomPurpose::kTest, 2));
    Options options = WithRegions(SmallCluster(), {2, 1, 2});
    options.cluster.seed = seed;
    options.cluster.rounds = 25;
    options.cluster.servers = 1 + static_cast<std::uint32_t>(draw.Below(3));
    options.cluster.segment_bytes = 32;
    options.network.patience = 2s;
    options.recipe.gate = "ssp";
    options.recipe.slack = static_cast<std::uint32_t>(draw.Below(3));
    options.recipe.region_gate = draw.Chance(0.5) ? "ssp" : "asp";
    options.recipe.region_slack = static_cast<std::uint32_t>(draw.Below(3));
    options.recipe.accumulate = 1 + static_cast<std::uint32_t>(draw.Below(5));
    options.recipe.rule.lr = options.recipe.region_rule.lr = 0.1;
    options.time.inject = {"slow:worker1:5x"};
    options.sim.loss = draw.Uniform() * 0.03;
    options.sim.duplicate = draw.Uniform() * 0.05;
    options.sim.reorder = draw.Uniform() * 0.2;
    options.sim.link_latency_ms = draw.Uniform() * 10;
    if (draw.Chance(0.4)) options.sim.crash = {"worker0:300:700"};
    const std::string folder = FreshFolder();
    SimCluster cluster(options, MakeQuadratic(37, 0.1f), MakeNumbered(64));
    cluster.WriteEventLogs(folder);

    ASSERT_THAT(cluster.Run(), IsOk()) << ::testing::PrintToString(cluster.notes());

    const Result<Verification> verification = VerifyRun(folder, VerifyOptionsFrom(options));
    ASSERT_THAT(verification, IsOk());
    EXPECT_TRUE(verification->ok()) << verification->ToString();
    exchanges += verification->exchanges;
    lossy += cluster.runtime().network().Total().dropped > 0 ? 1 : 0;
  }
  EXPECT_GT(exchanges, 1000u);
  EXPECT_GT(lossy, 30u);
}

// The checker must notice regions that drift apart more than promised.
TEST(RegionsTest, AnOpenGateBetweenRegionsIsNoticed) {
  Options options = WithRegions(SmallCluster(), {2, 2});
  options.cluster.rounds = 60;
  options.recipe.rule.lr = options.recipe.region_rule.lr = 0.1;
  options.time.inject = {"slow:worker0:9x", "slow:worker1:9x"};
  const std::string folder = FreshFolder();
  SimCluster cluster(options, MakeQuadratic(8, 0.1f), MakeNumbered(64));
  cluster.WriteEventLogs(folder);
  ASSERT_THAT(cluster.Run(), IsOk());
  ASSERT_TRUE(VerifyRun(folder, VerifyOptionsFrom(options))->ok());
  options.recipe.region_gate = "ssp";
  options.recipe.region_slack = 1;

  EXPECT_FALSE(VerifyRun(folder, VerifyOptionsFrom(options))->ok());
}

// A budget of samples ends the run with that many, up to a round a worker.
TEST(RegionsTest, ABudgetOfSamplesEndsTheRun) {
  for (const bool regional : {false, true}) {
    Options options = LocalSgd();
    options.cluster.samples = 1000;
    options.time.inject = {"slow:worker0:7x"};
    if (regional) options = WithRegions(options, {2, 2});
    SimCluster cluster(options, MakeQuadratic(8, 0.1f), MakeNumbered(64));

    ASSERT_THAT(cluster.Run(), IsOk());

    std::uint64_t samples = 0, slowest = 1000;
    for (const MemberStatus& member : cluster.summary()->members) {
      if (member.role != Role::kWorker) continue;
      samples += member.statistics.samples;
      slowest = std::min(slowest, member.statistics.rounds);
    }
    EXPECT_GE(samples, 1000u);
    // A region hears of the other's samples with each exchange only.
    EXPECT_LE(samples, regional ? 1000u + 2 * 3 * 6 + 6 * 4 : 1005u);
    EXPECT_LT(slowest, 1000u / 6 / 4 / 2);  // Whoever is slow does less.
  }
}

// What happened to updates, in its order, with the times.
std::vector<SimCluster::Traced> Updates(const Options& options) {
  SimCluster cluster(options, MakeQuadratic(1000, 0.1f), MakeNumbered(64));
  EXPECT_THAT(cluster.Run(), IsOk());
  std::vector<SimCluster::Traced> updates;
  for (const SimCluster::Traced& traced : cluster.traces()) {
    const bool update = traced.event.kind == TraceEvent::Kind::kPushApplied ||
                        traced.event.kind == TraceEvent::Kind::kMerged;
    if (update) updates.push_back(traced);
  }
  return updates;
}

// Machines and links four times as fast: the same run in a quarter of the time.
TEST(RegionsTest, TimesScaleWithSpeedsAndBandwidths) {
  Options options = WithRegions(LocalSgd(), {2, 2, 1});
  options.recipe.rule.lr = options.recipe.region_rule.lr = 0.1;
  options.cluster.rounds = 40;
  options.network.patience = 24h;  // No repetition, whose time would not scale.
  options.network.join_timeout = 168h;
  options.time.compute_time = "const:13";
  options.time.speeds = {1.0, 0.7, 0.9, 0.35, 0.61};
  options.links.link_model = "ideal";
  options.links.region_gbps = {1, 0.003, 0.002, 0.003, 1, 0.0007, 0.002, 0.0007, 1};
  Options fast = options;
  for (double& speed : fast.time.speeds) speed *= 4;
  for (double& gbps : fast.links.region_gbps) gbps *= 4;

  const auto slow_updates = Updates(options), fast_updates = Updates(fast);

  ASSERT_EQ(slow_updates.size(), fast_updates.size());
  ASSERT_GT(slow_updates.size(), 200u);
  for (std::size_t i = 0; i < slow_updates.size(); ++i) {
    ASSERT_EQ(slow_updates[i].event, fast_updates[i].event) << i;
    // A round is four hops and a job, each rounded to a nanosecond.
    const auto hops = static_cast<double>(5 * 40 + 4 * slow_updates.size());
    EXPECT_NEAR(static_cast<double>(slow_updates[i].at.count()),
                4.0 * static_cast<double>(fast_updates[i].at.count()), 4 * hops)
        << i;
  }
}

// A transfer that takes many times as long as the shortest repetition is waited for, not repeated.
TEST(RegionsTest, ASlowLinkIsNotSwampedByRepetitions) {
  Options options = WithRegions(LocalSgd(), {2, 2});
  options.recipe.accumulate = 2;
  options.cluster.rounds = 60;
  options.recipe.rule.lr = options.recipe.region_rule.lr = 0.1;
  options.network.patience = 10s;
  options.time.compute_time = "const:4000";
  options.links.link_model = "ideal";
  options.links.region_gbps = {1, 4e-6, 4e-6, 1};  // 32,000 bits take 8 s.
  SimCluster cluster(options, MakeQuadratic(1000, 0.1f), MakeNumbered(64));

  ASSERT_THAT(cluster.Run(), IsOk()) << ::testing::PrintToString(cluster.notes());

  const MemberStatus* uplink = nullptr;
  for (const MemberStatus& member : cluster.summary()->members) {
    const bool far = member.role == Role::kServer && member.rank == 2 * options.cluster.servers;
    if (far) uplink = &member;
  }
  ASSERT_NE(uplink, nullptr);
  EXPECT_GT(uplink->statistics.exchanges, 10u);
  // The first one cannot know how long answers take.
  EXPECT_LE(uplink->statistics.pushes_retried, 8u);
}

// One worker with local sgd is sgd in a loop: the servers only add up the way it went.
TEST(LocalStepsTest, OneWorkerIsPlainSgd) {
  Options options = LocalSgd();
  options.cluster.workers = 1;
  options.recipe.local_rule.name = "sgd";
  options.recipe.local_rule.lr = 0.125;
  options.cluster.rounds = 4;
  Options sequential = options;
  sequential.recipe.step = "gradient";
  sequential.recipe.rule.lr = 0.125;
  sequential.cluster.rounds = 12;

  const std::vector<float> local = Trained(options), plain = Trained(sequential);

  ASSERT_EQ(local.size(), plain.size());
  for (std::size_t i = 0; i < local.size(); ++i) EXPECT_NEAR(local[i], plain[i], 1e-6);
}

}  // namespace
}  // namespace slackline::testing
