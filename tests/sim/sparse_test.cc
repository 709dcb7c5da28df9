// Sparse models: rows made on first touch, pushed and pulled by key.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "kernels/rule.h"
#include "slackline/random.h"
#include "tests/support/sim_cluster.h"
#include "tests/support/status_matchers.h"
#include "worker/data/data_order.h"
#include "worker/models/models.h"

namespace slackline::testing {
namespace {

// A LIBSVM-like set: `examples` with a few of `columns` columns each, separable in the main.
std::shared_ptr<Dataset> MakeSparse(std::uint64_t examples, std::uint64_t columns) {
  auto data = std::make_shared<Dataset>();
  data->name = "sparse";
  data->examples = examples;
  data->columns = columns;
  data->row_begin.push_back(0);
  RandomSequence draw(RandomStream(1, RandomPurpose::kTest, 2));
  for (std::uint64_t i = 0; i < examples; ++i) {
    double score = 0;
    std::uint64_t column = draw.Below(4);
    while (column < columns) {
      data->column.push_back(column);
      data->value.push_back(static_cast<float>(1 + draw.Below(3)));
      score += static_cast<double>(data->value.back()) * (column % 2 == 0 ? 1.0 : -1.0);
      column += 1 + draw.Below(columns / 4);
    }
    data->row_begin.push_back(data->column.size());
    data->targets.push_back(score > 0 ? 1.0f : 0.0f);
  }
  return data;
}

// What one process gets that computes every round's mean gradient over all workers' batches.
double SingleProcessLoss(const Options& options, const Model& model, const Dataset& data,
                         const Dataset& test) {
  std::vector<float> bias(1);
  std::vector<float> weights(data.columns);
  for (std::uint64_t round = 0; round < options.cluster.rounds; ++round) {
    std::vector<double> sum(weights.size());
    double bias_sum = 0;
    for (std::uint32_t rank = 0; rank < options.cluster.workers; ++rank) {
      const DataOrder order(options.cluster.seed, data.examples, rank, options.cluster.workers);
      const std::vector<std::uint64_t> examples = order.ShardBatch(round, options.recipe.batch);
      std::vector<Rows> rows = model.Keys(data, examples);
      for (const std::uint64_t key : rows[0].keys) rows[0].values.push_back(weights[key]);
      float bias_slope = 0;
      Gradient gradient{{&bias_slope, 1}, {}};
      model.ComputeGradient(data, examples, {bias, rows}, gradient);
      bias_sum += static_cast<double>(bias_slope);
      for (std::size_t i = 0; i < gradient.rows[0].keys.size(); ++i) {
        sum[gradient.rows[0].keys[i]] += static_cast<double>(gradient.rows[0].values[i]);
      }
    }
    const double step = options.recipe.rule.lr / options.cluster.workers;
    bias[0] -= static_cast<float>(step * bias_sum);
    for (std::size_t c = 0; c < weights.size(); ++c)
      weights[c] -= static_cast<float>(step * sum[c]);
  }
  std::vector<std::uint64_t> all(test.examples);
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  std::vector<Rows> rows = model.Keys(test, all);
  for (const std::uint64_t key : rows[0].keys) rows[0].values.push_back(weights[key]);
  return model.Evaluate(test, all, {bias, rows}).loss / static_cast<double>(all.size());
}

Options SparseCluster() {
  Options options = SmallCluster();
  options.cluster.servers = 3;
  options.cluster.rounds = 50;
  options.cluster.evaluate = true;
  options.recipe.gate = "bsp";
  options.recipe.collector = "all";
  options.recipe.batch = 8;
  options.recipe.rule.lr = 0.5;
  return options;
}

TEST(SparseTest, LogisticRegressionUnderBspReachesTheLossOfASingleProcess) {
  const Options options = SparseCluster();
  const std::shared_ptr<const Model> model = MakeLogistic(0.0);
  const auto data = MakeSparse(400, 50);
  SimCluster cluster(options, model, data, data);

  ASSERT_THAT(cluster.Run(), IsOk());

  const double expected = SingleProcessLoss(options, *model, *data, *data);
  ASSERT_FALSE(cluster.summary()->evaluations.empty());
  const Evaluation& last = cluster.summary()->evaluations.back().evaluation;
  EXPECT_TRUE(last.last);
  EXPECT_NEAR(last.loss, expected, 1e-6);
  EXPECT_LT(last.loss, 0.5);  // It did learn: the loss begins at log 2.
}

TEST(SparseTest, BytesPushedAreThoseOfTheRowsTouched) {
  Options options = SparseCluster();
  options.cluster.evaluate = false;
  const std::shared_ptr<const Model> model = MakeLogistic(0.0);
  const auto data = MakeSparse(400, 50);
  SimCluster cluster(options, model, data);

  ASSERT_THAT(cluster.Run(), IsOk());

  for (const MemberStatus& member : cluster.summary()->members) {
    if (member.role != Role::kWorker) continue;
    const DataOrder order(options.cluster.seed, data->examples, member.rank,
                          options.cluster.workers);
    std::uint64_t rows = 0;
    for (std::uint64_t round = 0; round < options.cluster.rounds; ++round) {
      rows += model->Keys(*data, order.ShardBatch(round, options.recipe.batch))[0].keys.size();
    }
    // A key and a value for each row, and the bias once a round.
    EXPECT_EQ(member.statistics.bytes_pushed, rows * (8 + 4) + options.cluster.rounds * 4);
  }
}

TEST(SparseTest, NumberOfServersChangesNothing) {
  std::vector<double> losses;
  for (const std::uint32_t servers : {1u, 2u, 5u}) {
    Options options = SparseCluster();
    options.cluster.servers = servers;
    options.recipe.rule.name = "adagrad";
    const auto data = MakeSparse(400, 50);
    SimCluster cluster(options, MakeLogistic(0.001), data, data);
    ASSERT_THAT(cluster.Run(), IsOk());
    losses.push_back(cluster.summary()->evaluations.back().evaluation.loss);
  }

  EXPECT_EQ(losses[0], losses[1]);
  EXPECT_EQ(losses[0], losses[2]);
}

TEST(SparseTest, FactorizationLearnsRatings) {
  auto data = std::make_shared<Dataset>();
  data->name = "ratings";
  for (std::uint64_t user = 0; user < 20; ++user) {
    for (std::uint64_t item = 0; item < 15; ++item) {
      data->user.push_back(user * 1000003);  // Keys are any 64 bits.
      data->item.push_back(~item);
      data->targets.push_back(3.0f + (user % 2 == item % 2 ? 1.0f : -1.0f));
    }
  }
  data->examples = data->targets.size();
  Options options = SparseCluster();
  options.cluster.rounds = 400;
  options.recipe.gate = "ssp";
  options.recipe.collector = "each";
  options.recipe.rule.lr = 0.3;
  SimCluster cluster(options, MakeFactorization(4, 0.0, 3.0), data, data);

  ASSERT_THAT(cluster.Run(), IsOk());

  EXPECT_GT(cluster.summary()->evaluations.front().evaluation.metric,
            0.9);  // RMSE of the mean alone: 1.
  EXPECT_LT(cluster.summary()->evaluations.back().evaluation.metric, 0.3);
}

// Reads of a cut see rows as they were, though training goes on.
TEST(SparseTest, ACutOfATableDoesNotMove) {
  auto rule = MakeRule({.name = "sgd"});
  ASSERT_THAT(rule, IsOk());
  RowTable table({"t", 2, {}}, 0, 1, **rule);
  const float one[] = {1.0f, 1.0f};
  table.Apply(7, one, 1.0f, 1);

  const std::shared_ptr<RowTable::Cut> cut = table.MakeCut();
  table.Apply(7, one, 1.0f, 2);
  table.Apply(9, one, 1.0f, 2);

  float row[2];
  cut->Read(table, 7, row);
  EXPECT_EQ(row[0], -1.0f);
  cut->Read(table, 9, row);
  EXPECT_EQ(row[0], 0.0f);
  table.Read(7, row);
  EXPECT_EQ(row[0], -2.0f);
}

}  // namespace
}  // namespace slackline::testing
