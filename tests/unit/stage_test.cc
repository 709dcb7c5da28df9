#include "server/stage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/status_matchers.h"

namespace slackline {
namespace {

constexpr std::uint64_t kElements = 10;
constexpr std::uint32_t kWindow = 2;

Stage MakeStage() { return Stage(kElements, {3}, kWindow, /*timing_only=*/false); }

Buffer Values(std::size_t count, float value = 1.0f) {
  return Buffer::CopyOf(std::span<const float>(std::vector<float>(count, value)));
}

Push Chunk(std::uint32_t chunk, std::uint32_t chunks, std::uint64_t offset, std::uint64_t count) {
  return {.rank = 1,
          .seq = 5,
          .chunk = chunk,
          .chunks = chunks,
          .offset = offset,
          .count = count,
          .version = 3,
          .samples = 8};
}

TEST(StageTest, APushIsCompleteAfterItsLastChunkInAnyOrder) {
  Stage stage = MakeStage();

  const Result<bool> second = stage.Add(Chunk(1, 2, 6, 4), Values(4), 5);
  const Result<bool> again = stage.Add(Chunk(1, 2, 6, 4), Values(4), 5);
  const Result<bool> first = stage.Add(Chunk(0, 2, 0, 6), Values(6), 5);

  ASSERT_THAT(second, IsOk());
  EXPECT_FALSE(*second);
  ASSERT_THAT(again, IsOk());
  EXPECT_FALSE(*again);
  ASSERT_THAT(first, IsOk());
  EXPECT_TRUE(*first);
  const StagedEntry entry = stage.Take(5);
  EXPECT_FALSE(entry.rejected);
  EXPECT_EQ(entry.version, 3u);
  ASSERT_EQ(entry.contribution.dense.size(), 2u);
  EXPECT_EQ(entry.contribution.dense[0].offset, 0u);
  EXPECT_EQ(stage.Find(5), nullptr);
}

TEST(StageTest, ChunksThatFitNoPushAreRefusedByTheirValues) {
  const struct {
    Push push;
    std::size_t values;
    StatusCode code;
    const char* names;
  } cases[] = {
      {Chunk(0, 1, 8, 3), 3, StatusCode::kInvalidArgument, "3 values at 8; this shard has 10"},
      {Chunk(0, 1, ~0ull, 2), 2, StatusCode::kInvalidArgument, "2 values at 18446744073709551615"},
      {Chunk(0, 1, 0, 10), 9, StatusCode::kInvalidArgument, "10 values need 40 bytes; got 36"},
      {{.rank = 1, .seq = 7, .count = 0},
       0,
       StatusCode::kResourceExhausted,
       "push 7 of worker 1 is beyond the window"},
      {{.rank = 1, .seq = 5, .table = 4, .count = 1},
       5,
       StatusCode::kInvalidArgument,
       "table 4; the model has 1"},
      {{.rank = 1, .seq = 5, .table = 0, .count = 2},
       5,
       StatusCode::kInvalidArgument,
       "2 rows of 20 bytes; got 20 bytes"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.names);
    Stage stage = MakeStage();

    EXPECT_THAT(stage.Add(c.push, Values(c.values), 5), StatusIs(c.code, c.names));

    EXPECT_TRUE(stage.entries().empty());
  }
}

TEST(StageTest, AnotherNumberOfChunksThanBeforeIsRefused) {
  Stage stage = MakeStage();
  ASSERT_THAT(stage.Add(Chunk(0, 2, 0, 6), Values(6), 5), IsOk());

  EXPECT_THAT(stage.Add(Chunk(1, 3, 6, 4), Values(4), 5),
              StatusIs(StatusCode::kInvalidArgument, "had 2 chunks and now has 3"));
}

TEST(StageTest, WhatDoesNotCoverTheShardOrIsNotFiniteIsRejectedWhole) {
  const struct {
    const char* what;
    std::vector<std::pair<Push, Buffer>> chunks;
  } cases[] = {
      {"a gap", {{Chunk(0, 2, 0, 4), Values(4)}, {Chunk(1, 2, 6, 4), Values(4)}}},
      {"an overlap", {{Chunk(0, 2, 0, 6), Values(6)}, {Chunk(1, 2, 5, 5), Values(5)}}},
      {"too short", {{Chunk(0, 1, 0, 9), Values(9)}}},
      {"a NaN", {{Chunk(0, 2, 0, 6), Values(6, std::nanf(""))}, {Chunk(1, 2, 6, 4), Values(4)}}},
      {"an infinity", {{Chunk(0, 2, 0, 6), Values(6)}, {Chunk(1, 2, 6, 4), Values(4, -INFINITY)}}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    Stage stage = MakeStage();
    for (const auto& [push, payload] : c.chunks) ASSERT_THAT(stage.Add(push, payload, 5), IsOk());

    const StagedEntry* entry = stage.Find(5);

    ASSERT_NE(entry, nullptr);
    EXPECT_TRUE(entry->complete());
    EXPECT_TRUE(entry->rejected);
    EXPECT_TRUE(entry->contribution.dense.empty());
  }
}

TEST(StageTest, APayloadThatLiesAskewIsReadAllTheSame) {
  Stage stage = MakeStage();
  const Buffer aligned = Values(11, 2.0f);
  const Buffer askew = aligned.Slice(1, kElements * sizeof(float));

  const Result<bool> added = stage.Add(Chunk(0, 1, 0, kElements), askew, 5);

  ASSERT_THAT(added, IsOk());
  EXPECT_TRUE(*added);
  EXPECT_EQ(stage.Find(5)->contribution.dense[0].values.floats().size(), kElements);
}

}  // namespace
}  // namespace slackline
