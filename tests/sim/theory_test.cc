// What mathematics says of delayed gradient descent, held by the real protocol.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/sim_cluster.h"
#include "tests/support/status_matchers.h"

namespace slackline::testing {
namespace {

// With n equal workers that each apply on arrival, every gradient is exactly n - 1 updates old once
// the pipeline has filled.
double NormAfter(std::uint32_t delay, double lr) {
  Options options = SmallCluster();
  options.cluster.workers = delay + 1;
  options.cluster.servers = 1;
  options.cluster.rounds = 6000 / (delay + 1);
  options.recipe.rule.lr = lr;
  options.time.compute_time = "const:10";
  options.output.progress_interval = 1000s;
  SimCluster cluster(options, MakeQuadratic(1, 1.0f), MakeNumbered(64));
  EXPECT_THAT(cluster.Run(), IsOk());
  std::uint64_t off = 0;
  for (const auto& traced : cluster.traces()) {
    if (traced.event.kind == TraceEvent::Kind::kPushApplied && traced.event.version > delay) {
      off += traced.event.value == delay ? 0 : 1;
    }
  }
  EXPECT_EQ(off, 0u) << "a delay other than " << delay;
  return std::abs(static_cast<double>(cluster.DenseParameters()[0]));
}

// x <- x - lr x(k - tau) is stable if and only if lr < 2 cos(pi tau / (2 tau + 1)) (Assran et al.,
// Proc. IEEE 2020; the limits are 2, 1, 0.618034, 0.445042, 0.347296, 0.184537).
TEST(TheoryTest, DelayedGradientDescentIsStableUpToThePublishedStep) {
  const std::pair<std::uint32_t, double> limits[] = {{0, 2.0},      {1, 1.0},      {2, 0.618034},
                                                     {3, 0.445042}, {4, 0.347296}, {8, 0.184537}};
  for (const auto& [delay, limit] : limits) {
    SCOPED_TRACE("delay " + std::to_string(delay));
    EXPECT_LT(NormAfter(delay, 0.95 * limit), 1e-3);
    EXPECT_GT(NormAfter(delay, 1.05 * limit), 10.0);
  }
}

}  // namespace
}  // namespace slackline::testing
