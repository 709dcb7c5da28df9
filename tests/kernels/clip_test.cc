#include "kernels/clip.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/ops.h"

namespace slackline {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Two tensors of 2 and 3 elements with an empty one between them, and a table of width 2.
ParameterSpec Spec() {
  return {.tensors = {{"a", {2}, {}}, {"none", {0}, {}}, {"b", {3}, {}}}, .tables = {{"t", 2, {}}}};
}

struct Clipped {
  std::vector<float> dense;
  std::vector<Rows> rows;
};

Clipped Clip(std::string_view how, float norm, std::vector<float> dense,
             std::vector<float> row_values) {
  Clipped c{std::move(dense), {}};
  if (!row_values.empty()) c.rows = {{.table = 0, .keys = {5, 9}, .values = std::move(row_values)}};
  ClipGradient(how, norm, Spec(), c.dense, c.rows);
  return c;
}

void ExpectNear(const std::vector<float>& got, const std::vector<float>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  // Two roundings: of the factor and of the product.
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], 2 * 0x1.0p-24f * std::abs(expected[i])) << i;
  }
}

TEST(ClipTest, NoneLeavesEverythingAsItIs) {
  const Clipped c = Clip("none", 1.0f, {30, 40, 0, 0, 0}, {50, 0, 0, 0});
  EXPECT_EQ(c.dense, (std::vector<float>{30, 40, 0, 0, 0}));
  EXPECT_EQ(c.rows[0].values, (std::vector<float>{50, 0, 0, 0}));
}

TEST(ClipTest, GlobalScalesAllByOneNormInWhichRowsCount) {
  // 2^2 + 4^2 + 5^2 + 6^2 = 81, and the rows' 12^2 make 225 = 15^2; to 5: a third.
  const Clipped c = Clip("global", 5.0f, {2, 4, 5, 6, 0}, {0, 12, 0, 0});
  ExpectNear(c.dense, {2.0f / 3, 4.0f / 3, 5.0f / 3, 2, 0});
  ExpectNear(c.rows[0].values, {0, 4, 0, 0});
  EXPECT_EQ(c.rows[0].keys, (std::vector<std::uint64_t>{5, 9}));
  const double sum = SumOfSquares(c.dense) + SumOfSquares(c.rows[0].values);
  EXPECT_NEAR(std::sqrt(sum), 5.0, 5.0 * 2 * 0x1.0p-24);
}

TEST(ClipTest, TensorScalesEveryTensorAndTableByItsOwn) {
  // Norms 5, 3 and 10; only what exceeds 4 shrinks.
  const Clipped c = Clip("tensor", 4.0f, {3, 4, 2, 2, 1}, {0, 6, 8, 0});
  ExpectNear(c.dense, {2.4f, 3.2f, 2, 2, 1});
  ExpectNear(c.rows[0].values, {0, 2.4f, 3.2f, 0});
}

TEST(ClipTest, ANormExactlyAtTheLimitIsUntouched) {
  for (const char* how : {"global", "tensor"}) {
    EXPECT_EQ(Clip(how, 5.0f, {3, 4, 0, 0, 0}, {}).dense, (std::vector<float>{3, 4, 0, 0, 0}))
        << how;
    // One ulp less, and it is touched.
    EXPECT_NE(Clip(how, std::nextafter(5.0f, 0.0f), {3, 4, 0, 0, 0}, {}).dense,
              (std::vector<float>{3, 4, 0, 0, 0}))
        << how;
  }
}

TEST(ClipTest, AZeroGradientStaysZero) {
  for (const char* how : {"global", "tensor"}) {
    EXPECT_EQ(Clip(how, 1.0f, {0, 0, 0, 0, 0}, {}).dense, std::vector<float>(5, 0.0f)) << how;
  }
}

TEST(ClipTest, AGradientThatIsNotFiniteStaysAsItIs) {
  for (const float bad : {kNaN, kInfinity, -kInfinity}) {
    for (const char* how : {"global", "tensor"}) {
      const Clipped c = Clip(how, 1.0f, {30, bad, 0.25f, 0.5f, 0}, {});
      EXPECT_EQ(c.dense[0], 30.0f) << how << " " << bad;
      EXPECT_TRUE(std::isnan(bad) ? std::isnan(c.dense[1]) : c.dense[1] == bad)
          << how << " " << bad;
      EXPECT_EQ(c.dense[2], 0.25f) << how << " " << bad;
    }
    // A bad value in a row holds back the global clip of the dense part too.
    EXPECT_EQ(Clip("global", 1.0f, {30, 0, 0, 0, 0}, {0, bad, 0, 0}).dense[0], 30.0f) << bad;
  }
}

}  // namespace
}  // namespace slackline
