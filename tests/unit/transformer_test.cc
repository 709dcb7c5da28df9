#include "worker/models/transformer.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/strings.h"
#include "kernels/initialize.h"
#include "kernels/rule.h"
#include "slackline/random.h"
#include "tests/support/status_matchers.h"
#include "worker/data/data_order.h"
#include "worker/models/models.h"

namespace slackline {
namespace {

Dataset MakeRows(std::uint64_t rows, std::uint32_t context, std::uint32_t vocabulary) {
  Dataset data{.name = "rows", .examples = rows, .context = context};
  for (std::uint64_t i = 0; i <= rows * context; ++i)
    data.tokens.push_back(static_cast<std::uint16_t>((5 * i * i + 3 * i + 1) % vocabulary));
  return data;
}

std::vector<std::uint64_t> AllOf(const Dataset& data) {
  std::vector<std::uint64_t> examples(data.examples);
  std::iota(examples.begin(), examples.end(), 0);
  return examples;
}

// The parameters of tests/data/transformer/make_reference.py.
std::vector<float> FormulaParameters(const ParameterSpec& spec) {
  std::vector<float> values;
  for (const TensorSpec& tensor : spec.tensors) {
    const float center = tensor.name.ends_with("norm.weight") ? 1.0f : 0.0f;
    for (std::uint64_t e = 0; e < tensor.elements(); ++e) {
      const std::uint64_t i = values.size();
      const auto whole = static_cast<std::int64_t>((31 * i * i + 7919 * i) % 1021) - 510;
      values.push_back(static_cast<float>(whole) / 2048.0f + center);
    }
  }
  return values;
}

struct Found {
  double loss;
  std::vector<float> gradient;
};
Found GradientOf(const Model& model, const Dataset& data, const std::vector<std::uint64_t>& rows,
                 const std::vector<float>& parameters) {
  Found found{.gradient = std::vector<float>(parameters.size(), 77.0f)};  // Written whole.
  Gradient gradient{.dense = found.gradient, .rows = {}};
  found.loss = model.ComputeGradient(data, rows, {.dense = parameters, .rows = {}}, gradient);
  return found;
}

std::vector<float> ReadFloats(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::vector<float> values;
  for (unsigned char bytes[4]; file.read(reinterpret_cast<char*>(bytes), sizeof bytes);) {
    values.push_back(std::bit_cast<float>(
        static_cast<std::uint32_t>(bytes[0]) | static_cast<std::uint32_t>(bytes[1]) << 8 |
        static_cast<std::uint32_t>(bytes[2]) << 16 | static_cast<std::uint32_t>(bytes[3]) << 24));
  }
  return values;
}

double Norm(std::span<const float> x) {
  double sum = 0;
  for (const float value : x) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

// ---- Sizes

TEST(TransformerTest, PresetsHaveThePythiasParameters) {
  const struct {
    const char* model;
    std::uint64_t parameters;
  } cases[] = {{"pythia-14m", 14'067'712}, {"pythia-70m", 70'426'624}, {"transformer", 858'880}};
  for (const auto& c : cases) {
    const std::unique_ptr<Model> model = MakeTransformer(ShapeOf({.model = c.model}));
    EXPECT_EQ(model->spec().dense_elements(), c.parameters) << c.model;
    EXPECT_THAT(CheckParameterSpec(model->spec()), IsOk());
  }
}

TEST(TransformerTest, TensorsAreThoseOfGptNeox) {
  const TransformerModel model(
      {.layers = 2, .width = 16, .heads = 2, .context = 4, .vocabulary = 9});
  const struct {
    std::size_t index;
    const char* name;
    std::vector<std::uint64_t> shape;
    double deviation;  // Of the initial values.
    float center;
  } cases[] = {
      {0, "gpt_neox.embed_in.weight", {9, 16}, 0.02, 0},
      {1, "gpt_neox.layers.0.input_layernorm.weight", {16}, 0, 1},
      {2, "gpt_neox.layers.0.input_layernorm.bias", {16}, 0, 0},
      {3, "gpt_neox.layers.0.post_attention_layernorm.weight", {16}, 0, 1},
      {5, "gpt_neox.layers.0.attention.query_key_value.weight", {48, 16}, 0.02, 0},
      {6, "gpt_neox.layers.0.attention.query_key_value.bias", {48}, 0, 0},
      {7, "gpt_neox.layers.0.attention.dense.weight", {16, 16}, 0.01, 0},
      {9, "gpt_neox.layers.0.mlp.dense_h_to_4h.weight", {64, 16}, 0.02, 0},
      {11, "gpt_neox.layers.0.mlp.dense_4h_to_h.weight", {16, 64}, 0.01, 0},
      {13, "gpt_neox.layers.1.input_layernorm.weight", {16}, 0, 1},
      {25, "gpt_neox.final_layer_norm.weight", {16}, 0, 1},
      {26, "gpt_neox.final_layer_norm.bias", {16}, 0, 0},
      {27, "embed_out.weight", {9, 16}, 0.02, 0},
  };
  ASSERT_EQ(model.spec().tensors.size(), 28u);
  for (const auto& c : cases) {
    const TensorSpec& tensor = model.spec().tensors[c.index];
    EXPECT_EQ(tensor.name, c.name);
    EXPECT_EQ(tensor.shape, c.shape) << c.name;
    EXPECT_FLOAT_EQ(tensor.init.uniform_bound,
                    static_cast<float>(c.deviation * std::numbers::sqrt3))
        << c.name;
    EXPECT_EQ(tensor.init.center, c.center) << c.name;
  }
}

// ---- Gradients

// Both round to fp32, PyTorch only at the end. A value is held to 1e-4 of itself, or of its
// tensor's root mean square where it is smaller than that.
TEST(TransformerTest, GradientsAreThoseOfPyTorch) {
  const struct {
    const char* name;
    TransformerShape shape;
    std::uint64_t rows;
  } cases[] = {
      {"two-layers", {.layers = 2, .width = 16, .heads = 2, .context = 9, .vocabulary = 13}, 3},
      {"two-pairs", {.layers = 1, .width = 32, .heads = 2, .context = 7, .vocabulary = 11}, 2}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const TransformerModel model(c.shape);
    const Dataset data = MakeRows(c.rows, c.shape.context, c.shape.vocabulary);
    const std::vector<float> stored =
        ReadFloats(StrCat(SLACKLINE_TRANSFORMER_DIR, "/", c.name, ".bin"));
    ASSERT_EQ(stored.size(), 1 + model.spec().dense_elements());

    const Found found = GradientOf(model, data, AllOf(data), FormulaParameters(model.spec()));

    EXPECT_NEAR(found.loss, static_cast<double>(stored[0]), 1e-6 * found.loss);
    std::size_t at = 0;
    for (const TensorSpec& tensor : model.spec().tensors) {
      const std::size_t count = tensor.elements();
      const auto expected = std::span(stored).subspan(1 + at, count);
      const double usual = Norm(expected) / std::sqrt(static_cast<double>(count));
      for (std::size_t i = 0; i < count; ++i) {
        const double exact = static_cast<double>(expected[i]);
        ASSERT_NEAR(static_cast<double>(found.gradient[at + i]), exact,
                    1e-4 * std::max(usual, std::abs(exact)))
            << tensor.name << ", element " << i;
      }
      at += count;
    }
  }
}

// Along a direction d of length 1 the loss changes by slope . d for each unit. With steps of 1/64
// the third derivative costs less than 1e-3 of that here, and rounding of the loss (below 4, in
// fp32 up to its last sum) at most 4 * 2^-22 * 64 = 6e-5.
TEST(TransformerTest, GradientsAreThoseOfFiniteDifferences) {
  const TransformerModel model(
      {.layers = 2, .width = 16, .heads = 2, .context = 9, .vocabulary = 13});
  const Dataset data = MakeRows(3, 9, 13);
  const std::vector<std::uint64_t> rows = AllOf(data);
  const std::vector<float> parameters = FormulaParameters(model.spec());
  const Found found = GradientOf(model, data, rows, parameters);
  const auto loss_at = [&](std::span<const double> direction, std::size_t begin, double step) {
    std::vector<float> moved = parameters;
    for (std::size_t i = 0; i < direction.size(); ++i)
      moved[begin + i] += static_cast<float>(step * direction[i]);
    const Evaluated sums = model.Evaluate(data, rows, {.dense = moved, .rows = {}});
    return sums.loss / static_cast<double>(sums.examples);
  };
  std::size_t begin = 0;
  for (std::size_t t = 0; t < model.spec().tensors.size(); ++t) {
    const std::size_t count = model.spec().tensors[t].elements();
    const auto slopes = std::span(found.gradient).subspan(begin, count);
    const RandomStream random(3, RandomPurpose::kTest, t);
    // The way of the gradient, where the signal is largest, and a way that no bias of it prefers.
    for (const bool steepest : {true, false}) {
      std::vector<double> direction(count);
      double length = 0, expected = 0;
      for (std::size_t i = 0; i < count; ++i) {
        direction[i] = steepest ? static_cast<double>(slopes[i]) : random.Uniform(i) - 0.5;
        length += direction[i] * direction[i];
      }
      for (std::size_t i = 0; i < count; ++i) {
        direction[i] /= std::sqrt(length);
        expected += direction[i] * static_cast<double>(slopes[i]);
      }
      constexpr double kStep = 1.0 / 64;
      const double slope =
          (loss_at(direction, begin, kStep) - loss_at(direction, begin, -kStep)) / (2 * kStep);
      EXPECT_NEAR(slope, expected, 1e-3 * std::abs(expected) + 6e-5)
          << model.spec().tensors[t].name << (steepest ? " downhill" : " at random");
    }
    begin += count;
  }
}

TEST(TransformerTest, HowRowsAreSharedOutOverPassesChangesOnlyRounding) {
  // 80 rows of 9 tokens take three passes of up to 28 rows.
  const TransformerModel model(
      {.layers = 1, .width = 16, .heads = 2, .context = 9, .vocabulary = 13});
  const Dataset data = MakeRows(80, 9, 13);
  const std::vector<float> parameters = FormulaParameters(model.spec());
  const Found whole = GradientOf(model, data, AllOf(data), parameters);

  std::vector<double> mean(parameters.size());
  double loss = 0;
  for (const std::uint64_t row : AllOf(data)) {
    const Found one = GradientOf(model, data, {row}, parameters);
    loss += one.loss / 80;
    for (std::size_t i = 0; i < mean.size(); ++i)
      mean[i] += static_cast<double>(one.gradient[i]) / 80;
  }
  EXPECT_NEAR(whole.loss, loss, 1e-6 * loss);
  double largest = 0;
  for (const double slope : mean) largest = std::max(largest, std::abs(slope));
  for (std::size_t i = 0; i < mean.size(); ++i)
    ASSERT_NEAR(static_cast<double>(whole.gradient[i]), mean[i], 1e-5 * largest) << i;

  // Evaluation gives the same loss, an example at a time or all at once, and the same bits again.
  const Evaluated sums = model.Evaluate(data, AllOf(data), {.dense = parameters, .rows = {}});
  EXPECT_EQ(sums.examples, 80u);
  EXPECT_NEAR(sums.loss / 80, whole.loss, 1e-6 * loss);
  EXPECT_EQ(GradientOf(model, data, AllOf(data), parameters).gradient, whole.gradient);
}

// ---- The model as a whole

TEST(TransformerTest, ItsMetricIsTheLossInBits) {
  const TransformerModel model(
      {.layers = 1, .width = 8, .heads = 1, .context = 4, .vocabulary = 16});
  const Dataset data = MakeRows(5, 4, 16);
  // Without weights every one of the 16 tokens is equally likely.
  const std::vector<float> zeros(model.spec().dense_elements());
  const Evaluated sums = model.Evaluate(data, AllOf(data), {.dense = zeros, .rows = {}});
  EXPECT_EQ(model.metric_name(), "bits_per_token");
  EXPECT_NEAR(model.Metric(sums), 4.0, 1e-6);
  EXPECT_EQ(model.Metric({}), 0.0);
}

TEST(TransformerTest, LearnsTheEmbeddedText) {
  const ModelOptions options{
      .model = "transformer", .data = "text", .layers = 2, .width = 32, .heads = 2, .context = 32};
  const Result<Split> data = LoadData(options, 1);
  ASSERT_THAT(data, IsOk());
  const Result<std::unique_ptr<Model>> model = MakeModel(options, *data->train);
  ASSERT_THAT(model, IsOk());
  const Result<std::unique_ptr<UpdateRule>> adamw = MakeRule({.name = "adamw", .beta2 = 0.99f});
  ASSERT_THAT(adamw, IsOk());
  const std::size_t count = (*model)->spec().dense_elements();
  std::vector<float> parameters(count), moment(count), square(count);
  InitializeDense((*model)->spec(), 1, 0, parameters);
  const auto held_out_bits = [&] {
    return (*model)->Metric(
        (*model)->Evaluate(*data->test, AllOf(*data->test), {.dense = parameters, .rows = {}}));
  };
  // Nothing is known at first: 8 bits a byte, and a little more for being wrong about it.
  EXPECT_NEAR(held_out_bits(), 8.0, 0.2);

  const DataOrder order(1, data->train->examples, 0, 1);
  for (std::uint64_t step = 0; step < 120; ++step) {
    const Found found = GradientOf(**model, *data->train, order.ShardBatch(step, 8), parameters);
    float* state[] = {moment.data(), square.data()};
    (*adamw)->Apply(parameters.data(), parameters.data(), found.gradient.data(), state, count,
                    0.003f, step + 1);
  }
  // Single letters' frequencies alone come to 4.46 bits in this author's prose.
  EXPECT_LT(held_out_bits(), 4.0);
}

// ---- Refusals

TEST(TransformerTest, DataThatIsNoRowsOfThisLengthIsRefused) {
  EXPECT_THAT(MakeModel({.model = "transformer"}, Dataset{.name = "images", .examples = 1}),
              StatusIs(StatusCode::kInvalidArgument,
                       "--model transformer needs rows of tokens (text, or a file of tokens); "
                       "images has none"));
  EXPECT_THAT(MakeModel({.model = "pythia-14m", .context = 8}, MakeRows(2, 9, 13)),
              StatusIs(StatusCode::kInvalidArgument, "--model pythia-14m needs rows of tokens"));
  EXPECT_THAT(MakeModel({.model = "transformer", .heads = 3, .context = 9}, MakeRows(2, 9, 13)),
              StatusIs(StatusCode::kInvalidArgument, "--width 128 with --heads 3"));
  EXPECT_THAT(MakeModel({.model = "mlp"}, MakeRows(2, 9, 13)),
              StatusIs(StatusCode::kInvalidArgument, "--model mlp needs dense examples"));
}

}  // namespace
}  // namespace slackline
