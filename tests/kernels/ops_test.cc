#include "kernels/ops.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "slackline/random.h"

namespace slackline {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr double kUnit = 0x1.0p-24;  // Half an ulp of fp32 at 1: one rounding's relative error.

std::vector<float> Random(std::uint64_t stream, std::size_t count, float bound) {
  std::vector<float> values(count);
  const RandomStream random(11, RandomPurpose::kTest, stream);
  for (std::size_t i = 0; i < count; ++i) values[i] = random.UniformFloat(i, bound);
  return values;
}

std::vector<std::uint32_t> Bits(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

std::vector<float> Transposed(const std::vector<float>& x, std::size_t rows, std::size_t columns) {
  std::vector<float> out(x.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) out[c * rows + r] = x[r * columns + c];
  }
  return out;
}

// c = a b against a plain triple loop in double. In whatever order k products are summed in fp32,
// fused or not, the error is at most k u / (1 - k u) times the sum of the products' sizes (Higham,
// "Accuracy and Stability of Numerical Algorithms", 2nd ed., section 3.1); k + 1 covers the
// denominator here.
void ExpectProduct(const std::vector<float>& a, const std::vector<float>& b,
                   const std::vector<float>& c, std::size_t m, std::size_t k, std::size_t n) {
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0, size = 0;
      for (std::size_t p = 0; p < k; ++p) {
        const double product =
            static_cast<double>(a[i * k + p]) * static_cast<double>(b[p * n + j]);
        sum += product;
        size += std::abs(product);
      }
      ASSERT_NEAR(static_cast<double>(c[i * n + j]), sum, static_cast<double>(k + 1) * kUnit * size)
          << m << "x" << k << "x" << n << " at " << i << ", " << j;
    }
  }
}

TEST(OpsTest, MatMulsAgreeWithTheTripleLoop) {
  const std::size_t shapes[][3] = {{1, 1, 1},    {1, 7, 3},   {5, 1, 4},    {3, 8, 1},
                                   {16, 16, 16}, {17, 33, 9}, {32, 64, 10}, {31, 257, 13}};
  for (const auto& [m, k, n] : shapes) {
    const std::vector<float> a = Random(1, m * k, 1.0f), b = Random(2, k * n, 1.0f);
    // What lies in `c` before must not matter.
    std::vector<float> c(m * n, kNaN);
    MatMul(a.data(), b.data(), c.data(), m, k, n);
    ExpectProduct(a, b, c, m, k, n);

    std::fill(c.begin(), c.end(), kNaN);
    MatMulTransposedA(Transposed(a, m, k).data(), b.data(), c.data(), m, k, n);
    ExpectProduct(a, b, c, m, k, n);

    std::fill(c.begin(), c.end(), kNaN);
    MatMulTransposedB(a.data(), Transposed(b, k, n).data(), c.data(), m, k, n);
    ExpectProduct(a, b, c, m, k, n);
  }
}

TEST(OpsTest, MatMulsGiveTheSameBitsEachTime) {
  const std::vector<float> a = Random(3, 32 * 100, 1.0f), b = Random(4, 100 * 17, 1.0f);
  std::vector<float> once(32 * 17), again(32 * 17);
  MatMul(a.data(), b.data(), once.data(), 32, 100, 17);
  MatMul(a.data(), b.data(), again.data(), 32, 100, 17);
  EXPECT_EQ(Bits(once), Bits(again));
}

TEST(OpsTest, AddBiasAddsToEveryRow) {
  const std::vector<float> bias = {1.0f, 10.0f, 100.0f};
  std::vector<float> x = {1, 2, 3, 4, 5, 6};
  AddBias(bias.data(), x.data(), 2, 3);
  EXPECT_EQ(x, (std::vector<float>{2, 12, 103, 5, 15, 106}));
}

TEST(OpsTest, SumColumnsAddsRowByRow) {
  // From the top down 2^24 swallows each 1; from the bottom up it would not.
  const std::vector<float> x = {0x1.0p24f, 1, 1.0f, 2, 1.0f, 3};
  std::vector<float> sums = {kNaN, kNaN};
  SumColumns(x.data(), sums.data(), 3, 2);
  EXPECT_EQ(sums, (std::vector<float>{0x1.0p24f, 6}));

  SumColumns(x.data(), sums.data(), 0, 2);
  EXPECT_EQ(sums, (std::vector<float>{0, 0}));
}

TEST(OpsTest, ReluKeepsPositiveValuesAndNotANumber) {
  std::vector<float> x = {-1, 0, 2, -kInfinity, kInfinity, kNaN, -0x1.0p-149f, 0x1.0p-149f, -3};
  Relu(x.data(), x.size());
  EXPECT_TRUE(std::isnan(x[5]));
  x[5] = 0;
  EXPECT_EQ(x, (std::vector<float>{0, 0, 2, 0, kInfinity, 0, 0, 0x1.0p-149f, 0}));
}

TEST(OpsTest, ReluBackwardPassesOnlyWhereTheActivationWasPositive) {
  const std::vector<float> activation = {0, 1, 0, 0x1.0p-149f, 5};
  std::vector<float> gradient = {1, 2, kNaN, 4, -5};
  ReluBackward(activation.data(), gradient.data(), gradient.size());
  EXPECT_EQ(gradient, (std::vector<float>{0, 2, 0, 4, -5}));
}

// The mean loss in double, from the definition: log sum exp - logit of the label.
double MeanLoss(const std::vector<double>& logits, const std::vector<std::uint32_t>& labels,
                std::size_t classes) {
  double loss = 0;
  for (std::size_t r = 0; r < labels.size(); ++r) {
    const double* row = logits.data() + r * classes;
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) sum += std::exp(row[c]);
    loss += std::log(sum) - row[labels[r]];
  }
  return loss / static_cast<double>(labels.size());
}

TEST(OpsTest, SoftmaxCrossEntropyAgreesWithDoubleAndFiniteDifferences) {
  constexpr std::size_t kRows = 7, kClasses = 5;
  const std::vector<float> logits = Random(5, kRows * kClasses, 4.0f);
  const std::vector<std::uint32_t> labels = {0, 1, 2, 3, 4, 0, 2};
  std::vector<double> exact(logits.begin(), logits.end());
  std::vector<float> gradient(logits.size(), kNaN);

  const Classified found =
      SoftmaxCrossEntropy(logits.data(), labels.data(), gradient.data(), kRows, kClasses);

  // exp of fp32 differences up to 8: a relative error of 8 roundings and the function's own.
  EXPECT_NEAR(found.loss, kRows * MeanLoss(exact, labels, kClasses), kRows * 16 * kUnit);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    // Central differences in double: an error of h^2 / 6 times a third derivative below 1, and of
    // 1e-16 / h.
    constexpr double kStep = 1e-5;
    const double here = exact[i];
    exact[i] = here + kStep;
    const double above = MeanLoss(exact, labels, kClasses);
    exact[i] = here - kStep;
    const double below = MeanLoss(exact, labels, kClasses);
    exact[i] = here;
    EXPECT_NEAR(static_cast<double>(gradient[i]), (above - below) / (2 * kStep), 16 * kUnit) << i;
  }

  // In place gives the same bits, and no gradient the same loss.
  std::vector<float> in_place = logits;
  SoftmaxCrossEntropy(in_place.data(), labels.data(), in_place.data(), kRows, kClasses);
  EXPECT_EQ(Bits(in_place), Bits(gradient));
  EXPECT_EQ(SoftmaxCrossEntropy(logits.data(), labels.data(), nullptr, kRows, kClasses).loss,
            found.loss);
}

TEST(OpsTest, HugeLogitsOverflowNowhere) {
  const std::vector<float> logits = {1e30f, -1e30f, 0.0f, 1e30f, -1e30f, 0.0f};
  const std::vector<std::uint32_t> labels = {0, 1};
  std::vector<float> gradient(6);
  const Classified found = SoftmaxCrossEntropy(logits.data(), labels.data(), gradient.data(), 2, 3);
  EXPECT_EQ(found.loss, 2.0 * static_cast<double>(1e30f));
  EXPECT_EQ(found.correct, 1u);
  EXPECT_EQ(gradient, (std::vector<float>{0.0f, 0.0f, 0.0f, 0.5f, -0.5f, 0.0f}));
}

TEST(OpsTest, OfEqualLogitsTheFirstIsTheAnswer) {
  const std::vector<float> logits(3 * 4, 2.5f);
  const std::vector<std::uint32_t> labels = {0, 1, 0};
  const Classified found = SoftmaxCrossEntropy(logits.data(), labels.data(), nullptr, 3, 4);
  EXPECT_EQ(found.correct, 2u);
  EXPECT_DOUBLE_EQ(found.loss, 3 * std::log(4.0));
}

TEST(OpsTest, AddScaledIsFusedBitForBit) {
  for (const std::size_t size : {0u, 1u, 31u, 32u, 33u, 255u, 256u, 257u, 10007u}) {
    const std::vector<float> x = Random(6, size, 1.0f), before = Random(7, size, 1.0f);
    std::vector<float> y = before, expected, unfused;
    y.push_back(99.0f);  // A guard.
    for (std::size_t i = 0; i < size; ++i) {
      expected.push_back(std::fma(0.37f, x[i], before[i]));
      unfused.push_back(0.37f * x[i] + before[i]);
    }
    expected.push_back(99.0f);
    unfused.push_back(99.0f);
    AddScaled(0.37f, x.data(), y.data(), size);
    EXPECT_EQ(Bits(y), Bits(expected)) << size;
    if (size > 200) {
      EXPECT_NE(Bits(unfused), Bits(expected)) << "the inputs tell nothing";
    }
  }
}

TEST(OpsTest, ScaleMultipliesEachAndNothingBesideThem) {
  std::vector<float> x = {1, -2, kInfinity, 4, 5, 6, 7, 8, 9, 99};
  Scale(0.5f, x.data(), 9);
  EXPECT_EQ(x, (std::vector<float>{0.5f, -1, kInfinity, 2, 2.5f, 3, 3.5f, 4, 4.5f, 99}));
}

TEST(OpsTest, SumOfSquaresIsASumInDouble) {
  for (const std::size_t size : {0u, 1u, 7u, 8u, 9u, 31u, 255u, 257u, 10007u}) {
    const std::vector<float> x = Random(8, size, 1.0f);
    long double sum = 0;
    for (const float value : x)
      sum += static_cast<long double>(value) * static_cast<long double>(value);
    // n roundings of at most 2^-53 each, all terms positive.
    const double expected = static_cast<double>(sum);
    EXPECT_NEAR(SumOfSquares(x), expected, static_cast<double>(size + 1) * 0x1.0p-53 * expected)
        << size;
  }
  // Beyond the range of fp32.
  EXPECT_EQ(SumOfSquares(std::vector<float>{0x1.0p100f, 0x1.0p100f}), 0x1.0p201);
}

TEST(OpsTest, AllFiniteFindsABadValueAnywhere) {
  for (const std::size_t size : {1u, 7u, 8u, 9u, 31u, 32u, 33u, 67u}) {
    std::vector<float> x = Random(9, size, 1.0f);
    x[0] = std::numeric_limits<float>::max();
    EXPECT_TRUE(AllFinite(x)) << size;
    for (std::size_t at = 0; at < size; ++at) {
      for (const float bad : {kNaN, -kNaN, kInfinity, -kInfinity}) {
        std::vector<float> poisoned = x;
        poisoned[at] = bad;
        EXPECT_FALSE(AllFinite(poisoned)) << bad << " at " << at << " of " << size;
      }
    }
  }
  EXPECT_TRUE(AllFinite({}));
}

}  // namespace
}  // namespace slackline
