#include "kernels/sequence_ops.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/math/exp.h"
#include "kernels/math/gelu.h"
#include "kernels/ops.h"
#include "slackline/random.h"

namespace slackline {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr double kUnit = 0x1.0p-24;  // Half an ulp of fp32 at 1: one rounding's relative error.

using Doubles = std::vector<double>;

std::vector<float> Random(std::uint64_t stream, std::size_t count, float bound) {
  std::vector<float> values(count);
  const RandomStream random(12, RandomPurpose::kTest, stream);
  for (std::size_t i = 0; i < count; ++i) values[i] = random.UniformFloat(i, bound);
  return values;
}

Doubles Wide(const std::vector<float>& values) { return {values.begin(), values.end()}; }

std::vector<std::uint32_t> Bits(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

void ExpectNear(const std::vector<float>& found, const Doubles& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(found[i]), expected[i], tolerance) << "value " << i;
  }
}

// The slopes of slopes_of_out . op(x) at x, by central differences in double: with steps of 1e-5
// and third derivatives below 10 their error is below 1e-9.
Doubles Differences(Doubles x, const std::function<Doubles(const Doubles&)>& op,
                    const std::vector<float>& slopes_of_out) {
  constexpr double kStep = 1e-5;
  const auto value = [&] {
    const Doubles out = op(x);
    double sum = 0;
    for (std::size_t i = 0; i < out.size(); ++i)
      sum += out[i] * static_cast<double>(slopes_of_out[i]);
    return sum;
  };
  Doubles slopes;
  for (double& here : x) {
    const double kept = here;
    here = kept + kStep;
    const double above = value();
    here = kept - kStep;
    const double below = value();
    here = kept;
    slopes.push_back((above - below) / (2 * kStep));
  }
  return slopes;
}

// ---- Exp and the normal distribution

TEST(ExpTest, AgreesWithDoubleOverItsWholeRange) {
  for (double x = -86.9; x < 87.9; x += 0.00317) {
    const float argument = static_cast<float>(x);
    const double exact = std::exp(static_cast<double>(argument));
    ASSERT_NEAR(static_cast<double>(math::Exp(argument)), exact, 2e-7 * exact) << x;
  }
  EXPECT_EQ(math::Exp(0.0f), 1.0f);
  EXPECT_EQ(math::Exp(-88.0f), 0.0f);
  EXPECT_EQ(math::Exp(-kInfinity), 0.0f);
  EXPECT_EQ(math::Exp(88.5f), kInfinity);
  EXPECT_EQ(math::Exp(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(math::Exp(kNaN)));
}

TEST(GeluTest, AgreesWithDoubleOverItsWholeRange) {
  for (double x = -12; x < 12; x += 0.00173) {
    const float argument = static_cast<float>(x);
    const double at = static_cast<double>(argument);
    const double below = 0.5 * std::erfc(-at / std::sqrt(2.0));
    const double density = std::exp(-at * at / 2) / std::sqrt(2 * std::acos(-1.0));
    const double tolerance = 4e-7 * (1 + std::abs(at));
    ASSERT_NEAR(static_cast<double>(math::StandardNormal(argument).below), below, 2e-7) << x;
    ASSERT_NEAR(static_cast<double>(math::Gelu(argument)), at * below, tolerance) << x;
    ASSERT_NEAR(static_cast<double>(math::GeluSlope(argument)), below + at * density, tolerance)
        << x;
  }
}

TEST(GeluTest, FarOutItIsZeroOrTheIdentityAndNotANumberStays) {
  std::vector<float> y(4);
  const std::vector<float> x = {-1e30f, 1e30f, 0.0f, kNaN};
  Gelu(x.data(), y.data(), x.size());
  EXPECT_EQ(y[0], 0.0f);
  EXPECT_EQ(y[1], 1e30f);
  EXPECT_EQ(y[2], 0.0f);
  EXPECT_TRUE(std::isnan(y[3]));
}

TEST(GeluTest, BackwardMultipliesByTheSlope) {
  const std::vector<float> x = Random(1, 37, 3.0f), dy = Random(2, 37, 1.0f);
  std::vector<float> dx = dy;
  GeluBackward(x.data(), dx.data(), dx.size());
  const auto gelu = [](const Doubles& in) {
    Doubles out;
    for (const double v : in) out.push_back(v * 0.5 * std::erfc(-v / std::sqrt(2.0)));
    return out;
  };
  ExpectNear(dx, Differences(Wide(x), gelu, dy), 4e-7 * 4);
}

TEST(GeluTest, WhereAValueStandsChangesNoBit) {
  const std::vector<float> x = Random(3, 67, 4.0f);
  std::vector<float> whole(x.size()), alone(x.size());
  Gelu(x.data(), whole.data(), x.size());
  for (std::size_t i = 0; i < x.size(); ++i) Gelu(&x[i], &alone[i], 1);
  EXPECT_EQ(Bits(whole), Bits(alone));
}

// ---- Rows of a table

TEST(RowsTest, GatherTakesRowsAndAddToRowsAddsThemInOrder) {
  const std::vector<float> table = {1, 2, 3, 4, 5, 6};
  const std::vector<std::uint32_t> ids = {2, 0, 2};
  std::vector<float> out(6, kNaN);
  GatherRows(table.data(), ids.data(), out.data(), 3, 2);
  EXPECT_EQ(out, (std::vector<float>{5, 6, 1, 2, 5, 6}));

  // In any other order 2^24 would not swallow the ones.
  std::vector<float> sums = {0, 0, 0, 0, 0x1.0p24f, 10};
  const std::vector<float> x = {1, 1, 7, 8, 1, 2};
  AddToRows(x.data(), ids.data(), sums.data(), 3, 2);
  EXPECT_EQ(sums, (std::vector<float>{7, 8, 0, 0, 0x1.0p24f, 13}));
}

TEST(RowsTest, SumsOverPartsOfABatchAddToWhatIsThere) {
  const std::vector<float> a = {1, 2, 3, 4, 5, 6}, b = {1, 0, 2, 1, 1, 1};  // Both 3 x 2.
  std::vector<float> c = {100, 200, 300, 400};
  AddMatMulTransposedA(a.data(), b.data(), c.data(), 2, 3, 2);
  EXPECT_EQ(c, (std::vector<float>{112, 208, 316, 410}));

  std::vector<float> d(9, 1000);
  AddMatMulTransposedB(a.data(), b.data(), d.data(), 3, 2, 3);
  EXPECT_EQ(d, (std::vector<float>{1001, 1004, 1003, 1003, 1010, 1007, 1005, 1016, 1011}));

  std::vector<float> sums = {10, 20};
  AddSumColumns(a.data(), sums.data(), 3, 2);
  EXPECT_EQ(sums, (std::vector<float>{19, 32}));
}

// ---- Layer norm

Doubles LayerNormInDouble(const Doubles& x, const Doubles& weight, const Doubles& bias) {
  const std::size_t width = weight.size();
  Doubles y(x.size());
  for (std::size_t r = 0; r < x.size(); r += width) {
    double mean = 0, variance = 0;
    for (std::size_t c = 0; c < width; ++c) mean += x[r + c] / static_cast<double>(width);
    for (std::size_t c = 0; c < width; ++c)
      variance += (x[r + c] - mean) * (x[r + c] - mean) / static_cast<double>(width);
    const double root = std::sqrt(variance + static_cast<double>(kLayerNormEpsilon));
    for (std::size_t c = 0; c < width; ++c)
      y[r + c] = (x[r + c] - mean) / root * weight[c] + bias[c];
  }
  return y;
}

TEST(LayerNormTest, AgreesWithDoubleAndItsGradientWithDifferences) {
  for (const std::size_t width : {5u, 16u, 39u}) {
    constexpr std::size_t kRows = 3;
    const std::vector<float> x = Random(4, kRows * width, 2.0f), weight = Random(5, width, 1.0f),
                             bias = Random(6, width, 1.0f), dy = Random(7, kRows * width, 1.0f);
    std::vector<float> y(x.size(), kNaN);
    std::vector<RowMoments> moments(kRows);
    LayerNorm(x.data(), weight.data(), bias.data(), y.data(), moments.data(), kRows, width);
    // Values below 4, from sums of up to 39 terms below 4.
    const double tolerance = 64 * 4 * kUnit;
    ExpectNear(y, LayerNormInDouble(Wide(x), Wide(weight), Wide(bias)), tolerance);

    // All three gradients add to what is there: here halves.
    std::vector<float> dx(x.size(), 0.5f), dweight(width, 0.5f), dbias(width, 0.5f);
    AddLayerNormGradient(x.data(), weight.data(), moments.data(), dy.data(), dx.data(),
                         dweight.data(), dbias.data(), kRows, width);
    const auto plus_half = [](Doubles slopes) {
      for (double& slope : slopes) slope += 0.5;
      return slopes;
    };
    const auto of_x = [&](const Doubles& at) {
      return LayerNormInDouble(at, Wide(weight), Wide(bias));
    };
    const auto of_weight = [&](const Doubles& at) {
      return LayerNormInDouble(Wide(x), at, Wide(bias));
    };
    const auto of_bias = [&](const Doubles& at) {
      return LayerNormInDouble(Wide(x), Wide(weight), at);
    };
    ExpectNear(dx, plus_half(Differences(Wide(x), of_x, dy)), tolerance);
    ExpectNear(dweight, plus_half(Differences(Wide(weight), of_weight, dy)), tolerance);
    ExpectNear(dbias, plus_half(Differences(Wide(bias), of_bias, dy)), tolerance);
  }
}

TEST(LayerNormTest, ARowOfEqualValuesBecomesTheBias) {
  const std::vector<float> x(8, 3.0f), weight(8, 2.0f), bias(8, 0.25f);
  std::vector<float> y(8);
  RowMoments moments;
  LayerNorm(x.data(), weight.data(), bias.data(), y.data(), &moments, 1, 8);
  EXPECT_EQ(y, bias);
  EXPECT_EQ(moments.mean, 3.0f);
}

// ---- Rotary positions

TEST(RotaryTest, TurnsPairsOfQueryAndKeyByTheirPosition) {
  constexpr AttentionShape kShape{.sequences = 2, .positions = 3, .heads = 2, .head_size = 8};
  constexpr std::size_t kPairs = 2;
  std::vector<float> cosines(6), sines(6);
  RotaryAngles(3, kPairs, cosines.data(), sines.data());
  const std::vector<float> before = Random(8, 2 * 3 * 2 * 24, 1.0f);
  std::vector<float> after = before;
  Rotate(cosines.data(), sines.data(), kPairs, Turn::kForth, kShape, after.data());

  Doubles expected = Wide(before);
  for (std::size_t token = 0; token < 6; ++token) {
    for (std::size_t head = 0; head < 2; ++head) {
      for (const std::size_t part : {0u, 1u}) {
        double* x = expected.data() + ((token * 2 + head) * 3 + part) * 8;
        const double speeds[] = {1.0, 0.01};  // 10000^(-i / 2)
        for (std::size_t i = 0; i < kPairs; ++i) {
          const double angle = static_cast<double>(token % 3) * speeds[i];
          const double first = x[i], second = x[i + kPairs];
          x[i] = first * std::cos(angle) - second * std::sin(angle);
          x[i + kPairs] = second * std::cos(angle) + first * std::sin(angle);
        }
      }
    }
  }
  ExpectNear(after, expected, 4 * kUnit);

  // A rotation's gradient is the rotation back, and that undoes it.
  Rotate(cosines.data(), sines.data(), kPairs, Turn::kBack, kShape, after.data());
  ExpectNear(after, Wide(before), 8 * kUnit);
}

// ---- Attention

Doubles AttentionInDouble(const Doubles& fused, const AttentionShape& shape) {
  Doubles out(shape.tokens() * shape.width());
  const auto at = [&](std::size_t token, std::size_t head, std::size_t part) {
    return fused.data() + ((token * shape.heads + head) * 3 + part) * shape.head_size;
  };
  for (std::size_t token = 0; token < shape.tokens(); ++token) {
    const std::size_t first = token - token % shape.positions;
    for (std::size_t head = 0; head < shape.heads; ++head) {
      Doubles weights;
      double sum = 0;
      for (std::size_t key = first; key <= token; ++key) {
        const double score =
            std::inner_product(at(token, head, 0), at(token, head, 0) + shape.head_size,
                               at(key, head, 1), 0.0) /
            std::sqrt(static_cast<double>(shape.head_size));
        weights.push_back(std::exp(score));
        sum += weights.back();
      }
      double* result = out.data() + token * shape.width() + head * shape.head_size;
      for (std::size_t key = first; key <= token; ++key) {
        for (std::size_t c = 0; c < shape.head_size; ++c)
          result[c] += weights[key - first] / sum * at(key, head, 2)[c];
      }
    }
  }
  return out;
}

struct Attended {
  explicit Attended(const AttentionShape& shape, const std::vector<float>& fused)
      : out(shape.tokens() * shape.width(), kNaN), logsum(shape.tokens() * shape.heads, kNaN) {
    CausalAttention(fused.data(), out.data(), logsum.data(), shape);
  }
  std::vector<float> out, logsum;
};

TEST(AttentionTest, AgreesWithDoubleAndItsGradientWithDifferences) {
  // One position; a few; and more than one block of 64 queries.
  const AttentionShape shapes[] = {{2, 1, 1, 4}, {2, 7, 3, 8}, {1, 70, 1, 8}};
  for (const AttentionShape& shape : shapes) {
    const std::size_t count = shape.tokens() * shape.width();
    const std::vector<float> fused = Random(9, 3 * count, 1.0f), dout = Random(10, count, 1.0f);
    const Attended attended(shape, fused);
    // Means of values below 1; scores below 3 and their exponentials have a few roundings each.
    constexpr double kTolerance = 32 * kUnit;
    ExpectNear(attended.out, AttentionInDouble(Wide(fused), shape), kTolerance);

    std::vector<float> dfused(fused.size(), kNaN);
    CausalAttentionBackward(fused.data(), attended.out.data(), attended.logsum.data(), dout.data(),
                            dfused.data(), shape);
    const auto attention = [&](const Doubles& at) { return AttentionInDouble(at, shape); };
    // A key's gradient is a sum over up to 70 queries.
    ExpectNear(dfused, Differences(Wide(fused), attention, dout), 70 * kTolerance);
  }
}

TEST(AttentionTest, NothingIsSeenOfLaterPositionsOrOtherSequences) {
  constexpr AttentionShape kShape{.sequences = 2, .positions = 66, .heads = 1, .head_size = 8};
  std::vector<float> fused = Random(11, kShape.tokens() * 24, 1.0f);
  const Attended before(kShape, fused);
  // Whatever stands at the last positions of the first sequence...
  for (std::size_t i = 60 * 24; i < 66 * 24; ++i) fused[i] = 50.0f;
  const Attended after(kShape, fused);
  for (std::size_t i = 0; i < before.out.size(); ++i) {
    const std::size_t token = i / 8;
    if (token < 60 || token >= 66) {
      ASSERT_EQ(before.out[i], after.out[i]) << "token " << token;
    }
  }
}

TEST(AttentionTest, HugeScoresOverflowNowhere) {
  constexpr AttentionShape kShape{.sequences = 1, .positions = 2, .heads = 1, .head_size = 1};
  const std::vector<float> fused = {1e18f, 1e18f, 3.0f, 1e18f, -1e18f, 5.0f};
  const Attended attended(kShape, fused);
  EXPECT_EQ(attended.out, (std::vector<float>{3.0f, 3.0f}));
  const std::vector<float> dout = {1, 1};
  std::vector<float> dfused(6);
  CausalAttentionBackward(fused.data(), attended.out.data(), attended.logsum.data(), dout.data(),
                          dfused.data(), kShape);
  EXPECT_EQ(dfused, (std::vector<float>{0, 0, 2, 0, 0, 0}));
}

TEST(AttentionTest, GivesTheSameBitsWhereverItsInputLies) {
  constexpr AttentionShape kShape{.sequences = 1, .positions = 40, .heads = 2, .head_size = 8};
  const std::vector<float> fused = Random(12, kShape.tokens() * 48, 1.0f);
  std::vector<float> moved(fused.size() + 1);
  std::copy(fused.begin(), fused.end(), moved.begin() + 1);
  std::vector<float> out(kShape.tokens() * 16 + 3), logsum(kShape.tokens() * 2);
  CausalAttention(moved.data() + 1, out.data() + 3, logsum.data(), kShape);
  out.erase(out.begin(), out.begin() + 3);
  EXPECT_EQ(Bits(out), Bits(Attended(kShape, fused).out));
}

}  // namespace
}  // namespace slackline
