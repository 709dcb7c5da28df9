#include "core/base/crc32c.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace slackline {
namespace {

std::span<const std::byte> Bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(Crc32c, PublishedValues) {
  EXPECT_EQ(Crc32c({}), 0u);
  EXPECT_EQ(Crc32c(Bytes("123456789")), 0xE3069283u);
  // RFC 3720, appendix B.4.
  EXPECT_EQ(Crc32c(std::vector<std::byte>(32, std::byte{0x00})), 0x8A9136AAu);
  EXPECT_EQ(Crc32c(std::vector<std::byte>(32, std::byte{0xFF})), 0x62A8AB43u);
  std::vector<std::byte> ascending;
  for (int i = 0; i < 32; ++i) ascending.push_back(std::byte(i));
  EXPECT_EQ(Crc32c(ascending), 0x46DD794Eu);
}

TEST(Crc32c, ExtendsAtEveryBoundary) {
  const auto bytes = Bytes("the quick brown fox jumps over the lazy dog");
  const std::uint32_t whole = Crc32c(bytes);

  for (std::size_t i = 0; i <= bytes.size(); ++i) {
    EXPECT_EQ(Crc32c(bytes.subspan(i), Crc32c(bytes.first(i))), whole) << "split at " << i;
  }
}

}  // namespace
}  // namespace slackline
