#include "kernels/initialize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace slackline {
namespace {

constexpr std::uint64_t kLastKey = ~std::uint64_t{0};

// Tensors of 12, 0, 1, 30 and 7 elements; the third begins at zero.
ParameterSpec Spec() {
  return {.tensors = {{"w", {3, 4}, {0.5f}},
                      {"none", {5, 0}, {1.0f}},
                      {"bias", {}, {}},
                      {"v", {30}, {0.125f}},
                      {"u", {7}, {0.125f}}},
          .tables = {}};
}

std::vector<float> Dense(const ParameterSpec& spec, std::uint64_t seed, std::uint64_t begin,
                         std::size_t count) {
  std::vector<float> out(count, 99.0f);
  InitializeDense(spec, seed, begin, out);
  return out;
}

std::vector<float> Row(const TableSpec& table, std::uint32_t index, std::uint64_t seed,
                       std::uint64_t key) {
  std::vector<float> out(table.width, 99.0f);
  InitializeRow(table, index, seed, key, out);
  return out;
}

TEST(InitializeDenseTest, EverySliceIsTheSamePartOfTheWhole) {
  const ParameterSpec spec = Spec();
  const std::size_t total = static_cast<std::size_t>(spec.dense_elements());
  ASSERT_EQ(total, 50u);
  const std::vector<float> whole = Dense(spec, 3, 0, total);
  for (std::size_t begin = 0; begin <= total; ++begin) {
    for (std::size_t end = begin; end <= total; ++end) {
      const auto part = std::span(whole).subspan(begin, end - begin);
      ASSERT_EQ(Dense(spec, 3, begin, end - begin), std::vector<float>(part.begin(), part.end()))
          << "[" << begin << ", " << end << ")";
    }
  }
}

TEST(InitializeDenseTest, ValuesKeepWithinTheirTensorsBoundAndFillIt) {
  const ParameterSpec spec{
      .tensors = {{"a", {4000}, {0.5f}}, {"zero", {10}, {}}, {"b", {4000}, {0.125f}}}};
  const std::vector<float> values = Dense(spec, 3, 0, 8010);
  for (const auto& [begin, bound] : {std::pair{0, 0.5f}, std::pair{4010, 0.125f}}) {
    const auto [low, high] =
        std::minmax_element(values.begin() + begin, values.begin() + begin + 4000);
    EXPECT_GE(*low, -bound);
    EXPECT_LT(*high, bound);
    // Of 4000 uniform numbers none above 0.99 of the bound: a chance of 0.995^4000 = 2e-9.
    EXPECT_LT(*low, -0.99f * bound);
    EXPECT_GT(*high, 0.99f * bound);
  }
  EXPECT_TRUE(
      std::all_of(values.begin() + 4000, values.begin() + 4010, [](float v) { return v == 0.0f; }));
}

TEST(InitializeDenseTest, ValuesLieAroundTheirCenter) {
  const ParameterSpec spec{.tensors = {{"a", {16}, {0.5f}}}};
  ParameterSpec moved = spec;
  moved.tensors[0].init.center = 4.0f;
  moved.tensors.push_back({"ones", {3}, {.center = 1.0f}});
  std::vector<float> expected = Dense(spec, 3, 0, 16);
  for (float& value : expected) value += 4.0f;
  expected.insert(expected.end(), 3, 1.0f);
  EXPECT_EQ(Dense(moved, 3, 0, 19), expected);
}

TEST(InitializeDenseTest, SeedAndTensorMatter) {
  const ParameterSpec spec{.tensors = {{"a", {16}, {0.5f}}, {"b", {16}, {0.5f}}}};
  const std::vector<float> one = Dense(spec, 1, 0, 32);
  EXPECT_EQ(one, Dense(spec, 1, 0, 32));
  EXPECT_NE(one, Dense(spec, 2, 0, 32));
  EXPECT_NE(one, Dense(spec, std::uint64_t{1} << 32 | 1, 0, 32));  // Both halves of the seed count.
  EXPECT_NE(Dense(spec, 1, 0, 16), Dense(spec, 1, 16, 16));
}

TEST(InitializeRowTest, RowsDifferByKeyTableAndSeed) {
  const TableSpec table{"t", 4, {0.5f}};
  std::set<std::vector<float>> seen;
  const std::uint64_t keys[] = {
      0, 1, 2, std::uint64_t{1} << 32, std::uint64_t{1} << 63, kLastKey - 1, kLastKey};
  for (const std::uint64_t key : keys) {
    for (const std::uint32_t index : {0u, 1u, 1023u}) {
      for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{2}}) {
        const std::vector<float> row = Row(table, index, seed, key);
        EXPECT_EQ(row, Row(table, index, seed, key));
        EXPECT_TRUE(seen.insert(row).second)
            << "key " << key << " table " << index << " seed " << seed;
        for (const float value : row) EXPECT_TRUE(value >= -0.5f && value < 0.5f) << value;
        // The places within a row differ too.
        EXPECT_EQ(std::set<float>(row.begin(), row.end()).size(), 4u) << "key " << key;
      }
    }
  }
  EXPECT_EQ(seen.size(), 7u * 3 * 2);
}

TEST(InitializeRowTest, ATableWithoutBoundBeginsAtItsCenter) {
  EXPECT_EQ(Row({"t", 3, {}}, 0, 1, kLastKey), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(Row({"t", 2, {.center = 2.5f}}, 0, 1, kLastKey), (std::vector<float>{2.5f, 2.5f}));
}

TEST(InitializeRowTest, RowsAndTensorsShareNoStream) {
  const ParameterSpec spec{.tensors = {{"a", {8}, {0.5f}}}};
  const std::vector<float> dense = Dense(spec, 1, 0, 8);
  for (std::uint64_t key = 0; key < 8; ++key) {
    EXPECT_EQ(std::count(dense.begin(), dense.end(), Row({"t", 1, {0.5f}}, 0, 1, key)[0]), 0)
        << key;
  }
}

}  // namespace
}  // namespace slackline
