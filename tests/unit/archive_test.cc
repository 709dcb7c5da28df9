#include "core/wire/archive.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace slackline {
namespace {

std::vector<std::byte> Bytes(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(std::byte(value));
  return bytes;
}

struct Inner {
  std::uint16_t a = 0;
  std::string text;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(a, text);
  }
  bool operator==(const Inner&) const = default;
};

TEST(Archive, LaysFieldsOutAsDocumented) {
  enum class Colour : std::uint8_t { kRed = 7 };
  std::vector<std::byte> bytes;

  WriteArchive archive(bytes);
  archive(std::uint32_t{0x01020304}, true, Colour::kRed, 1.0f, std::string("ab"),
          std::vector<Inner>{{.a = 0x0506, .text = "c"}});

  EXPECT_EQ(bytes, Bytes({4, 3, 2,    1,               // u32, little-endian
                          1,                           // bool
                          7,                           // enum
                          0, 0, 0x80, 0x3F,            // 1.0f
                          2, 0, 0,    0,    'a', 'b',  // string
                          1, 0, 0,    0,               // vector: one item
                          6, 5, 1,    0,    0,   0,   'c'}));
}

TEST(Archive, ReadsBackWhatItWrote) {
  const std::vector<Inner> items = {{1, "x"}, {2, ""}, {3, std::string(1000, 'y')}};
  std::vector<std::byte> bytes;
  WriteArchive writer(bytes);
  writer(items, -5, 0.1);

  std::vector<Inner> read_items;
  int number = 0;
  double real = 0;
  ReadArchive archive(bytes);
  archive(read_items, number, real);

  EXPECT_TRUE(archive.Complete());
  EXPECT_EQ(read_items, items);
  EXPECT_EQ(number, -5);
  EXPECT_EQ(real, 0.1);
}

TEST(Archive, KeepsTheBitsOfNotANumber) {
  const auto odd = std::bit_cast<float>(0x7FA00001u);  // A signalling one.
  std::vector<std::byte> bytes;
  WriteArchive writer(bytes);
  writer(odd);

  float read = 0;
  ReadArchive archive(bytes);
  archive(read);

  EXPECT_EQ(std::bit_cast<std::uint32_t>(read), 0x7FA00001u);
}

TEST(ReadArchive, NoticesBytesLeftOver) {
  const auto bytes = Bytes({1, 2, 3});
  std::uint16_t value = 0;
  ReadArchive archive(bytes);
  archive(value);

  EXPECT_TRUE(archive.ok());
  EXPECT_FALSE(archive.Complete());
}

TEST(ReadArchive, TakesOnlyZeroAndOneForABool) {
  for (const int byte : {0, 1, 2, 255}) {
    const auto bytes = Bytes({byte});
    bool value = false;
    ReadArchive archive(bytes);
    archive(value);

    EXPECT_EQ(archive.Complete(), byte <= 1) << byte;
    EXPECT_EQ(value, byte == 1) << byte;
  }
}

TEST(ReadArchive, RefusesACountThatTheBytesCannotHold) {
  // Four bytes of count, then twelve: room for two Inner (six bytes at least), not for three.
  const auto with_count = [](int count) {
    auto bytes = Bytes({count, 0, 0, 0});
    bytes.resize(16);
    return bytes;
  };
  for (const auto& [count, fits] :
       {std::pair(2, true), std::pair(3, false), std::pair(255, false)}) {
    const auto bytes = with_count(count);
    std::vector<Inner> items;
    ReadArchive archive(bytes);
    archive(items);

    EXPECT_EQ(archive.Complete(), fits) << count;
    EXPECT_LE(items.capacity(), 2u) << count;
  }
}

TEST(ReadArchive, RefusesTextLongerThanItsBytes) {
  for (const auto& bytes :
       {Bytes({2, 0, 0, 0, 'a'}), Bytes({0xFF, 0xFF, 0xFF, 0xFF, 'a'}), Bytes({1, 0, 0})}) {
    std::string text = "kept";
    ReadArchive archive(bytes);
    archive(text);

    EXPECT_FALSE(archive.ok());
    EXPECT_EQ(text, "kept");
  }
}

TEST(ReadArchive, ReadsNothingAfterAMisfit) {
  const auto bytes = Bytes({2, 9, 9, 9, 9});
  bool first = false;
  std::uint32_t second = 5;
  std::vector<std::uint8_t> third;
  ReadArchive archive(bytes);
  archive(first, second, third);

  EXPECT_FALSE(archive.Complete());
  EXPECT_EQ(second, 5u);
  EXPECT_TRUE(third.empty());
}

}  // namespace
}  // namespace slackline
