// Equalities that hold bit for bit.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/initialize.h"
#include "kernels/rule.h"
#include "tests/support/sim_cluster.h"
#include "tests/support/status_matchers.h"
#include "worker/data/data_order.h"

namespace slackline::testing {
namespace {

Options Bsp() {
  Options options = SmallCluster();
  options.recipe.gate = "bsp";
  options.recipe.collector = "all";
  options.recipe.rule.lr = 0.05;
  return options;
}

TEST(EqualityTest, OneWorkerIsPlainSequentialSgd) {
  Options options = SmallCluster();
  options.cluster.workers = 1;
  options.cluster.servers = 3;
  options.recipe.rule.name = "momentum";
  options.recipe.rule.lr = 0.05;
  const auto model = MakeQuadratic(101, 1.5f);
  std::vector<float> expected(101), gradient(101), state(101);
  InitializeDense(model->spec(), options.cluster.seed, 0, expected);
  auto rule = MakeRule({.name = "momentum", .momentum = 0.9f});
  ASSERT_TRUE(rule.ok());
  float* slots[] = {state.data()};
  for (std::uint64_t step = 1; step <= options.cluster.rounds; ++step) {
    for (std::size_t i = 0; i < expected.size(); ++i) gradient[i] = 1.5f * expected[i];
    (*rule)->Apply(expected.data(), expected.data(), gradient.data(), slots, expected.size(), 0.05f,
                   step);
  }

  SimCluster cluster(options, model, MakeNumbered(8));

  ASSERT_THAT(cluster.Run(), IsOk());
  EXPECT_EQ(cluster.DenseParameters(), expected);
}

TEST(EqualityTest, NumberOfServersChangesNoBitUnderBsp) {
  for (const char* rule : {"sgd", "momentum", "nesterov", "adagrad", "adam", "adamw"}) {
    std::vector<float> reference;
    for (const std::uint32_t servers : {1u, 2u, 3u, 7u}) {
      SCOPED_TRACE(std::string(rule) + " on " + std::to_string(servers));
      Options options = Bsp();
      options.recipe.rule.name = rule;
      options.cluster.servers = servers;
      options.cluster.segment_bytes = 64 * servers;  // Many segments, cut differently each time.
      SimCluster cluster(options, MakeQuadratic(1001, 1.0f), MakeNumbered(64));
      ASSERT_THAT(cluster.Run(), IsOk());
      if (reference.empty()) reference = cluster.DenseParameters();
      EXPECT_EQ(cluster.DenseParameters(), reference);
    }
  }
}

TEST(EqualityTest, SspWithoutSlackAndCollectorAllIsBsp) {
  SimCluster bsp(Bsp(), MakeQuadratic(64, 1.0f), MakeNumbered(64));
  Options options = Bsp();
  options.recipe.gate = "ssp";
  options.recipe.slack = 0;
  SimCluster ssp(options, MakeQuadratic(64, 1.0f), MakeNumbered(64));

  ASSERT_THAT(bsp.Run(), IsOk());
  ASSERT_THAT(ssp.Run(), IsOk());

  EXPECT_EQ(bsp.DenseParameters(), ssp.DenseParameters());
}

TEST(EqualityTest, BspDoesNotDependOnTheOrderOfArrivals) {
  std::vector<float> reference;
  for (const char* compute_time : {"const:10", "exp:10", "lognormal:10:1.5"}) {
    Options options = Bsp();
    options.time.compute_time = compute_time;
    SimCluster cluster(options, MakeQuadratic(64, 1.0f), MakeNumbered(64));
    ASSERT_THAT(cluster.Run(), IsOk());
    if (reference.empty()) reference = cluster.DenseParameters();
    EXPECT_EQ(cluster.DenseParameters(), reference) << compute_time;
  }
}

TEST(EqualityTest, SameSeedSameInputsAndAnUlpChangesThem) {
  const auto digest = [](std::uint64_t seed, float curvature) {
    Options options = SmallCluster();
    options.cluster.seed = seed;
    options.recipe.rule.lr = 0.1;
    SimCluster cluster(options, MakeQuadratic(64, curvature), MakeNumbered(64));
    EXPECT_THAT(cluster.Run(), IsOk());
    return cluster.runtime().Digest();
  };

  const std::uint64_t first = digest(7, 1.0f);

  EXPECT_EQ(first, digest(7, 1.0f));
  EXPECT_NE(first, digest(8, 1.0f));
  EXPECT_NE(first, digest(7, std::nextafter(1.0f, 2.0f)));
}

}  // namespace
}  // namespace slackline::testing
