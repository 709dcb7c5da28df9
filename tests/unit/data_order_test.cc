#include "worker/data/data_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "worker/data/permutation.h"

namespace slackline {
namespace {

using Places = std::vector<std::uint64_t>;

constexpr std::uint64_t kSeed = 7;

Places UpTo(std::uint64_t n) {
  Places all(n);
  for (std::uint64_t i = 0; i < n; ++i) all[i] = i;
  return all;
}

Places Sorted(Places places) {
  std::sort(places.begin(), places.end());
  return places;
}

// What `rank` sees in its places [begin, begin + count) of shard order.
Places Walk(const DataOrder& order, std::uint64_t begin, std::uint64_t count) {
  Places seen;
  for (std::uint64_t i = begin; i < begin + count; ++i) seen.push_back(order.ShardBatch(i, 1)[0]);
  return seen;
}

std::uint64_t Share(std::uint64_t examples, std::uint32_t rank, std::uint32_t workers) {
  return examples / workers + (rank < examples % workers ? 1 : 0);
}

TEST(Permutation, HasEveryPlaceOnce) {
  for (const std::uint64_t n : {1, 2, 3, 4, 5, 16, 17, 255, 256, 257, 1000, 4097}) {
    const Permutation permutation(n, {kSeed, RandomPurpose::kTest, n});
    Places seen;
    for (std::uint64_t i = 0; i < n; ++i) seen.push_back(permutation.At(i));

    EXPECT_EQ(Sorted(seen), UpTo(n)) << "n = " << n;
  }
}

// Of 10,000 permutations of four, each of the 24 should come up 417 times. Chi squared with 23
// degrees of freedom passes 49.7 once in a thousand seeds; this seed is fixed.
TEST(Permutation, OrdersAreEquallyLikely) {
  constexpr int kDraws = 10000;
  std::vector<int> counts(256);
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    const Permutation permutation(4, {kSeed, RandomPurpose::kTest, draw});
    std::uint64_t code = 0;
    for (std::uint64_t i = 0; i < 4; ++i) code = code * 4 + permutation.At(i);
    ++counts[code];
  }

  double chi_squared = 0;
  int orders = 0;
  constexpr double kExpected = kDraws / 24.0;
  for (const int count : counts) {
    if (count == 0) continue;
    ++orders;
    chi_squared += (count - kExpected) * (count - kExpected) / kExpected;
  }
  EXPECT_EQ(orders, 24);
  EXPECT_LT(chi_squared, 49.7);
}

struct Deal {
  std::uint64_t examples;
  std::uint32_t workers;
};

TEST(ShardOrder, WorkersTogetherSeeEveryExampleOnceAnEpoch) {
  for (const auto& [examples, workers] :
       {Deal{1, 1}, Deal{2, 1}, Deal{2, 2}, Deal{3, 2}, Deal{7, 7}, Deal{10, 3}, Deal{100, 8}}) {
    for (const std::uint64_t epoch : {0, 1, 5}) {
      Places seen;
      for (std::uint32_t rank = 0; rank < workers; ++rank) {
        const DataOrder order(kSeed, examples, rank, workers);
        const std::uint64_t share = Share(examples, rank, workers);
        const Places own = Walk(order, epoch * share, share);
        seen.insert(seen.end(), own.begin(), own.end());
      }

      EXPECT_EQ(Sorted(seen), UpTo(examples))
          << examples << " examples, " << workers << " workers, epoch " << epoch;
    }
  }
}

TEST(ShardOrder, OwnExamplesStayAndTheirOrderChanges) {
  const DataOrder order(kSeed, 100, 1, 4);

  const Places first = Walk(order, 0, 25);
  const Places second = Walk(order, 25, 25);

  EXPECT_EQ(Sorted(first), Sorted(second));
  EXPECT_NE(first, second);
}

TEST(ShardOrder, BatchesTileTheWalkAcrossEpochs) {
  for (const std::uint32_t batch : {1u, 4u, 25u, 60u}) {
    const DataOrder order(kSeed, 100, 3, 4);  // A share of 25: 60 is more than two epochs.
    Places seen;
    for (std::uint64_t round = 0; round < 5; ++round) {
      const Places examples = order.ShardBatch(round, batch);
      ASSERT_EQ(examples.size(), batch);
      seen.insert(seen.end(), examples.begin(), examples.end());
    }

    EXPECT_EQ(seen, Walk(order, 0, 5 * batch)) << "batch = " << batch;
  }
}

TEST(ShardOrder, RoundsDoNotDependOnThoseBefore) {
  const DataOrder straight(kSeed, 1000, 2, 3);
  Places in_order;
  for (std::uint64_t round = 0; round < 9; ++round) in_order = straight.ShardBatch(round, 64);

  const DataOrder restarted(kSeed, 1000, 2, 3);

  EXPECT_EQ(restarted.ShardBatch(8, 64), in_order);
  EXPECT_NE(restarted.ShardBatch(7, 64), in_order);
}

TEST(ShardOrder, MoreWorkersThanExamplesShareThem) {
  for (std::uint32_t rank = 0; rank < 5; ++rank) {
    const DataOrder order(kSeed, 2, rank, 5);
    const DataOrder owner(kSeed, 2, rank % 2, 5);

    EXPECT_EQ(order.ShardBatch(3, 2), owner.ShardBatch(3, 2)) << "rank " << rank;
  }
}

TEST(ShardOrder, SeedsDiffer) {
  EXPECT_NE(DataOrder(1, 1000, 0, 1).ShardBatch(0, 32), DataOrder(2, 1000, 0, 1).ShardBatch(0, 32));
  EXPECT_NE(Sorted(Walk(DataOrder(1, 1000, 0, 2), 0, 500)),
            Sorted(Walk(DataOrder(2, 1000, 0, 2), 0, 500)));
}

TEST(GlobalOrder, EveryEpochHasEveryExampleOnce) {
  for (const std::uint32_t examples : {1u, 2u, 3u, 10u, 100u}) {
    const DataOrder order(kSeed, examples, 0, 4);
    for (const std::uint64_t epoch : {0, 1, 9}) {
      EXPECT_EQ(Sorted(order.GlobalBatch(epoch * examples, examples)), UpTo(examples))
          << examples << " examples, epoch " << epoch;
    }
  }
}

TEST(GlobalOrder, BatchesTileOneSequenceThatAllWorkersShare) {
  const Places sequence = DataOrder(kSeed, 10, 0, 3).GlobalBatch(0, 42);
  for (const std::uint32_t batch : {1u, 6u, 7u, 21u}) {
    Places seen;
    for (std::uint64_t begin = 0; begin < 42; begin += batch) {
      const auto rank = static_cast<std::uint32_t>(begin / batch % 3);
      const Places examples = DataOrder(kSeed, 10, rank, 3).GlobalBatch(begin, batch);
      seen.insert(seen.end(), examples.begin(), examples.end());
    }

    EXPECT_EQ(seen, sequence) << "batch = " << batch;
  }
}

TEST(GlobalOrder, EpochsAndSeedsDiffer) {
  const DataOrder order(kSeed, 100, 0, 1);

  EXPECT_NE(order.GlobalBatch(0, 100), order.GlobalBatch(100, 100));
  EXPECT_NE(order.GlobalBatch(0, 100), DataOrder(kSeed + 1, 100, 0, 1).GlobalBatch(0, 100));
}

// Recorded runs depend on these draws: a change of them changes every result.
TEST(DataOrder, DrawsAreFixed) {
  const DataOrder order(kSeed, 1000, 1, 4);

  EXPECT_EQ(order.ShardBatch(0, 4), (Places{885, 899, 587, 575}));
  EXPECT_EQ(order.GlobalBatch(998, 4), (Places{913, 418, 984, 674}));
}

TEST(DataOrderDeathTest, RefusesNoExamplesAndRanksBeyondTheWorkers) {
  EXPECT_DEATH(DataOrder(kSeed, 0, 0, 1), "examples > 0");
  EXPECT_DEATH(DataOrder(kSeed, 1, 2, 2), "rank < workers");
}

}  // namespace
}  // namespace slackline
