#include "server/shard.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/status_matchers.h"

namespace slackline {
namespace {

constexpr std::uint64_t kElements = 5;  // Of two to a segment: three segments.

std::unique_ptr<Shard> MakeShard() {
  ParameterSpec spec;
  spec.tensors.push_back({"x", {kElements}, {}});
  auto rule = MakeRule({.name = "sgd"});
  EXPECT_THAT(rule, IsOk());
  auto shard =
      std::make_unique<Shard>(Shard::Settings{.range = {0, kElements}, .segment_elements = 2}, spec,
                              std::move(rule).value());
  shard->TakeReference();
  return shard;
}

void Add(Shard& shard, float value) {
  const std::vector<float> gradient(kElements, -value);
  Update update{.contributions = {}, .lr = 1.0f};
  update.contributions.push_back(
      {.dense = {{0, kElements, Buffer::CopyOf(std::span(gradient))}}, .rows = {}});
  shard.Apply(update);
}

std::vector<float> Values(const Shard& shard) {
  std::vector<float> all;
  for (const Shard::Segment& segment : shard.Snapshot()) {
    const std::span<const float> values = segment.values.floats();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

Buffer Of(float value) {
  const std::vector<float> values(kElements, value);
  return Buffer::CopyOf(std::span(values));
}
std::vector<float> Floats(const Buffer& buffer) {
  return {buffer.floats().begin(), buffer.floats().end()};
}
std::vector<float> All(float value) { return std::vector<float>(kElements, value); }

TEST(ShardExchangeTest, AMergeIsAWeightedMean) {
  auto shard = MakeShard();
  Add(*shard, 2);
  shard->Merge(Of(10), 0.25f, /*lossless=*/false);
  EXPECT_EQ(Values(*shard), All(4));
  // The reference equals the parameters afterwards.
  EXPECT_EQ(Floats(shard->TakeDifference(false)), All(0));
}

TEST(ShardExchangeTest, TheEndsOfTheWeightAreExact) {
  for (const float weight : {0.0f, 1.0f}) {
    auto shard = MakeShard();
    Add(*shard, 0.1f);
    const std::vector<float> own = Values(*shard);
    shard->Merge(Of(0.3f), weight, false);
    EXPECT_EQ(Values(*shard), weight == 1.0f ? All(0.3f) : own);
  }
}

TEST(ShardExchangeTest, AsInThePaperWhatComesDuringAnExchangeIsNeverSent) {
  auto shard = MakeShard();
  Add(*shard, 3);
  EXPECT_EQ(Floats(shard->TakeDifference(false)), All(-3));
  Add(*shard, 5);  // While the answer is under way.
  shard->Merge(Of(3), 1.0f, false);
  EXPECT_EQ(Values(*shard), All(3));
  Add(*shard, 1);
  EXPECT_EQ(Floats(shard->TakeDifference(false)), All(-1));
}

TEST(ShardExchangeTest, LosslessSendsEachUpdateOnce) {
  for (const float weight : {0.0f, 0.25f, 1.0f}) {
    auto shard = MakeShard();
    Add(*shard, 3);
    EXPECT_EQ(Floats(shard->TakeDifference(true)), All(-3));
    Add(*shard, 5);
    shard->Merge(Of(16), weight, true);
    EXPECT_EQ(Values(*shard), All(weight * 16 + (1 - weight) * 8));
    Add(*shard, 1);
    EXPECT_EQ(Floats(shard->TakeDifference(true)), All(-6));
    EXPECT_EQ(Floats(shard->TakeDifference(true)), All(0));
  }
}

// The reference must not keep readers waiting: it is no reader.
TEST(ShardExchangeTest, TheReferenceIsNoReader) {
  ParameterSpec spec;
  spec.tensors.push_back({"x", {kElements}, {}});
  auto rule = MakeRule({.name = "sgd"});
  Shard shard({.range = {0, kElements}, .segment_elements = 2, .max_snapshots = 1}, spec,
              std::move(rule).value());
  shard.TakeReference();
  Add(shard, 1);
  EXPECT_TRUE(shard.SnapshotAllowed());
  const auto reader = shard.Snapshot();
  Add(shard, 1);
  EXPECT_FALSE(shard.SnapshotAllowed());
}

}  // namespace
}  // namespace slackline
