#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/strings.h"
#include "tests/support/status_matchers.h"
#include "worker/data/dataset.h"
#include "worker/data/digits.h"
#include "worker/data/readers.h"

namespace slackline {
namespace {

using ::testing::ElementsAre;

constexpr std::uint32_t kClasses = 10;

// The IDX file of bytes with these sizes and this content.
std::string Idx(const std::vector<std::uint32_t>& sizes, const std::string& content) {
  std::string bytes = {0, 0, 8, static_cast<char>(sizes.size())};
  for (const std::uint32_t size : sizes) {
    for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(size >> shift);
  }
  return bytes + content;
}

std::string Gz(const std::string& bytes) {
  z_stream stream{};
  constexpr int kGzip = 16 + MAX_WBITS;
  EXPECT_EQ(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string input = bytes;
  std::string output(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(output.data());
  stream.avail_out = static_cast<uInt>(output.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  output.resize(stream.total_out);
  deflateEnd(&stream);
  return output;
}

// A folder of its own for each test.
class DataFiles : public ::testing::Test {
 protected:
  DataFiles() { std::filesystem::create_directories(folder_); }
  ~DataFiles() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return StrCat(folder_, "/", name); }
  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(Path(name), std::ios::binary) << bytes;
    return Path(name);
  }
  // Two training images of 1 x 2 pixels and one test image.
  void WriteIdxFolder(std::uint32_t test_width = 2) const {
    Write("train-images-idx3-ubyte", Idx({2, 1, 2}, std::string("\x00\xff\x33\x00", 4)));
    Write("train-labels-idx1-ubyte.gz", Gz(Idx({2}, "\x03\x09")));
    Write("t10k-images-idx3-ubyte.gz",
          Gz(Idx({1, 1, test_width}, std::string(test_width, '\xff'))));
    Write("t10k-labels-idx1-ubyte", Idx({1}, "\x01"));
  }

  const std::string folder_ =
      StrCat(::testing::TempDir(), "data_test_", getpid(), "_",
             ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

Result<Split> Load(const std::string& model, const std::string& data, std::uint64_t seed = 1) {
  ModelOptions options;
  options.model = model;
  options.data = data;
  return LoadData(options, seed);
}

// ---- IDX

TEST(Idx, ReadsImagesAndLabels) {
  const Result<Dataset> data =
      ParseIdx("images", Idx({2, 1, 3}, std::string("\x00\xff\x33\x01\x02\x03", 6)), "labels",
               Idx({2}, std::string("\x09\x00", 2)), kClasses);

  ASSERT_THAT(data, IsOk());
  EXPECT_EQ(data->examples, 2u);
  EXPECT_EQ(data->width, 3u);
  EXPECT_EQ(data->classes, kClasses);
  EXPECT_THAT(data->features, ElementsAre(0.0f, 1.0f, 0.2f, 1 / 255.0f, 2 / 255.0f, 3 / 255.0f));
  EXPECT_THAT(data->labels, ElementsAre(9u, 0u));
}

TEST(Idx, RefusesWhatItIsNot) {
  const std::string images = Idx({2, 1, 1}, "ab");
  const std::string labels = Idx({2}, "\x01\x02");
  const struct {
    const char* what;
    std::string images, labels;
    std::vector<std::string> message;
  } cases[] = {
      {"empty", "", labels, {"IMAGES has 0 bytes", "begins with 16"}},
      {"header cut short", images.substr(0, 15), labels, {"IMAGES has 15 bytes"}},
      {"labels as images",
       Idx({2},
           "\x01\x02"
           "000000"),
       labels,
       {"IMAGES", "2049", "2051"}},
      {"images as labels", images, images, {"LABELS", "2051", "2049"}},
      {"truncated", images.substr(0, 17), labels, {"IMAGES", "2 x 1 x 1", "holds 1"}},
      {"too long", images + "c", labels, {"IMAGES", "2 x 1 x 1", "holds 3"}},
      {"labels truncated", images, labels.substr(0, 9), {"LABELS", "announces 2", "holds 1"}},
      {"product beyond 64 bits", Idx({~0u, ~0u, ~0u}, "ab"), labels, {"IMAGES", "4294967295"}},
      {"product 2^64", Idx({1u << 31, 1u << 31, 4}, ""), labels, {"IMAGES", "holds 0"}},
      {"counts differ", images, Idx({3}, "\x01\x02\x03"), {"IMAGES has 2", "LABELS 3"}},
      {"no images", Idx({0, 28, 28}, ""), Idx({0}, ""), {"IMAGES has no pixels"}},
      {"no pixels", Idx({2, 0, 28}, ""), labels, {"IMAGES has no pixels"}},
      {"label out of range", images, Idx({2}, "\x01\x0a"), {"LABELS, label 1: 10", "10 classes"}},
  };
  for (const auto& c : cases) {
    const Result<Dataset> data = ParseIdx("IMAGES", c.images, "LABELS", c.labels, kClasses);

    for (const std::string& part : c.message) {
      EXPECT_THAT(data, StatusIs(StatusCode::kDataLoss, part)) << c.what;
    }
  }
}

// ---- LIBSVM

TEST(Libsvm, ReadsLinesOfColumnsAndValues) {
  const Result<Dataset> data = ParseLibsvm("file",
                                           "# a comment\n"
                                           "+1 1:0.5 3:-2e1  # the rest is one too\r\n"
                                           "\n"
                                           "-1\n"
                                           "1\tqid:7\t2:1e-60 4");

  ASSERT_THAT(data, IsOk());
  EXPECT_EQ(data->examples, 3u);
  EXPECT_EQ(data->columns, 5u);
  EXPECT_THAT(data->targets, ElementsAre(1.0f, 0.0f, 1.0f));
  EXPECT_THAT(data->row_begin, ElementsAre(0u, 2u, 2u, 4u));
  EXPECT_THAT(data->column, ElementsAre(1u, 3u, 2u, 4u));
  EXPECT_THAT(data->value, ElementsAre(0.5f, -20.0f, 0.0f, 1.0f));
}

TEST(Libsvm, RefusesBadLinesWithTheirPlace) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"", "FILE: no examples"},
      {"# nothing\n\n", "FILE: no examples"},
      {"2 1:1\n", "FILE:1: label '2'; it must be 0 or 1"},
      {"1 1:1\nnan 1:1\n", "FILE:2: label 'nan'"},
      {"1 1:1\n\n# x\n0.5 1:1\n", "FILE:4: label '0.5'"},
      {"196\t242\t3\t881250949\n", "FILE:1: label '196'; it must be 0 or 1, or -1 or +1. Is this"},
      {"1 a:1\n", "FILE:1: 'a:1' is not column:value"},
      {"1 1:\n", "FILE:1: '1:' is not column:value"},
      {"1 1:x\n", "FILE:1: '1:x' is not column:value"},
      {"1 1:2:3\n", "FILE:1: '1:2:3' is not column:value"},
      {"1 1:inf\n", "FILE:1: '1:inf'"},
      {"1 1:nan\n", "FILE:1: '1:nan'"},
      {"1 1:1e39\n", "FILE:1: '1:1e39'"},
      {"1 1:1e-400\n", "FILE:1: '1:1e-400'"},
      {"1 -1:1\n", "FILE:1: '-1:1'"},
      {"1 1.5:1\n", "FILE:1: '1.5:1'"},
      {"1 18446744073709551615:1\n", "a whole column up to 18446744073709551614"},
      {"1 18446744073709551616:1\n", "FILE:1: '18446744073709551616:1'"},
      {"0 1:1 1:2\n", "FILE:1: column 1 follows column 1"},
      {"0 1:1\n0 5:1 4:2\n", "FILE:2: column 4 follows column 5"},
      {"0 1:1\n-1 1:1\n", "labels -1 and 0 in one file"},
      {"\x1f\x8b\x08 1:1\n",
       "FILE:1: label '?"
       "?"
       "?'"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(ParseLibsvm("FILE", c.text), StatusIs(StatusCode::kDataLoss, c.message)) << c.text;
  }
}

TEST(Libsvm, ColumnsCountFromOneUnlessColumnZeroOccurs) {
  Dataset from_one = *ParseLibsvm("file", "1 1:1 4:1\n");
  Dataset from_zero = *ParseLibsvm("file", "1 2:1\n1 0:1 4:1\n");

  CountColumnsFromZero(from_one, nullptr);
  CountColumnsFromZero(from_zero, nullptr);

  EXPECT_THAT(from_one.column, ElementsAre(0u, 3u));
  EXPECT_EQ(from_one.columns, 4u);
  EXPECT_THAT(from_zero.column, ElementsAre(2u, 0u, 4u));
  EXPECT_EQ(from_zero.columns, 5u);
}

// A column means the same in both files, also where column 0 happens to occur in one alone.
TEST(Libsvm, TrainingAndTestDataCountAlike) {
  Dataset train = *ParseLibsvm("file", "1 0:1 2:1\n");
  Dataset test = *ParseLibsvm("file.t", "1 2:1 9:1\n");

  CountColumnsFromZero(train, &test);

  EXPECT_THAT(train.column, ElementsAre(0u, 2u));
  EXPECT_THAT(test.column, ElementsAre(2u, 9u));
  EXPECT_EQ(train.columns, 10u);
  EXPECT_EQ(test.columns, 10u);
}

TEST(Libsvm, DataWithoutEntriesHasNoColumns) {
  Dataset data = *ParseLibsvm("file", "1\n-1\n");

  CountColumnsFromZero(data, nullptr);

  EXPECT_EQ(data.columns, 0u);
  EXPECT_THAT(data.row_begin, ElementsAre(0u, 0u, 0u));
}

// ---- Ratings

TEST(Ratings, ReadsEverySeparator) {
  for (const char* text : {"196 242 3.5\n7 8 -1", "196\t242\t3.5\t881250949\r\n7\t8\t-1\t9\r\n",
                           "userId,movieId,rating\n196,242,3.5\n7,8,-1\n",
                           "196::242::3.5::12:30\n\n# a comment\n7::8::-1::9\n"}) {
    const Result<Dataset> data = ParseRatings("file", text);

    ASSERT_THAT(data, IsOk()) << text;
    EXPECT_EQ(data->examples, 2u);
    EXPECT_THAT(data->user, ElementsAre(196u, 7u)) << text;
    EXPECT_THAT(data->item, ElementsAre(242u, 8u)) << text;
    EXPECT_THAT(data->targets, ElementsAre(3.5f, -1.0f)) << text;
  }
}

TEST(Ratings, RefusesBadLinesWithTheirPlace) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"", "FILE: no ratings"},
      {"user item rating\n", "FILE: no ratings"},
      {"1 2\n", "FILE:1: '1 2' is not a user, an item and a rating"},
      {"1 2 3\n1 2 x\n", "FILE:2: '1 2 x'"},
      {"1 2 3\nuser item rating\n", "FILE:2: 'user item rating'"},
      {"1 2.5 3\n", "FILE:1: '1 2.5 3'"},
      {"-1 2 3\n", "FILE:1: '-1 2 3'"},
      {"1 2 inf\n", "FILE:1: '1 2 inf'"},
      {"1 2 1e39\n", "FILE:1: '1 2 1e39'"},
      {"18446744073709551616 2 3\n", "FILE:1: '18446744073709551616 2 3'"},
      {"1:2:3\n", "FILE:1: '1:2:3'"},
      {"+1 3:0.5 7:1 9:2\n", "FILE:1: '+1 3:0.5 7:1 9:2'"},  // LIBSVM.
  };
  for (const auto& c : cases) {
    EXPECT_THAT(ParseRatings("FILE", c.text), StatusIs(StatusCode::kDataLoss, c.message)) << c.text;
  }
}

TEST(Ratings, LongLinesAreQuotedInPart) {
  const Result<Dataset> data = ParseRatings("FILE", std::string(1000, '\x01'));

  EXPECT_THAT(data, StatusIs(StatusCode::kDataLoss, StrCat("'", std::string(48, '?'), "...'")));
}

// ---- Files

TEST_F(DataFiles, ReadsPlainAndCompressedBytes) {
  std::string bytes;
  for (unsigned i = 0; i < 1'200'000; ++i) bytes += static_cast<char>(i * i >> 3);

  const Result<std::string> plain = ReadDataFile(Write("plain.gz", bytes));
  const Result<std::string> compressed = ReadDataFile(Write("compressed", Gz(bytes)));
  const Result<std::string> empty = ReadDataFile(Write("empty", ""));

  ASSERT_THAT(plain, IsOk());
  ASSERT_THAT(compressed, IsOk());
  ASSERT_THAT(empty, IsOk());
  EXPECT_TRUE(*plain == bytes);
  EXPECT_TRUE(*compressed == bytes);
  EXPECT_EQ(*empty, "");
}

TEST_F(DataFiles, RefusesDamagedGz) {
  const std::string whole = Gz(std::string(100, 'x') + "some more text that is not all the same");
  std::string flipped = whole;
  flipped[whole.size() - 6] = static_cast<char>(flipped[whole.size() - 6] ^ 1);  // The checksum.

  for (const std::string& bytes :
       {whole.substr(0, whole.size() / 2), whole.substr(0, whole.size() - 1), flipped}) {
    const std::string path = Write("damaged", bytes);
    EXPECT_THAT(ReadDataFile(path),
                StatusIs(StatusCode::kDataLoss, StrCat(path, " is damaged or unfinished")));
  }
}

TEST_F(DataFiles, RefusesWhatIsNoFile) {
  EXPECT_THAT(ReadDataFile(Path("missing")), StatusIs(StatusCode::kNotFound, Path("missing")));
  EXPECT_THAT(ReadDataFile(Path("missing")), StatusIs(StatusCode::kNotFound, "No such file"));
  EXPECT_THAT(ReadDataFile(folder_), StatusIs(StatusCode::kNotFound, "not a regular file"));
  EXPECT_THAT(ReadDataFile("/dev/zero"), StatusIs(StatusCode::kNotFound, "not a regular file"));
}

// ---- Data sets

TEST(Digits, SplitIs1500And297OfAllImages) {
  const Dataset all = *ParseDigits(DigitsCsv());
  const Result<Split> split = Load("mlp", "digits");

  ASSERT_THAT(split, IsOk());
  EXPECT_EQ(split->train->examples, 1500u);
  EXPECT_EQ(split->test->examples, 297u);
  using Image = std::vector<float>;
  std::vector<Image> expected, found;
  for (const Dataset* part : {&all, split->train.get(), split->test.get()}) {
    ASSERT_EQ(part->width, 64u);
    ASSERT_EQ(part->classes, 10u);
    ASSERT_EQ(part->features.size(), 64 * part->examples);
    ASSERT_EQ(part->labels.size(), part->examples);
    for (std::uint64_t i = 0; i < part->examples; ++i) {
      const auto begin = part->features.begin() + static_cast<std::ptrdiff_t>(64 * i);
      Image image(begin, begin + 64);
      image.push_back(static_cast<float>(part->labels[i]));
      (part == &all ? expected : found).push_back(std::move(image));
    }
  }
  std::sort(expected.begin(), expected.end());
  std::sort(found.begin(), found.end());
  EXPECT_TRUE(found == expected);
}

// Counts of the classes as scikit-learn documents them: 178, 182, 177, 183, 181, 182, 181, 179,
// 174, 180.
TEST(Digits, AreTheUciDigits) {
  const Dataset all = *ParseDigits(DigitsCsv());

  std::vector<int> counts(10);
  for (const std::uint32_t label : all.labels) ++counts[label];
  EXPECT_THAT(counts, ElementsAre(178, 182, 177, 183, 181, 182, 181, 179, 174, 180));
  EXPECT_EQ(*std::min_element(all.features.begin(), all.features.end()), 0.0f);
  EXPECT_EQ(*std::max_element(all.features.begin(), all.features.end()), 1.0f);
  EXPECT_EQ(all.features[2], 5.0f / 16);  // The first image begins 0, 0, 5, 13.
  EXPECT_EQ(all.features[3], 13.0f / 16);
}

TEST(Digits, SplitDependsOnTheSeedAlone) {
  const Split split = *Load("mlp", "digits", 1);

  EXPECT_EQ(Load("softmax", "digits", 1)->train->features, split.train->features);
  EXPECT_NE(Load("mlp", "digits", 2)->train->features, split.train->features);
}

TEST(Digits, RefusesOtherCsv) {
  std::string line;
  for (int i = 0; i < 64; ++i) line += "1,";
  const struct {
    std::string csv;
    const char* message;
  } cases[] = {
      {"", "no lines"},
      {line + "3\n" + line + "\n", "line 2, field 65"},
      {line + "10\n", "line 1, field 65: '10' is no number up to 9"},
      {"17" + line.substr(1) + "3\n", "line 1, field 1: '17,1,1,1' is no number up to 16"},
      {line + "3,1\n", "line 1: not 65 numbers"},
      {line.substr(2) + "3\n", "line 1: not 65 numbers"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(ParseDigits(c.csv), StatusIs(StatusCode::kDataLoss, c.message)) << c.csv;
  }
}

// Debian's package dataset-fashion-mnist puts it here.
constexpr char kFashionMnist[] = "/usr/share/datasets/fashion-mnist";

TEST(FashionMnist, IsReadWhereItIsInstalled) {
  if (!std::filesystem::exists(kFashionMnist)) GTEST_SKIP() << kFashionMnist << " is not there";

  const Result<Split> split = Load("mlp", "fashion-mnist");

  ASSERT_THAT(split, IsOk());
  EXPECT_EQ(split->train->examples, 60000u);
  EXPECT_EQ(split->test->examples, 10000u);
  for (const Dataset* part : {split->train.get(), split->test.get()}) {
    EXPECT_EQ(part->width, 784u);
    std::vector<std::uint64_t> counts(kClasses);
    for (const std::uint32_t label : part->labels) ++counts[label];
    EXPECT_EQ(counts, std::vector<std::uint64_t>(kClasses, part->examples / kClasses));
  }
}

TEST(FashionMnist, WhereMissingThePackageIsNamed) {
  if (std::filesystem::exists(kFashionMnist)) GTEST_SKIP() << kFashionMnist << " is there";

  EXPECT_THAT(Load("mlp", "fashion-mnist"),
              StatusIs(StatusCode::kNotFound, "install Debian's package dataset-fashion-mnist"));
}

TEST_F(DataFiles, LoadsIdxFolder) {
  WriteIdxFolder();

  const Result<Split> split = Load("softmax", folder_);

  ASSERT_THAT(split, IsOk());
  EXPECT_THAT(split->train->features, ElementsAre(0.0f, 1.0f, 0.2f, 0.0f));
  EXPECT_THAT(split->train->labels, ElementsAre(3u, 9u));
  EXPECT_THAT(split->test->features, ElementsAre(1.0f, 1.0f));
  EXPECT_THAT(split->test->labels, ElementsAre(1u));
}

TEST_F(DataFiles, RefusesIdxFolderInPieces) {
  WriteIdxFolder(3);
  EXPECT_THAT(Load("mlp", folder_),
              StatusIs(StatusCode::kDataLoss, "training images have 2 pixels, test images 3"));

  Write("t10k-labels-idx1-ubyte", Idx({2}, "\x01\x01"));
  EXPECT_THAT(Load("mlp", folder_),
              StatusIs(StatusCode::kDataLoss, "t10k-images-idx3-ubyte.gz has 1"));

  std::filesystem::remove(Path("t10k-labels-idx1-ubyte"));
  EXPECT_THAT(Load("mlp", folder_),
              StatusIs(StatusCode::kNotFound, Path("t10k-labels-idx1-ubyte: No such file")));
}

TEST_F(DataFiles, FileIsSplitNineToOneUnlessTestFileIsBesideIt) {
  std::string text;
  for (int i = 1; i <= 50; ++i) text += StrCat(i % 2, " ", i, ":", i, "\n");
  const std::string path = Write("data", text);

  const Result<Split> split = Load("logistic", path);
  ASSERT_THAT(split, IsOk());
  EXPECT_EQ(split->train->examples, 45u);
  EXPECT_EQ(split->test->examples, 5u);
  EXPECT_EQ(split->train->columns, 50u);
  EXPECT_EQ(split->test->columns, 50u);
  std::vector<std::uint64_t> columns = split->train->column;
  columns.insert(columns.end(), split->test->column.begin(), split->test->column.end());
  std::sort(columns.begin(), columns.end());
  std::vector<std::uint64_t> all(50);
  std::iota(all.begin(), all.end(), 0u);
  EXPECT_EQ(columns, all);
  EXPECT_NE(Load("logistic", path, 2)->test->column, split->test->column);

  Write("data.t", "1 60:1\n");
  const Result<Split> given = Load("logistic", path);
  ASSERT_THAT(given, IsOk());
  EXPECT_EQ(given->train->examples, 50u);
  EXPECT_THAT(given->test->column, ElementsAre(59u));
  EXPECT_EQ(given->train->columns, 60u);
}

TEST_F(DataFiles, RatingsAreSplitWithTheirUsersAndItems) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += StrCat(i, " ", 100 + i, " ", 200 + i, "\n");

  const Result<Split> split = Load("factorization", Write("ratings", text));

  ASSERT_THAT(split, IsOk());
  EXPECT_EQ(split->train->examples, 18u);
  EXPECT_EQ(split->test->examples, 2u);
  for (const Dataset* part : {split->train.get(), split->test.get()}) {
    for (std::uint64_t i = 0; i < part->examples; ++i) {
      EXPECT_EQ(part->item[i], part->user[i] + 100);
      EXPECT_EQ(part->targets[i], static_cast<float>(part->user[i] + 200));
    }
  }
}

TEST_F(DataFiles, BadTestFileIsNamed) {
  Write("data.t", "1 1:1\n1 x\n");

  EXPECT_THAT(Load("logistic", Write("data", "1 1:1\n")),
              StatusIs(StatusCode::kDataLoss, Path("data.t:2: 'x'")));
}

TEST_F(DataFiles, OneExampleIsNotSplit) {
  EXPECT_THAT(Load("logistic", Write("data", "1 1:1\n")),
              StatusIs(StatusCode::kDataLoss, "one example cannot be split"));
}

TEST_F(DataFiles, EachModelRefusesDataOfAnotherKind) {
  const std::string libsvm = Write("libsvm", "+1 3:0.5 7:1\n-1 1:2\n");
  const std::string ratings = Write("ratings", "196 242 3\n7 8 1\n");
  const std::string idx = Write("idx", Gz(Idx({2}, "\x01\x02")));

  EXPECT_THAT(Load("logistic", ratings),
              StatusIs(StatusCode::kDataLoss, ratings + ":1: label '196'"));
  EXPECT_THAT(Load("logistic", idx), StatusIs(StatusCode::kDataLoss, "Is this a LIBSVM file?"));
  EXPECT_THAT(Load("logistic", folder_), StatusIs(StatusCode::kNotFound, "not a regular file"));
  EXPECT_THAT(Load("factorization", libsvm),
              StatusIs(StatusCode::kDataLoss, libsvm + ":1: '+1 3:"));
  EXPECT_THAT(Load("factorization", idx), StatusIs(StatusCode::kDataLoss, idx + ":1: "));
  EXPECT_THAT(Load("mlp", libsvm), StatusIs(StatusCode::kNotFound, "--model mlp reads digits"));
  EXPECT_THAT(Load("softmax", folder_),
              StatusIs(StatusCode::kNotFound, Path("train-images-idx3-ubyte")));
}

TEST(LoadData, MissingDataSaysWhatTheModelReads) {
  EXPECT_THAT(Load("logistic", "digits"),
              StatusIs(StatusCode::kNotFound,
                       "--data digits is not there; --model logistic reads a LIBSVM"));
  EXPECT_THAT(Load("factorization", "digits"), StatusIs(StatusCode::kNotFound, "user item rating"));
  EXPECT_THAT(Load("mlp", "/no/such"), StatusIs(StatusCode::kNotFound, "--data /no/such"));
}

// The system refuses such a path rather than not finding it.
TEST(LoadData, OverlongPathIsAnError) {
  const std::string path(5000, 'x');
  for (const char* model : {"mlp", "logistic", "factorization"}) {
    EXPECT_THAT(Load(model, path), StatusIs(StatusCode::kNotFound, path)) << model;
  }
}

TEST(LoadData, TeacherIsTheSameTaskForEverySeed) {
  const Result<Split> one = LoadData({.model = "mlp", .data = "teacher"}, 1);
  const Result<Split> two = LoadData({.model = "mlp", .data = "teacher"}, 2);
  ASSERT_THAT(one, IsOk());
  ASSERT_THAT(two, IsOk());
  EXPECT_EQ(one->train->examples, 65536u);
  EXPECT_EQ(one->test->examples, 4096u);
  EXPECT_EQ(one->train->features, two->train->features);
  EXPECT_EQ(one->test->labels, two->test->labels);
  EXPECT_NE(std::vector(one->train->features.begin(), one->train->features.begin() + 32),
            std::vector(one->test->features.begin(), one->test->features.begin() + 32));
  std::vector<std::uint64_t> of_class(one->train->classes);
  for (const std::uint32_t label : one->train->labels) ++of_class.at(label);
  for (const std::uint64_t count : of_class) {
    EXPECT_GT(count, 65536u / 100);
    EXPECT_LT(count, 65536u * 4 / 10);
  }
}

TEST(LoadData, TimingNeedsNoData) {
  const Result<Split> split = Load("timing", "/no/such");

  ASSERT_THAT(split, IsOk());
  for (const Dataset* part : {split->train.get(), split->test.get()}) {
    EXPECT_EQ(part->examples, std::uint64_t{1} << 20);
    EXPECT_TRUE(part->features.empty());
    EXPECT_TRUE(part->row_begin.empty());
    EXPECT_TRUE(part->targets.empty());
  }
}

}  // namespace
}  // namespace slackline
