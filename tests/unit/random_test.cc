#include "slackline/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace slackline {
namespace {

RandomStream Stream(std::uint64_t seed = 1, std::uint64_t index = 0) {
  return RandomStream(seed, RandomPurpose::kTest, index);
}

// Known answers of Random123's kat_vectors for philox4x32-10.
TEST(Philox, KnownAnswers) {
  const PhiloxBlock zeros = Philox4x32({{0, 0, 0, 0}}, 0, 0);
  const PhiloxBlock ones = Philox4x32({{~0u, ~0u, ~0u, ~0u}}, ~0u, ~0u);
  const PhiloxBlock pi =
      Philox4x32({{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}}, 0xa4093822u, 0x299f31d0u);

  const std::uint32_t zeros_answer[4] = {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u};
  const std::uint32_t ones_answer[4] = {0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu};
  const std::uint32_t pi_answer[4] = {0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(zeros.word[i], zeros_answer[i]);
    EXPECT_EQ(ones.word[i], ones_answer[i]);
    EXPECT_EQ(pi.word[i], pi_answer[i]);
  }
}

TEST(RandomStream, DependsOnEveryPartOfItsName) {
  const std::uint64_t value = Stream().Bits(5);

  EXPECT_EQ(Stream().Bits(5), value);
  EXPECT_NE(Stream().Bits(6), value);
  EXPECT_NE(Stream().Bits(5 + (std::uint64_t{1} << 32)), value);
  EXPECT_NE(Stream(2).Bits(5), value);
  EXPECT_NE(Stream(1 + (std::uint64_t{1} << 32)).Bits(5), value);
  EXPECT_NE(Stream(1, 1).Bits(5), value);
  EXPECT_NE(Stream(1, std::uint64_t{1} << 32).Bits(5), value);
  EXPECT_NE(RandomStream(1, RandomPurpose::kFault, 0).Bits(5), value);
}

TEST(RandomStream, UniformCoversTheUnitIntervalEvenly) {
  constexpr int kDraws = 100000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = Stream().Uniform(static_cast<std::uint64_t>(i));
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
    squares += u * u;
  }

  // Five standard errors of the mean of u (sd 0.2887) and of u^2 (sd 0.2981).
  EXPECT_NEAR(sum / kDraws, 0.5, 5 * 0.2887 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1.0 / 3, 5 * 0.2981 / std::sqrt(kDraws));
}

TEST(RandomStream, UniformFloatStaysWithinItsBound) {
  float smallest = 1;
  float largest = -1;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const float value = Stream().UniformFloat(i, 0.5f);
    ASSERT_GE(value, -0.5f);
    ASSERT_LT(value, 0.5f);
    smallest = std::min(smallest, value);
    largest = std::max(largest, value);
  }

  EXPECT_LT(smallest, -0.49f);
  EXPECT_GT(largest, 0.49f);
}

TEST(RandomStream, BelowIsTheHighHalfOfTheProduct) {
  const std::uint64_t limits[] = {1,    2, 3, 1000, 0xFFFFFFFFu, 0x100000000u, 0x123456789ABCDEFu,
                                  ~0ull};
  for (const std::uint64_t limit : limits) {
    for (std::uint64_t i = 0; i < 1000; ++i) {
      const auto product = static_cast<unsigned __int128>(Stream().Bits(i)) * limit;
      ASSERT_EQ(Stream().Below(i, limit), static_cast<std::uint64_t>(product >> 64)) << limit;
    }
  }
}

TEST(RandomSequence, DrawsTheStreamInOrder) {
  RandomSequence sequence(Stream());

  EXPECT_EQ(sequence.Bits(), Stream().Bits(0));
  EXPECT_EQ(sequence.Uniform(), Stream().Uniform(1));
  EXPECT_EQ(sequence.Below(10), Stream().Below(2, 10));
  EXPECT_EQ(sequence.Bits(), Stream().Bits(3));
}

}  // namespace
}  // namespace slackline
