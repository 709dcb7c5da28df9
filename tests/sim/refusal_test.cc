// What joins wrongly, or computes nonsense, is told so by name and harms nobody.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/sim_cluster.h"
#include "tests/support/status_matchers.h"
#include "worker/worker_node.h"

namespace slackline::testing {
namespace {

constexpr std::uint32_t kExtra =
    100;  // The rank under which the simulator knows an uninvited worker.

// Runs a small cluster and one more worker; returns how the latter ended.
Status ExitOfUninvited(const Options& its_options, std::shared_ptr<const Model> its_model) {
  Options options = SmallCluster();
  options.recipe.rule.lr = 0.01;
  options.network.join_timeout = 2s;
  SimCluster cluster(options, MakeQuadratic(8, 1.0f), MakeNumbered(64));
  cluster.runtime().AddNode(
      Role::kWorker, kExtra,
      [&](NodeId self) {
        return std::make_unique<WorkerNode>(self, its_options, its_model, MakeNumbered(64));
      },
      50ms);
  EXPECT_THAT(cluster.Run(), IsOk());
  return cluster.runtime().ExitStatus(Role::kWorker, kExtra);
}

Options SameOptions() {
  Options options = SmallCluster();
  options.recipe.rule.lr = 0.01;
  options.network.join_timeout = 100ms;
  return options;
}

TEST(RefusalTest, TwoWorkersCannotHaveOneRank) {
  Options options = SameOptions();
  options.network.rank = 1;

  EXPECT_THAT(ExitOfUninvited(options, MakeQuadratic(8, 1.0f)),
              StatusIs(StatusCode::kDeadlineExceeded, "worker 1 is here already"));
}

TEST(RefusalTest, ARankBeyondTheRunIsNamed) {
  Options options = SameOptions();
  options.network.rank = 9;

  EXPECT_THAT(ExitOfUninvited(options, MakeQuadratic(8, 1.0f)),
              StatusIs(StatusCode::kUnavailable, "no worker 9: the run has 4"));
}

TEST(RefusalTest, AWorkerTooManyIsToldSo) {
  EXPECT_THAT(
      ExitOfUninvited(SameOptions(), MakeQuadratic(8, 1.0f)),
      StatusIs(StatusCode::kDeadlineExceeded, "all places for a worker are taken; there are 4"));
}

TEST(RefusalTest, AnotherModelIsRefusedWithBothSizes) {
  EXPECT_THAT(ExitOfUninvited(SameOptions(), MakeQuadratic(9, 1.0f)),
              StatusIs(StatusCode::kFailedPrecondition, "1 tensors of 9 values"));
}

TEST(RefusalTest, OtherOptionsAreRefusedWithBothValues) {
  Options options = SameOptions();
  options.recipe.slack = 7;

  const Status status = ExitOfUninvited(options, MakeQuadratic(8, 1.0f));

  EXPECT_THAT(status, StatusIs(StatusCode::kFailedPrecondition, "slack"));
  EXPECT_THAT(status, StatusIs(StatusCode::kFailedPrecondition, "7"));
  EXPECT_THAT(status, StatusIs(StatusCode::kFailedPrecondition, "3"));
}

// A quadratic whose gradient is sometimes not a number.
class SometimesNan : public Model {
 public:
  SometimesNan() { spec_.tensors.push_back({"x", {5}, {1.0f}}); }
  const ParameterSpec& spec() const override { return spec_; }
  std::string_view metric_name() const override { return "loss"; }
  double ComputeGradient(const Dataset&, std::span<const std::uint64_t> examples,
                         const Parameters& parameters, Gradient& gradient) const override {
    for (std::size_t i = 0; i < 5; ++i) gradient.dense[i] = parameters.dense[i];
    if (examples[0] % 4 == 0) gradient.dense[3] = std::numeric_limits<float>::quiet_NaN();
    if (examples[0] % 4 == 1) gradient.dense[4] = std::numeric_limits<float>::infinity();
    return 1.0;
  }
  Evaluated Evaluate(const Dataset&, std::span<const std::uint64_t>,
                     const Parameters&) const override {
    return {};
  }

 private:
  ParameterSpec spec_;
};

TEST(RefusalTest, AGradientThatIsNotFiniteChangesNothingOnAnyServer) {
  for (const char* collector : {"each", "all"}) {
    SCOPED_TRACE(collector);
    Options options = SmallCluster();
    options.recipe.collector = collector;
    options.recipe.gate = "bsp";
    options.recipe.rule.lr = 0.1;
    options.cluster.servers = 3;
    SimCluster cluster(options, std::make_shared<SometimesNan>(), MakeNumbered(64));

    ASSERT_THAT(cluster.Run(), IsOk());

    std::uint64_t applied = 0, rejected = 0;
    for (const MemberStatus& member : cluster.summary()->members) {
      applied += member.role == Role::kWorker ? member.statistics.pushes_applied : 0;
      rejected += member.role == Role::kWorker ? member.statistics.pushes_rejected : 0;
    }
    EXPECT_EQ(applied + rejected, 4u * options.cluster.rounds);
    EXPECT_GT(rejected, 20u);
    EXPECT_GT(applied, 20u);
    for (const float value : cluster.DenseParameters()) EXPECT_TRUE(std::isfinite(value));
  }
}

class NoParameters : public SometimesNan {
 public:
  NoParameters() { spec_.tensors.push_back({"nothing", {0, 7}, {}}); }
  const ParameterSpec& spec() const override { return spec_; }

 private:
  ParameterSpec spec_;
};

TEST(RefusalTest, AModelWithoutParametersIsRefused) {
  Options options = SmallCluster();
  options.cluster.workers = 1;
  options.network.join_timeout = 5s;
  SimCluster cluster(options, std::make_shared<NoParameters>(), MakeNumbered(64));

  EXPECT_FALSE(cluster.Run().ok());

  EXPECT_THAT(cluster.runtime().ExitStatus(Role::kWorker, 0),
              StatusIs(StatusCode::kInvalidArgument, "the model has no parameters"));
}

}  // namespace
}  // namespace slackline::testing
