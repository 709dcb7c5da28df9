// tools/make_tokens as a user calls it, and that what it writes is read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/strings.h"
#include "tests/support/status_matchers.h"
#include "worker/data/dataset.h"

namespace slackline {
namespace {

struct Ended {
  int exit_code = -1;
  std::string output;  // Both streams.
};

Ended RunLine(const std::string& line) {
  Ended ended;
  std::FILE* pipe = popen((line + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return ended;
  char buffer[4096];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe))
    ended.output.append(buffer, got);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
  return ended;
}

class MakeTokens : public ::testing::Test {
 protected:
  void SetUp() override {
    if (RunLine("python3 --version").exit_code != 0) GTEST_SKIP() << "there is no python3";
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = StrCat(folder_, "/", name);
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  Ended Make(const std::string& arguments) const {
    return RunLine(
        StrCat("python3 ", SLACKLINE_SOURCE_DIR, "/tools/make_tokens ", shards_, " ", arguments));
  }

  const std::string folder_ =
      StrCat(::testing::TempDir(), "make_tokens_test_", getpid(), "_",
             ::testing::UnitTest::GetInstance()->current_test_info()->name());
  const std::string shards_ = folder_ + "/shards";
};

TEST_F(MakeTokens, WritesShardsThatAreReadAsTheTextTheyCameFrom) {
  const std::string one = Write("one.txt", "abcdefg"), two = Write("two.txt", "hij\xff");

  const Ended made = Make(StrCat(one, " ", two, " --shard-tokens 4 --val-tokens 4"));

  EXPECT_EQ(made.exit_code, 0) << made.output;
  EXPECT_THAT(made.output, ::testing::HasSubstr("text_val_000000.bin: 4 tokens\n"));
  EXPECT_THAT(made.output, ::testing::HasSubstr("text_train_000002.bin: 3 tokens\n"));
  const Result<Split> split = LoadData({.model = "transformer", .data = shards_, .context = 3}, 1);
  ASSERT_THAT(split, IsOk());
  EXPECT_EQ(std::string(split->train->tokens.begin(), split->train->tokens.end()), "abcdefg");
  EXPECT_THAT(split->test->tokens, ::testing::ElementsAre('h', 'i', 'j', 255));
}

TEST_F(MakeTokens, RefusesByNameAndWritesNothing) {
  const std::string text = Write("one.txt", "abc");
  const struct {
    std::string arguments;
    const char* message;
  } cases[] = {
      {folder_ + "/none.txt", "none.txt: No such file"},
      {Write("empty.txt", ""), "--val-tokens 1 of 0 tokens leave none to train on"},
      {text + " --val-tokens 3", "--val-tokens 3 of 3 tokens leave none"},
      {text + " --val-tokens 0", "0 is not above 0"},
      {text + " --shard-tokens -1", "-1 is not above 0"},
  };
  for (const auto& c : cases) {
    const Ended made = Make(c.arguments);
    EXPECT_NE(made.exit_code, 0) << c.arguments;
    EXPECT_THAT(made.output, ::testing::HasSubstr(c.message));
    EXPECT_FALSE(std::filesystem::exists(shards_)) << c.arguments;
  }
  EXPECT_EQ(Make(text).exit_code, 0);
  EXPECT_THAT(Make(text).output, ::testing::HasSubstr("is there already; give another folder"));
}

}  // namespace
}  // namespace slackline
