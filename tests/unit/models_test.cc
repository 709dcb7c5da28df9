#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "slackline/random.h"
#include "tests/support/status_matchers.h"
#include "worker/models/model.h"

namespace slackline {
namespace {

constexpr std::uint64_t kExamples = 12;

RandomSequence Sequence(std::uint64_t stream) {
  return RandomSequence(RandomStream(5, RandomPurpose::kTest, stream));
}
float Draw(RandomSequence& random) { return static_cast<float>(2.0 * random.Uniform() - 1.0); }

Dataset DenseData() {
  Dataset data{.name = "dense-data", .examples = kExamples, .width = 6, .classes = 4};
  RandomSequence random = Sequence(1);
  for (std::uint64_t i = 0; i < kExamples * data.width; ++i) data.features.push_back(Draw(random));
  for (std::uint64_t i = 0; i < kExamples; ++i)
    data.labels.push_back(static_cast<std::uint32_t>(random.Below(4)));
  return data;
}

// Columns up to 2^40, some in several examples; example 3 is empty.
Dataset SparseData() {
  Dataset data{
      .name = "sparse-data", .examples = kExamples, .columns = (std::uint64_t{1} << 40) + 1};
  RandomSequence random = Sequence(2);
  const std::uint64_t columns[] = {0, 3, 4, 900, std::uint64_t{1} << 40};
  data.row_begin.push_back(0);
  for (std::uint64_t i = 0; i < kExamples; ++i) {
    for (const std::uint64_t column : columns) {
      if (i == 3 || random.Chance(0.4)) continue;
      data.column.push_back(column);
      data.value.push_back(Draw(random));
    }
    data.row_begin.push_back(data.column.size());
    data.targets.push_back(static_cast<float>(random.Below(2)));
  }
  return data;
}

Dataset RatingData() {
  Dataset data{.name = "rating-data", .examples = kExamples};
  RandomSequence random = Sequence(3);
  for (std::uint64_t i = 0; i < kExamples; ++i) {
    data.user.push_back(1000 - 7 * random.Below(4));
    data.item.push_back(random.Below(5) << 50);
    data.targets.push_back(static_cast<float>(1 + random.Below(5)));
  }
  return data;
}

std::unique_ptr<Model> Make(const ModelOptions& options, const Dataset& data) {
  Result<std::unique_ptr<Model>> model = MakeModel(options, data);
  EXPECT_THAT(model, IsOk());
  return std::move(model).value();
}

std::vector<std::uint64_t> AllOf(const Dataset& data) {
  std::vector<std::uint64_t> examples(data.examples);
  std::iota(examples.begin(), examples.end(), 0);
  return examples;
}

// Parameters drawn at random, not the initial ones: biases and ridge must count.
struct Drawn {
  Drawn(const Model& model, const Dataset& data, const std::vector<std::uint64_t>& examples) {
    RandomSequence random = Sequence(4);
    dense.resize(model.spec().dense_elements());
    for (float& value : dense) value = Draw(random);
    rows = model.Keys(data, examples);
    for (Rows& set : rows) {
      set.values.resize(set.keys.size() * model.spec().tables[set.table].width);
      for (float& value : set.values) value = Draw(random);
    }
  }
  Parameters AsParameters() const { return {.dense = dense, .rows = rows}; }

  std::vector<float> dense;
  std::vector<Rows> rows;
};

// The dense elements and then the rows' values of each table, as one vector.
std::vector<double> Flat(std::span<const float> dense, const std::vector<Rows>& rows) {
  std::vector<double> flat(dense.begin(), dense.end());
  for (const Rows& set : rows) flat.insert(flat.end(), set.values.begin(), set.values.end());
  return flat;
}

// A model's mean loss over the batch, written down once more in double, of the flat parameters.
using Loss = std::function<double(const std::vector<double>&)>;

// Compares the model's gradient with central differences of `loss`. With steps of 1e-5 in double
// these are exact to about 1e-10. The model itself rounds to fp32: its values are below 32 and come
// from fewer than 32 roundings, hence 32 * 32 * 2^-24.
void ExpectGradient(const Model& model, const Dataset& data, const Loss& loss) {
  constexpr double kStep = 1e-5, kTolerance = 32 * 32 * 0x1.0p-24;
  const std::vector<std::uint64_t> examples = AllOf(data);
  const Drawn drawn(model, data, examples);
  std::vector<float> dense(drawn.dense.size(), 77.0f);  // It must be written whole.
  Gradient gradient{.dense = dense, .rows = {}};

  const double found = model.ComputeGradient(data, examples, drawn.AsParameters(), gradient);

  std::vector<double> at = Flat(drawn.dense, drawn.rows);
  EXPECT_NEAR(found, loss(at), kTolerance);
  ASSERT_EQ(gradient.rows.size(), drawn.rows.size());
  for (std::size_t t = 0; t < drawn.rows.size(); ++t) {
    EXPECT_EQ(gradient.rows[t].table, drawn.rows[t].table);
    EXPECT_EQ(gradient.rows[t].keys, drawn.rows[t].keys);
  }
  const std::vector<double> slopes = Flat(dense, gradient.rows);
  ASSERT_EQ(slopes.size(), at.size());
  double largest = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double here = at[i];
    at[i] = here + kStep;
    const double above = loss(at);
    at[i] = here - kStep;
    const double below = loss(at);
    at[i] = here;
    const double slope = (above - below) / (2 * kStep);
    EXPECT_NEAR(slopes[i], slope, kTolerance) << "parameter " << i;
    largest = std::max(largest, std::abs(slope));
  }
  EXPECT_GT(largest, 100 * kTolerance) << "a flat loss tells nothing";
}

// Layers of these widths, ReLU between them, softmax cross-entropy at the end.
double MlpLoss(const Dataset& data, const std::vector<std::size_t>& widths,
               const std::vector<double>& p) {
  double total = 0;
  for (std::uint64_t e = 0; e < data.examples; ++e) {
    const auto begin = data.features.begin() + static_cast<std::ptrdiff_t>(e * data.width);
    std::vector<double> x(begin, begin + static_cast<std::ptrdiff_t>(data.width));
    std::size_t at = 0;
    for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
      const std::size_t in = widths[l], out = widths[l + 1];
      std::vector<double> y(out);
      for (std::size_t o = 0; o < out; ++o) {
        y[o] = p[at + in * out + o];
        for (std::size_t i = 0; i < in; ++i) y[o] += x[i] * p[at + i * out + o];
        if (l + 2 < widths.size()) y[o] = std::max(y[o], 0.0);
      }
      at += in * out + out;
      x = y;
    }
    double sum = 0;
    for (const double logit : x) sum += std::exp(logit);
    total += std::log(sum) - x[data.labels[e]];
  }
  return total / static_cast<double>(data.examples);
}

std::size_t Place(const std::vector<std::uint64_t>& keys, std::uint64_t key) {
  return static_cast<std::size_t>(std::find(keys.begin(), keys.end(), key) - keys.begin());
}

TEST(ModelsTest, SoftmaxGradientIsThatOfItsLoss) {
  const Dataset data = DenseData();
  const std::unique_ptr<Model> model = Make({.model = "softmax"}, data);
  ASSERT_EQ(model->spec().dense_elements(), 6u * 4 + 4);
  ExpectGradient(*model, data, [&](const auto& p) { return MlpLoss(data, {6, 4}, p); });
}

TEST(ModelsTest, MlpGradientIsThatOfItsLoss) {
  const Dataset data = DenseData();
  const std::unique_ptr<Model> model = Make({.model = "mlp", .hidden = {7, 5}}, data);
  ASSERT_EQ(model->spec().dense_elements(), 6u * 7 + 7 + 7 * 5 + 5 + 5 * 4 + 4);
  ExpectGradient(*model, data, [&](const auto& p) { return MlpLoss(data, {6, 7, 5, 4}, p); });
}

TEST(ModelsTest, LogisticGradientIsThatOfItsLossAndRidge) {
  const Dataset data = SparseData();
  for (const double l2 : {0.0, 0.25}) {
    const std::unique_ptr<Model> model = Make({.model = "logistic", .l2 = l2}, data);
    const std::vector<std::uint64_t> keys = model->Keys(data, AllOf(data))[0].keys;
    ExpectGradient(*model, data, [&](const std::vector<double>& p) {
      double loss = 0;
      for (std::uint64_t i = 0; i < data.examples; ++i) {
        double margin = p[0];
        for (std::uint64_t e = data.row_begin[i]; e < data.row_begin[i + 1]; ++e) {
          margin += p[1 + Place(keys, data.column[e])] * static_cast<double>(data.value[e]);
        }
        loss += std::log(1.0 + std::exp(margin)) - static_cast<double>(data.targets[i]) * margin;
      }
      loss /= static_cast<double>(data.examples);
      for (std::size_t k = 0; k < keys.size(); ++k) loss += 0.5 * l2 * p[1 + k] * p[1 + k];
      return loss;
    });
  }
}

TEST(ModelsTest, FactorizationGradientIsThatOfItsLossAndRidge) {
  const Dataset data = RatingData();
  constexpr std::size_t kFactors = 3;
  const double mean = std::accumulate(data.targets.begin(), data.targets.end(), 0.0) / kExamples;
  for (const double l2 : {0.0, 0.25}) {
    const std::unique_ptr<Model> model =
        Make({.model = "factorization", .factors = kFactors, .l2 = l2}, data);
    const std::vector<Rows> keys = model->Keys(data, AllOf(data));
    ExpectGradient(*model, data, [&](const std::vector<double>& p) {
      double loss = 0;
      for (std::uint64_t i = 0; i < data.examples; ++i) {
        const double* user = p.data() + kFactors * Place(keys[0].keys, data.user[i]);
        const double* item =
            p.data() + kFactors * (keys[0].keys.size() + Place(keys[1].keys, data.item[i]));
        double error = mean - static_cast<double>(data.targets[i]);
        for (std::size_t f = 0; f < kFactors; ++f) {
          error += user[f] * item[f];
          loss += 0.5 * l2 * (user[f] * user[f] + item[f] * item[f]);
        }
        loss += 0.5 * error * error;
      }
      return loss / static_cast<double>(data.examples);
    });
  }
}

TEST(ModelsTest, LogisticLossDoesNotOverflow) {
  Dataset data{.name = "one",
               .examples = 2,
               .columns = 1,
               .row_begin = {0, 1, 2},
               .column = {0, 0},
               .value = {1e6f, -1e6f},
               .targets = {0, 0}};
  const std::unique_ptr<Model> model = Make({.model = "logistic"}, data);
  const std::vector<std::uint64_t> examples = {0, 1};
  const std::vector<float> bias = {0.0f};
  std::vector<float> slope = {77.0f};
  Gradient gradient{.dense = slope, .rows = {}};
  const double loss = model->ComputeGradient(
      data, examples, {.dense = bias, .rows = {{.table = 0, .keys = {0}, .values = {1.0f}}}},
      gradient);
  EXPECT_EQ(loss, 0.5e6);
  EXPECT_EQ(slope[0], 0.5f);
  EXPECT_EQ(gradient.rows[0].values, std::vector<float>{0.5e6f});
}

TEST(ModelsTest, KeysAreThoseTouchedSortedAndUnique) {
  const Dataset sparse{.name = "s",
                       .examples = 3,
                       .columns = 10,
                       .row_begin = {0, 2, 4, 5},
                       .column = {7, 2, 9, 7, 1},
                       .value = {1, 1, 1, 1, 1},
                       .targets = {0, 1, 0}};
  const std::vector<std::uint64_t> examples = {1, 0, 1};
  const std::vector<Rows> weights = Make({.model = "logistic"}, sparse)->Keys(sparse, examples);
  ASSERT_EQ(weights.size(), 1u);
  EXPECT_THAT(weights[0].keys, testing::ElementsAre(2, 7, 9));
  EXPECT_TRUE(weights[0].values.empty());

  const Dataset ratings{
      .name = "r", .examples = 3, .targets = {1, 2, 3}, .user = {8, 8, 1}, .item = {5, 4, 3}};
  const std::vector<Rows> both = Make({.model = "factorization"}, ratings)->Keys(ratings, examples);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].table, 0u);
  EXPECT_THAT(both[0].keys, testing::ElementsAre(8));
  EXPECT_EQ(both[1].table, 1u);
  EXPECT_THAT(both[1].keys, testing::ElementsAre(4, 5));

  const Dataset dense = DenseData();
  EXPECT_TRUE(Make({.model = "mlp"}, dense)->Keys(dense, examples).empty());
}

TEST(ModelsTest, EvaluateAddsUpOverBatchesToTheWhole) {
  struct Case {
    const char* model;
    Dataset data;
  };
  const Case cases[] = {{"softmax", DenseData()},
                        {"mlp", DenseData()},
                        {"logistic", SparseData()},
                        {"factorization", RatingData()}};
  for (const Case& c : cases) {
    const std::unique_ptr<Model> model = Make({.model = c.model}, c.data);
    const std::vector<std::uint64_t> examples = AllOf(c.data);
    const Drawn drawn(*model, c.data, examples);
    const Evaluated whole = model->Evaluate(c.data, examples, drawn.AsParameters());
    EXPECT_EQ(whole.examples, kExamples) << c.model;
    EXPECT_GT(whole.loss, 0.0) << c.model;
    for (const std::size_t batch : {1u, 5u}) {
      Evaluated sums;
      for (std::size_t at = 0; at < examples.size(); at += batch) {
        const auto part = std::span(examples).subspan(at, std::min(batch, examples.size() - at));
        const Evaluated one = model->Evaluate(c.data, part, drawn.AsParameters());
        sums.loss += one.loss;
        sums.metric += one.metric;
        sums.examples += one.examples;
      }
      EXPECT_EQ(sums.examples, whole.examples) << c.model;
      // Logits of dense models are fp32, and how they are summed may depend on the batch.
      EXPECT_NEAR(sums.loss, whole.loss, whole.loss * 256 * 0x1.0p-24) << c.model;
      EXPECT_NEAR(sums.metric, whole.metric, whole.metric * 1e-12) << c.model;
    }
  }
}

TEST(ModelsTest, EvaluateGoesOnBeyondOneInternalBatch) {
  Dataset data{.name = "many", .examples = 600, .width = 1, .classes = 2};
  for (std::uint64_t i = 0; i < data.examples; ++i) {
    data.features.push_back(i % 2 == 0 ? 1.0f : -1.0f);
    data.labels.push_back(i < 450 ? static_cast<std::uint32_t>(i % 2)
                                  : 1u - static_cast<std::uint32_t>(i % 2));
  }
  const std::unique_ptr<Model> model = Make({.model = "softmax"}, data);
  const std::vector<float> dense = {1.0f, -1.0f, 0.0f, 0.0f};  // Feature 1: class 0; -1: class 1.
  const Evaluated sums = model->Evaluate(data, AllOf(data), {.dense = dense, .rows = {}});
  EXPECT_EQ(sums.examples, 600u);
  EXPECT_EQ(sums.metric, 450.0);
  EXPECT_EQ(model->Metric(sums), 0.75);
  EXPECT_NEAR(sums.loss, 450 * std::log1p(std::exp(-2.0)) + 150 * std::log1p(std::exp(2.0)), 1e-3);
}

TEST(ModelsTest, MetricsAreAccuracyAndRootMeanSquaredError) {
  const Dataset ratings{
      .name = "r", .examples = 2, .targets = {1, 5}, .user = {0, 1}, .item = {0, 0}};
  const std::unique_ptr<Model> model = Make({.model = "factorization", .factors = 1}, ratings);
  // Rows of zeros predict the mean, 3: two errors of 2.
  const std::vector<Rows> rows = {{.table = 0, .keys = {0, 1}, .values = {0, 0}},
                                  {.table = 1, .keys = {0}, .values = {0}}};
  const Evaluated sums = model->Evaluate(ratings, AllOf(ratings), {.dense = {}, .rows = rows});
  EXPECT_EQ(model->metric_name(), "rmse");
  EXPECT_EQ(model->Metric(sums), 2.0);
  EXPECT_EQ(model->Metric({}), 0.0);

  for (const char* name : {"softmax", "mlp"})
    EXPECT_EQ(Make({.model = name}, DenseData())->metric_name(), "accuracy");
  EXPECT_EQ(Make({.model = "logistic"}, SparseData())->metric_name(), "accuracy");
}

TEST(ModelsTest, TimingHasAsManyParametersAsAskedAndNoSlope) {
  const Dataset data = DenseData();
  const std::unique_ptr<Model> model = Make({.model = "timing", .timing_elements = 9}, data);
  ASSERT_EQ(model->spec().dense_elements(), 9u);
  std::vector<float> parameters(9, 1.0f), slope(9, 77.0f);
  Gradient gradient{.dense = slope, .rows = {}};
  EXPECT_EQ(model->ComputeGradient(data, AllOf(data), {.dense = parameters, .rows = {}}, gradient),
            0.0);
  EXPECT_EQ(slope, std::vector<float>(9, 0.0f));
}

TEST(MakeModelTest, RefusesDataThatDoesNotFitAndNamesWhatIsMissing) {
  struct Case {
    const char* model;
    Dataset data;
    const char* message;
  };
  const char* const kDense = "dense examples with classes (IDX files, digits); ";
  const Case cases[] = {
      {"softmax", SparseData(), "--model softmax needs dense examples with classes"},
      {"mlp", RatingData(), "--model mlp needs dense examples with classes"},
      {"mlp", SparseData(), kDense},
      {"logistic", DenseData(),
       "--model logistic needs sparse examples (a LIBSVM file); dense-data has none"},
      {"logistic", RatingData(), "rating-data has none"},
      {"factorization", DenseData(),
       "--model factorization needs ratings (a file of user, item, rating)"},
      {"factorization", SparseData(), "sparse-data has none"},
      {"factorization", Dataset{.name = "empty"}, "empty has none"}};
  for (const Case& c : cases) {
    EXPECT_THAT(MakeModel({.model = c.model}, c.data),
                StatusIs(StatusCode::kInvalidArgument, c.message))
        << c.model << " on " << c.data.name;
  }
}

TEST(MakeModelTest, AnUnknownNameIsRefusedWithTheKnownOnes) {
  EXPECT_THAT(
      MakeModel({.model = "resnet"}, DenseData()),
      StatusIs(StatusCode::kInvalidArgument,
               "no model 'resnet'; there are softmax, mlp, logistic, factorization, transformer, "
               "pythia-14m, pythia-70m, timing"));
}

}  // namespace
}  // namespace slackline
