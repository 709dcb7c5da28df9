// Nothing is lost and nothing counts twice, whatever the network does.
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "tests/sim/faulty_cluster.h"
#include "tests/support/sim_cluster.h"
#include "tests/support/status_matchers.h"

namespace slackline::testing {
namespace {

// What a server without de-duplication would do: a push that comes again is taken for the next one.
class ForgetfulServer : public ServerNode {
 public:
  using ServerNode::ServerNode;
  void OnMessage(Time now, NodeId from, const Message& message, Outbox& out) override {
    const auto* push = std::get_if<Push>(&message.body);
    if (push == nullptr || seen_.insert({push->rank, push->seq, push->chunk}).second) {
      return ServerNode::OnMessage(now, from, message, out);
    }
    Push again = *push;
    ++again.seq;
    seen_.insert({again.rank, again.seq, again.chunk});
    ServerNode::OnMessage(now, from, Message(again, message.payload), out);
  }

 private:
  std::set<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>> seen_;
};

// The checker must notice: without de-duplication the sums are wrong.
TEST(ExactlyOnceTest, WithoutDeduplicationTheSumsAreWrong) {
  const auto model = MakeIntegers(37);
  const auto data = MakeNumbered(1000);
  Options options = FaultyCluster(1, 100);
  options.recipe.decisions = "shard";
  options.sim.deadline_s =
      60;  // Some worker may wait for ever for a push that another's took the place of.
  SimCluster cluster(options, model, data);
  cluster.KeepTraces(false);
  cluster.MakeServersWith([](NodeId self, const Options& own) {
    return std::make_unique<ForgetfulServer>(self, own, "sim");
  });

  const Status status = cluster.Run();

  EXPECT_TRUE(!status.ok() || cluster.DenseParameters() != ExpectedSum(options, *model, *data));
}

TEST(ExactlyOnceTest, AWorkerThatComesBackGoesOnWhereItWas) {
  const auto model = MakeIntegers(37);
  const auto data = MakeNumbered(1000);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Options options = FaultyCluster(seed, 100);
    options.network.patience = 1s;
    options.network.join_timeout = 1000s;
    options.sim.crash = {"worker1:400:900", "worker3:700:2500"};
    options.recipe.gate = seed % 3 == 0 ? "bsp" : "ssp";
    options.recipe.collector = seed % 3 == 0 ? "all" : "each";
    if (seed % 3 == 0) options.recipe.decisions = "auto";
    SimCluster cluster(options, model, data);
    ASSERT_THAT(cluster.Run(), IsOk()) << ::testing::PrintToString(cluster.notes());
    std::vector<float> expected = ExpectedSum(options, *model, *data);
    if (seed % 3 == 0) {  // The mean of eight.
      for (float& v : expected) v /= 8.0f;
    }
    EXPECT_EQ(cluster.DenseParameters(), expected);
  }
}

}  // namespace
}  // namespace slackline::testing
