#include "worker/data/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/strings.h"
#include "tests/support/status_matchers.h"
#include "worker/data/dataset.h"

namespace slackline {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

constexpr std::uint32_t kLlmc = 20240520;

std::string LittleEndian(std::uint32_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

std::string Uint16(const std::vector<std::uint32_t>& tokens) {
  std::string bytes;
  for (const std::uint32_t token : tokens) bytes += LittleEndian(token, 2);
  return bytes;
}

// A shard as llm.c writes it, whose header says these things.
std::string Llmc(std::uint32_t magic, std::uint32_t version, std::uint32_t count,
                 const std::string& body) {
  std::string header = LittleEndian(magic, 4) + LittleEndian(version, 4) + LittleEndian(count, 4);
  header.resize(1024);
  return header + body;
}
std::string Llmc(const std::vector<std::uint32_t>& tokens) {
  return Llmc(kLlmc, 1, static_cast<std::uint32_t>(tokens.size()), Uint16(tokens));
}

// ---- What a file is

TEST(ParseTokens, KnowsAFileByItsBeginningAndThenByItsName) {
  // llm.c's, whatever the name; and tokens up to the last of the vocabulary.
  for (const char* name : {"shard.bin", "shard"}) {
    const Result<std::vector<std::uint16_t>> tokens =
        ParseTokens(name, Llmc({0, 50256, 50303, 258}), 50304);
    ASSERT_THAT(tokens, IsOk());
    EXPECT_THAT(*tokens, ElementsAre(0, 50256, 50303, 258));
  }
  for (const char* name : {"train.bin", "train.bin.gz"}) {
    const Result<std::vector<std::uint16_t>> tokens =
        ParseTokens(name, Uint16({7, 65535, 256}), 65536);
    ASSERT_THAT(tokens, IsOk());
    EXPECT_THAT(*tokens, ElementsAre(7, 65535, 256));
  }
  const Result<std::vector<std::uint16_t>> text = ParseTokens("notes.txt", "Ab\xff\n", 256);
  ASSERT_THAT(text, IsOk());
  EXPECT_THAT(*text, ElementsAre('A', 'b', 255, '\n'));
  const Result<std::vector<std::uint16_t>> none = ParseTokens("empty.bin", "", 256);
  ASSERT_THAT(none, IsOk());
  EXPECT_THAT(*none, ElementsAre());
}

TEST(ParseTokens, RefusesWhatIsBrokenWithItsValues) {
  const std::string good = Llmc({1, 2, 3});
  const struct {
    const char* what;
    const char* name;
    std::string bytes;
    std::vector<std::string> message;
  } cases[] = {
      {"odd length", "a.bin", "12345", {"a.bin has 5 bytes", "even number"}},
      {"header cut short", "a.bin", good.substr(0, 1023), {"a.bin", "has 1023 bytes", "1024"}},
      {"another version", "a.bin", Llmc(kLlmc, 2, 0, ""), {"of version 2", "only version 1"}},
      {"one token too few",
       "a.bin",
       good.substr(0, good.size() - 2),
       {"a.bin announces 3 tokens", "holds 4 bytes"}},
      {"half a token too many", "a.bin", good + "x", {"announces 3 tokens", "holds 7 bytes"}},
      {"count beyond all bounds",
       "a.bin",
       Llmc(kLlmc, 1, ~0u, Uint16({1})),
       {"announces 4294967295 tokens", "holds 2 bytes"}},
      {"tokens of 4 bytes", "a.bin", Llmc(20240801, 7, 1, "1234"), {"20240801", "4 bytes"}},
      {"token beyond the vocabulary",
       "a.bin",
       Llmc({1, 256, 3}),
       {"a.bin, token 1: 256 is beyond --vocabulary 256"}},
      {"text of other bytes", "a.txt", "abc\x80", {"a.txt, token 3: 128 is beyond"}},
  };
  for (const auto& c : cases) {
    const std::uint32_t vocabulary = std::string_view(c.name) == "a.txt" ? 128 : 256;
    const Result<std::vector<std::uint16_t>> tokens = ParseTokens(c.name, c.bytes, vocabulary);
    for (const std::string& part : c.message) {
      EXPECT_THAT(tokens, StatusIs(StatusCode::kDataLoss, part)) << c.what;
    }
  }
}

// ---- Rows

class TokenFiles : public ::testing::Test {
 protected:
  TokenFiles() { std::filesystem::create_directories(folder_); }
  ~TokenFiles() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& bytes) const {
    const std::string path = StrCat(folder_, "/", name);
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  // Rows of three tokens.
  static Result<Split> Load(const std::string& data, std::uint64_t held_out = 0) {
    return LoadData({.model = "transformer", .data = data, .context = 3, .held_out = held_out}, 1);
  }

  const std::string folder_ =
      StrCat(::testing::TempDir(), "tokens_test_", getpid(), "_",
             ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(TokenFiles, RowsFollowOneAnotherAndTheLastAreHeldOut) {
  // Four rows of three, and the fourth's last prediction; two tokens are left over.
  const std::string path = Write("a.txt", "abcdefghijklmno");

  const Result<Split> split = Load(path, 1);

  ASSERT_THAT(split, IsOk());
  EXPECT_EQ(split->train->examples, 3u);
  EXPECT_EQ(split->train->context, 3u);
  EXPECT_EQ(std::string(split->train->tokens.begin(), split->train->tokens.end()), "abcdefghij");
  EXPECT_EQ(split->test->examples, 1u);
  EXPECT_EQ(std::string(split->test->tokens.begin(), split->test->tokens.end()), "jklm");
  EXPECT_EQ(split->test->name, path);
}

TEST_F(TokenFiles, ATenthOfTheRowsIsHeldOutButAtMostSixtyFour) {
  const struct {
    std::size_t rows;
    std::uint64_t held_out;
  } cases[] = {{2, 1}, {19, 1}, {20, 2}, {640, 64}, {1000, 64}};
  for (const auto& c : cases) {
    const Result<Split> split = Load(Write("a.txt", std::string(3 * c.rows + 1, 'x')));
    ASSERT_THAT(split, IsOk());
    EXPECT_EQ(split->test->examples, c.held_out) << c.rows;
    EXPECT_EQ(split->train->examples, c.rows - c.held_out) << c.rows;
  }
}

TEST_F(TokenFiles, TooFewRowsAreRefusedByName) {
  const std::string path = Write("short.txt", "abcdef");
  EXPECT_THAT(Load(path), StatusIs(StatusCode::kInvalidArgument,
                                   path + " has 6 tokens; 2 rows of --context 3 take at least 7"));
  EXPECT_THAT(Load(Write("empty.bin", "")),
              StatusIs(StatusCode::kInvalidArgument, "empty.bin has 0 tokens"));
  const std::string four = Write("four.txt", "abcdefghijklm");
  EXPECT_THAT(Load(four, 3), IsOk());
  EXPECT_THAT(Load(four, 4),
              StatusIs(StatusCode::kInvalidArgument, "--held-out 4 leaves nothing to train on: "));
  EXPECT_THAT(Load(four, 4), StatusIs(StatusCode::kInvalidArgument, "four.txt has 4 rows"));
}

TEST_F(TokenFiles, AFolderIsTrainedOnByItsNames) {
  Write("b_train_2.bin", Uint16({5, 6, 7, 8}));
  Write("b_train_1.bin", Llmc({1, 2, 3, 4}));
  Write("b_val_0.bin", Llmc({11, 12, 13, 14, 15, 16, 17}));
  Write("readme.txt", "train");

  const Result<Split> split = Load(folder_);

  ASSERT_THAT(split, IsOk());
  EXPECT_THAT(split->train->tokens, ElementsAre(1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(split->train->examples, 2u);
  EXPECT_THAT(split->test->tokens, ElementsAre(11, 12, 13, 14, 15, 16, 17));
  const Result<Split> one = Load(folder_, 1);
  ASSERT_THAT(one, IsOk());
  EXPECT_THAT(one->test->tokens, ElementsAre(11, 12, 13, 14));
  EXPECT_THAT(Load(folder_, 3),
              StatusIs(StatusCode::kInvalidArgument, folder_ + " (val) has 2 rows of --context 3"));

  // Without an evaluation's file the last rows are held out.
  std::filesystem::remove(folder_ + "/b_val_0.bin");
  const Result<Split> held = Load(folder_);
  ASSERT_THAT(held, IsOk());
  EXPECT_THAT(held->train->tokens, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(held->test->tokens, ElementsAre(4, 5, 6, 7));
}

TEST_F(TokenFiles, AFolderThatLacksSomethingIsRefusedByName) {
  EXPECT_THAT(Load(folder_), StatusIs(StatusCode::kNotFound, folder_ + ": no tokens in files"));
  Write("train.bin", Uint16({1, 2, 3, 4}));
  Write("val.bin", Uint16({1, 2, 3}));
  EXPECT_THAT(Load(folder_), StatusIs(StatusCode::kInvalidArgument,
                                      folder_ + " (val) has 3 tokens; 1 rows of --context 3"));
  Write("val.bin", "odd");
  EXPECT_THAT(Load(folder_), StatusIs(StatusCode::kDataLoss, "val.bin has 3 bytes"));
  EXPECT_THAT(
      Load(folder_ + "/none"),
      StatusIs(StatusCode::kNotFound, "/none is not there; --model transformer reads text"));
}

TEST(EmbeddedText, IsWhatALanguageModelReadsUnlessToldOtherwise) {
  EXPECT_EQ(EmbeddedText().size(), 167'211u);
  EXPECT_TRUE(EmbeddedText().starts_with("Persuasion\n"));
  EXPECT_TRUE(std::all_of(EmbeddedText().begin(), EmbeddedText().end(),
                          [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
  const Result<Split> named = LoadData({.model = "transformer", .data = "text"}, 1);
  const Result<Split> unnamed = LoadData({.model = "transformer"}, 1);
  ASSERT_THAT(named, IsOk());
  ASSERT_THAT(unnamed, IsOk());
  EXPECT_EQ(named->train->examples, 1242u);
  EXPECT_EQ(named->test->examples, 64u);
  EXPECT_THAT(unnamed->train->tokens, ElementsAreArray(named->train->tokens));
  EXPECT_THAT(LoadData({.model = "transformer", .context = 65536, .held_out = 2}, 1),
              StatusIs(StatusCode::kInvalidArgument, "text has 2 rows of --context 65536"));
}

}  // namespace
}  // namespace slackline
