#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "core/wire/archive.h"
#include "core/wire/statistics.h"

namespace slackline {
namespace {

Histogram Of(std::vector<std::uint64_t> values) {
  Histogram histogram;
  for (const std::uint64_t value : values) histogram.Add(value);
  return histogram;
}

TEST(Histogram, EmptyIsAllZeros) {
  const Histogram empty;

  EXPECT_EQ(empty.count(), 0u);
  EXPECT_EQ(empty.mean(), 0.0);
  EXPECT_EQ(empty.max(), 0u);
  EXPECT_EQ(empty.Quantile(0.5), 0u);
  EXPECT_TRUE(empty.Valid());
}

TEST(Histogram, CountsExactly) {
  const Histogram histogram = Of({3, 0, 1, 1});

  EXPECT_EQ(histogram.bins(), (std::vector<std::uint64_t>{1, 2, 0, 1}));
  EXPECT_EQ(histogram.count(), 4u);
  EXPECT_EQ(histogram.mean(), 1.25);
  EXPECT_EQ(histogram.max(), 3u);
  EXPECT_TRUE(histogram.Valid());
}

TEST(Histogram, QuantileIsTheSmallestValueThatTheShareDoesNotExceed) {
  const Histogram histogram = Of({0, 1, 2, 3});

  EXPECT_EQ(histogram.Quantile(0.25), 0u);
  EXPECT_EQ(histogram.Quantile(0.26), 1u);
  EXPECT_EQ(histogram.Quantile(0.5), 1u);
  EXPECT_EQ(histogram.Quantile(1.0), 3u);
}

TEST(Histogram, TheLastBinHoldsTheRest) {
  const Histogram histogram = Of({Histogram::kBins - 2, Histogram::kBins - 1, 5000});

  EXPECT_EQ(histogram.bins().size(), Histogram::kBins);
  EXPECT_EQ(histogram.bins().back(), 2u);
  EXPECT_EQ(histogram.max(), 5000u);
  EXPECT_EQ(histogram.Quantile(1.0), 5000u);
  EXPECT_TRUE(histogram.Valid());
}

TEST(Histogram, MergeIsAddingEverything) {
  Histogram merged = Of({1, 2});
  merged.Merge(Of({7}));
  merged.Merge(Histogram());

  EXPECT_EQ(merged, Of({1, 2, 7}));
}

// What a peer may send: bins, count, sum, max in wire order.
TEST(Histogram, ContradictionsAreSeen) {
  const std::vector<std::uint64_t> too_many(Histogram::kBins + 1, 1);
  std::vector<std::uint64_t> overflow(Histogram::kBins);
  overflow.back() = 1;
  struct {
    std::vector<std::uint64_t> bins;
    std::uint64_t count, sum, max;
    bool valid;
  } cases[] = {
      {{1, 2}, 3, 2, 1, true},
      {{1, 2}, 4, 2, 1, false},     // Another count.
      {{1, 2}, 3, 3, 1, false},     // Another sum.
      {{1, 2}, 3, 2, 2, false},     // A maximum that no bin holds.
      {{1, 2, 0}, 3, 2, 1, false},  // A trailing zero.
      {{}, 1, 0, 0, false},         // A count without bins.
      {{}, 0, 0, 9, false},         // A maximum without bins.
      {overflow, 1, 5000, 5000, true},
      {overflow, 1, 5000, 254, false},  // A maximum below the last bin, which is not empty.
      {too_many, 257, 0, 300, false},
  };
  for (auto& c : cases) {
    std::vector<std::byte> bytes;
    WriteArchive writer(bytes);
    writer(c.bins, c.count, c.sum, c.max);
    Histogram histogram;
    ReadArchive archive(bytes);
    archive(histogram);

    ASSERT_TRUE(archive.Complete());
    EXPECT_EQ(histogram.Valid(), c.valid)
        << "count " << c.count << " sum " << c.sum << " max " << c.max;
  }
}

}  // namespace
}  // namespace slackline
