#include "core/policy/exchange.h"

#include <gtest/gtest.h>

namespace slackline {
namespace {

void Update(ExchangePolicy& policy, std::uint64_t count, std::uint64_t& samples) {
  for (std::uint64_t i = 0; i < count; ++i) policy.OnUpdate(samples += 10);
}

TEST(ExchangePolicyTest, CountsFromTheMergeNotFromTheSend) {
  ExchangePolicy policy(4, /*lossless=*/false);
  std::uint64_t samples = 0;
  Update(policy, 3, samples);
  EXPECT_FALSE(policy.Begin(false).has_value());
  Update(policy, 1, samples);

  const std::optional<Exchange> first = policy.Begin(false);

  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->seq, 0u);
  EXPECT_EQ(first->samples, 40u);
  Update(policy, 9, samples);  // While it is under way: one at a time.
  EXPECT_FALSE(policy.Begin(false).has_value());
  policy.OnMerge(100);
  EXPECT_EQ(policy.samples_elsewhere(), 60u);
  Update(policy, 3, samples);
  EXPECT_FALSE(policy.Begin(false).has_value());
  Update(policy, 1, samples);
  const std::optional<Exchange> second = policy.Begin(false);
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->seq, 1u);
  EXPECT_EQ(second->samples, 130u);  // All since the first was sent.
}

TEST(ExchangePolicyTest, ARegionThatDrainsSendsWhatIsLeft) {
  for (const bool lossless : {false, true}) {
    ExchangePolicy policy(4, lossless);
    std::uint64_t samples = 0;
    EXPECT_FALSE(policy.Begin(true).has_value());
    Update(policy, 4, samples);
    ASSERT_TRUE(policy.Begin(false).has_value());
    Update(policy, 2, samples);
    policy.OnMerge(40);
    // What came during the exchange has left the difference with the merge, unless lossless.
    EXPECT_EQ(policy.Begin(true).has_value(), lossless);
    if (lossless) policy.OnMerge(60);
    Update(policy, 1, samples);
    EXPECT_TRUE(policy.Begin(true).has_value());
    policy.OnMerge(70);
    EXPECT_FALSE(policy.Begin(true).has_value());
  }
}

TEST(ExchangePolicyTest, ALostCountIsNoHugeOne) {
  ExchangePolicy policy(1, false);
  std::uint64_t samples = 0;
  Update(policy, 1, samples);
  ASSERT_TRUE(policy.Begin(false).has_value());
  policy.OnMerge(3);  // Less than this region alone has reported.
  EXPECT_EQ(policy.samples_elsewhere(), 0u);
}

}  // namespace
}  // namespace slackline
