#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/policy/clock_table.h"
#include "core/policy/collector.h"
#include "core/policy/gate.h"
#include "core/policy/placement.h"
#include "core/policy/schedule.h"
#include "tests/support/status_matchers.h"

namespace slackline {
namespace {

TEST(PlacementTest, RangesTileTheFlatOrderAndAreBalanced) {
  for (const std::uint64_t elements :
       {0ull, 1ull, 2ull, 3ull, 17ull, 319ull, 320ull, 12345ull, 999999ull}) {
    for (const std::uint32_t servers : {1u, 2u, 3u, 5u, 8u, 64u}) {
      SCOPED_TRACE(std::to_string(elements) + " on " + std::to_string(servers));
      const std::vector<ShardRange> ranges = PlaceDense(elements, servers);
      std::uint64_t next = 0;
      std::uint64_t smallest = elements, largest = 0;
      for (const ShardRange& range : ranges) {
        EXPECT_EQ(range.begin, next);
        next = range.end;
        smallest = std::min(smallest, range.size());
        largest = std::max(largest, range.size());
      }
      EXPECT_EQ(next, elements);
      EXPECT_TRUE(Imbalance(ranges) <= 1.05 || largest - smallest <= 1) << Imbalance(ranges);
    }
  }
}

TEST(PlacementTest, OneParameterOnEightServersHasOneOwner) {
  const std::vector<ShardRange> ranges = PlaceDense(1, 8);

  EXPECT_EQ(std::count_if(ranges.begin(), ranges.end(),
                          [](const ShardRange& r) { return r.size() == 1; }),
            1);
}

TEST(PlacementTest, EveryRowHasOneOwnerAndConsecutiveKeysSpread) {
  std::vector<int> rows(7);
  for (std::uint64_t key = 0; key < 70000; ++key) ++rows[RowOwner(key, 7)];

  for (const int count : rows) EXPECT_NEAR(count, 10000, 500);
  EXPECT_LT(RowOwner(0, 3), 3u);
  EXPECT_LT(RowOwner(~std::uint64_t{0}, 3), 3u);
}

TEST(ClockTableTest, KnowsTheSlowestAndForgetsWhoLeft) {
  ClockTable clocks(3);

  EXPECT_FALSE(clocks.Advance(0));
  EXPECT_FALSE(clocks.Advance(0));
  EXPECT_FALSE(clocks.Advance(2));
  EXPECT_EQ(clocks.slowest(), 0u);
  EXPECT_EQ(clocks.slowest_rank(), 1u);
  EXPECT_EQ(clocks.fastest(), 2u);
  EXPECT_TRUE(clocks.Advance(1));
  EXPECT_EQ(clocks.slowest(), 1u);
  EXPECT_FALSE(clocks.Leave(1));
  EXPECT_TRUE(clocks.Leave(2));
  EXPECT_EQ(clocks.slowest(), 2u);
  EXPECT_EQ(clocks.active(), 1u);
  EXPECT_TRUE(clocks.Leave(0) || clocks.slowest() == 2u);
  EXPECT_EQ(clocks.fastest(), 2u);
}

TEST(GateTest, SlackIsHowFarAheadOfTheSlowestARoundMayStart) {
  ClockTable clocks(2);
  clocks.Advance(0);
  clocks.Advance(0);
  auto ssp = MakeGate("ssp", 2);
  auto bsp = MakeGate("bsp", 99);
  auto asp = MakeGate("asp", 0);
  ASSERT_THAT(ssp, IsOk());

  EXPECT_TRUE((*ssp)->Open(clocks, 0, 2));
  EXPECT_FALSE((*ssp)->Open(clocks, 0, 3));
  EXPECT_TRUE((*bsp)->Open(clocks, 0, 0));
  EXPECT_FALSE((*bsp)->Open(clocks, 0, 1));
  EXPECT_TRUE((*asp)->Open(clocks, 0, 1000));
  EXPECT_EQ((*ssp)->WaitsFor(clocks), "worker 1 (clock 0)");
}

TEST(GateTest, UnknownNamesAreRefusedWithTheKnownOnes) {
  EXPECT_THAT(MakeGate("sps", 1), StatusIs(StatusCode::kInvalidArgument, "'sps'"));
  EXPECT_THAT(MakeGate("sps", 1), StatusIs(StatusCode::kInvalidArgument, "bsp, ssp, asp"));
  EXPECT_THAT(MakeCollector("some", 1), StatusIs(StatusCode::kInvalidArgument, "'some'"));
}

OfferedPush Offered(std::uint32_t rank, std::uint64_t seq, bool rejected = false) {
  return {.rank = rank, .seq = seq, .samples = 1, .rejected = rejected};
}

TEST(CollectorTest, EachMakesAnUpdateOfEveryPush) {
  ClockTable clocks(2);
  auto collector = MakeCollector("each", 2);
  ASSERT_THAT(collector, IsOk());
  std::vector<Verdict> verdicts;

  (*collector)->Offer(clocks, Offered(1, 0), verdicts);
  (*collector)->Offer(clocks, Offered(1, 1, /*rejected=*/true), verdicts);

  ASSERT_EQ(verdicts.size(), 2u);
  EXPECT_TRUE(verdicts[0].apply);
  EXPECT_FALSE(verdicts[1].apply);
}

TEST(CollectorTest, AllWaitsForEverybodyAndKeepsRankOrder) {
  ClockTable clocks(3);
  auto collector = MakeCollector("all", 3);
  ASSERT_THAT(collector, IsOk());
  std::vector<Verdict> verdicts;

  (*collector)->Offer(clocks, Offered(2, 0), verdicts);
  (*collector)->Offer(clocks, Offered(2, 1), verdicts);
  (*collector)->Offer(clocks, Offered(0, 0), verdicts);
  EXPECT_TRUE(verdicts.empty());
  (*collector)->Offer(clocks, Offered(1, 0, /*rejected=*/true), verdicts);

  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_TRUE(verdicts[0].apply);
  ASSERT_EQ(verdicts[0].pushes.size(), 3u);
  for (std::uint32_t rank = 0; rank < 3; ++rank) EXPECT_EQ(verdicts[0].pushes[rank].rank, rank);
}

TEST(CollectorTest, AllGoesOnWhenTheOneItWaitedForLeaves) {
  ClockTable clocks(2);
  auto collector = MakeCollector("all", 2);
  ASSERT_THAT(collector, IsOk());
  std::vector<Verdict> verdicts;
  (*collector)->Offer(clocks, Offered(0, 0), verdicts);

  clocks.Leave(1);
  (*collector)->OnLeave(clocks, verdicts);

  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_EQ(verdicts[0].pushes.size(), 1u);
}

TEST(ScheduleTest, FollowsItsFormula) {
  RecipeOptions options;
  options.rule.lr = 0.4;
  options.batch = 10;
  auto constant = LearningRate::Create(options.rule.lr, options, 1000);
  options.lr_schedule = "step";
  options.lr_step_samples = 100;
  options.lr_step_factor = 0.5;
  auto step = LearningRate::Create(options.rule.lr, options, 1000);
  options.lr_schedule = "cosine";
  options.warmup_samples = 200;
  options.lr_final_factor = 0.1;
  auto cosine = LearningRate::Create(options.rule.lr, options, 1000);
  ASSERT_THAT(cosine, IsOk());

  EXPECT_DOUBLE_EQ(constant->At(999), 0.4);
  EXPECT_DOUBLE_EQ(step->At(99), 0.4);
  EXPECT_DOUBLE_EQ(step->At(100), 0.2);
  EXPECT_DOUBLE_EQ(step->At(399), 0.05);
  EXPECT_DOUBLE_EQ(cosine->At(0), 0.4 * 10 / 200);
  EXPECT_DOUBLE_EQ(cosine->At(200), 0.4);
  EXPECT_NEAR(cosine->At(600), 0.4 * (0.1 + 0.9 * 0.5), 1e-12);
  EXPECT_NEAR(cosine->At(1000), 0.04, 1e-12);
}

TEST(ScheduleTest, RefusesWhatItDoesNotKnow) {
  RecipeOptions options;
  options.lr_schedule = "linear";
  EXPECT_THAT(LearningRate::Create(options.rule.lr, options, 1),
              StatusIs(StatusCode::kInvalidArgument, "'linear'"));
  options.lr_schedule = "step";
  EXPECT_THAT(LearningRate::Create(options.rule.lr, options, 1),
              StatusIs(StatusCode::kInvalidArgument, "--lr-step-samples"));
}

}  // namespace
}  // namespace slackline
