// Replays the fuzzer's corpus, where findings are kept, in every build.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "tests/fuzz/decode_fuzz.h"

namespace {

TEST(DecodeFuzz, ReplaysItsCorpus) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SLACKLINE_FUZZ_CORPUS_DIR)) {
    SCOPED_TRACE(entry.path());
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());

    EXPECT_EQ(LLVMFuzzerTestOneInput(bytes.data(), bytes.size()), 0);
    ++files;
  }
  EXPECT_GT(files, 20u);
}

}  // namespace
