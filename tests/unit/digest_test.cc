#include "core/base/digest.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace slackline {
namespace {

std::uint64_t DigestOf(std::span<const std::byte> bytes) {
  Digest digest;
  digest.Add(bytes);
  return digest.value();
}

// Digests are compared between runs and machines, so a value once written must stay.
// (Computed apart from the code, from the definition.)
TEST(Digest, KnownValues) {
  Digest digest;
  digest.Add(std::uint64_t{1});
  EXPECT_EQ(digest.value(), 0xF6700C0178D5C906u);
  EXPECT_EQ(DigestOf(std::as_bytes(std::span("slackline", 9))), 0x4845679B2AE400A6u);
}

TEST(Digest, EveryBitAndTheLengthCount) {
  for (std::size_t size = 0; size <= 20; ++size) {
    std::vector<std::byte> bytes(size);
    std::set<std::uint64_t> seen = {DigestOf(bytes)};
    for (std::size_t bit = 0; bit < 8 * size; ++bit) {
      bytes[bit / 8] ^= std::byte(1 << bit % 8);
      EXPECT_TRUE(seen.insert(DigestOf(bytes)).second) << size << " bytes, bit " << bit;
      bytes[bit / 8] ^= std::byte(1 << bit % 8);
    }
    bytes.push_back(std::byte{0});
    EXPECT_TRUE(seen.insert(DigestOf(bytes)).second) << size << " zeros and one more";
  }
}

TEST(Digest, OrderCounts) {
  Digest ab, ba;
  ab.Add(std::uint64_t{1});
  ab.Add(std::uint64_t{2});
  ba.Add(std::uint64_t{2});
  ba.Add(std::uint64_t{1});

  EXPECT_NE(ab.value(), ba.value());
}

TEST(Digest, FloatsCountAsTheirBits) {
  Digest zero, minus_zero;
  zero.Add(std::span<const float>(std::vector<float>{0.0f}));
  minus_zero.Add(std::span<const float>(std::vector<float>{-0.0f}));

  EXPECT_NE(zero.value(), minus_zero.value());
}

}  // namespace
}  // namespace slackline
