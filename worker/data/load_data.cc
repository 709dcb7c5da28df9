#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/base/check.h"
#include "core/base/strings.h"
#include "core/config/transformer_shape.h"
#include "worker/data/digits.h"
#include "worker/data/teacher.h"
#include "worker/data/permutation.h"
#include "worker/data/readers.h"
#include "worker/data/tokens.h"

namespace slackline {
namespace {

constexpr char kFashionMnist[] = "/usr/share/datasets/fashion-mnist";
constexpr std::uint32_t kImageClasses = 10;
constexpr std::uint64_t kTimingExamples = std::uint64_t{1} << 20;
constexpr std::uint64_t kDigitsForTest = 297;

// The examples at the given places, whatever kind they are.
Dataset Select(const Dataset& all, std::span<const std::uint64_t> places) {
  Dataset part;
  part.name = all.name;
  part.examples = places.size();
  part.width = all.width;
  part.classes = all.classes;
  part.columns = all.columns;
  if (!all.row_begin.empty()) part.row_begin.push_back(0);
  for (const std::uint64_t i : places) {
    for (std::uint64_t f = i * all.width; f < (i + 1) * all.width; ++f)
      part.features.push_back(all.features[f]);
    if (!all.labels.empty()) part.labels.push_back(all.labels[i]);
    if (!all.targets.empty()) part.targets.push_back(all.targets[i]);
    if (!all.user.empty()) part.user.push_back(all.user[i]);
    if (!all.item.empty()) part.item.push_back(all.item[i]);
    if (all.row_begin.empty()) continue;
    for (std::uint64_t e = all.row_begin[i]; e < all.row_begin[i + 1]; ++e) {
      part.column.push_back(all.column[e]);
      part.value.push_back(all.value[e]);
    }
    part.row_begin.push_back(part.column.size());
  }
  return part;
}

Split SplitOff(const Dataset& all, std::uint64_t for_test, std::uint64_t seed) {
  const Permutation order(all.examples,
                          RandomStream(seed, RandomPurpose::kDataOrder, ~std::uint64_t{0}));
  std::vector<std::uint64_t> places(all.examples);
  for (std::uint64_t i = 0; i < places.size(); ++i) places[i] = order.At(i);
  const std::span<const std::uint64_t> all_places(places);
  return {std::make_shared<Dataset>(Select(all, all_places.first(all.examples - for_test))),
          std::make_shared<Dataset>(Select(all, all_places.last(for_test)))};
}

// False also where the system will not say; reading then gives its reason.
bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// `path`, or `path`.gz where only that is there.
std::string PlainOrGz(const std::string& path) {
  const std::string compressed = path + ".gz";
  return !Exists(path) && Exists(compressed) ? compressed : path;
}

Result<std::shared_ptr<const Dataset>> LoadIdxPart(const std::string& folder,
                                                   const std::string& part) {
  const std::string images_name = PlainOrGz(StrCat(folder, "/", part, "-images-idx3-ubyte"));
  const std::string labels_name = PlainOrGz(StrCat(folder, "/", part, "-labels-idx1-ubyte"));
  SLACKLINE_ASSIGN_OR_RETURN(const std::string images, ReadDataFile(images_name));
  SLACKLINE_ASSIGN_OR_RETURN(const std::string labels, ReadDataFile(labels_name));
  SLACKLINE_ASSIGN_OR_RETURN(Dataset data,
                             ParseIdx(images_name, images, labels_name, labels, kImageClasses));
  data.name = folder;
  return std::shared_ptr<const Dataset>(std::make_shared<Dataset>(std::move(data)));
}

Result<Split> LoadIdxFolder(const std::string& folder) {
  SLACKLINE_ASSIGN_OR_RETURN(auto train, LoadIdxPart(folder, "train"));
  SLACKLINE_ASSIGN_OR_RETURN(auto test, LoadIdxPart(folder, "t10k"));
  if (train->width != test->width) {
    return DataLoss(StrCat(folder, ": training images have ", train->width, " pixels, test images ",
                           test->width));
  }
  return Split{std::move(train), std::move(test)};
}

using ParseText = Result<Dataset> (*)(const std::string& name, std::string_view text);

Result<Dataset> LoadTextPart(const std::string& path, ParseText parse) {
  SLACKLINE_ASSIGN_OR_RETURN(const std::string text, ReadDataFile(path));
  return parse(path, text);
}

// FILE is all training data where FILE.t is beside it.
Result<Split> LoadText(const std::string& path, std::uint64_t seed, ParseText parse) {
  SLACKLINE_ASSIGN_OR_RETURN(Dataset all, LoadTextPart(path, parse));
  const std::string test_path = path + ".t";
  if (!Exists(test_path)) {
    if (all.examples < 2)
      return DataLoss(StrCat(path, ": one example cannot be split into training and test data"));
    CountColumnsFromZero(all, nullptr);
    return SplitOff(all, std::max<std::uint64_t>(1, all.examples / 10), seed);
  }
  SLACKLINE_ASSIGN_OR_RETURN(Dataset test, LoadTextPart(test_path, parse));
  CountColumnsFromZero(all, &test);  // Ratings have none.
  return Split{std::make_shared<Dataset>(std::move(all)),
               std::make_shared<Dataset>(std::move(test))};
}

}  // namespace

Result<Split> LoadData(const ModelOptions& options, std::uint64_t seed) {
  if (options.model == "timing") {
    auto nothing = std::make_shared<Dataset>();
    nothing->name = "nothing";
    nothing->examples = kTimingExamples;
    return Split{nothing, nothing};
  }
  if (IsTransformer(options.model)) return LoadTokens(options);
  const bool libsvm = options.model == "logistic";
  if (libsvm || options.model == "factorization") {
    if (!Exists(options.data)) {
      return NotFound(StrCat("--data ", options.data, " is not there; --model ", options.model,
                             " reads a ",
                             libsvm ? "LIBSVM file" : "file of 'user item rating' lines"));
    }
    return LoadText(options.data, seed, libsvm ? ParseLibsvm : ParseRatings);
  }
  if (options.data == "digits") {
    SLACKLINE_ASSIGN_OR_RETURN(const Dataset all, ParseDigits(DigitsCsv()));
    return SplitOff(all, kDigitsForTest, seed);
  }
  if (options.data == "teacher") return MakeTeacher();
  if (options.data == "fashion-mnist") {
    if (!Exists(kFashionMnist)) {
      return NotFound(StrCat(
          kFashionMnist,
          " is not there; install Debian's package dataset-fashion-mnist, or use --data digits"));
    }
    return LoadIdxFolder(kFashionMnist);
  }
  std::error_code error;
  if (!std::filesystem::is_directory(options.data, error)) {
    return NotFound(
        StrCat("--data ", options.data, ": --model ", options.model,
               " reads digits, teacher, fashion-mnist or a folder with the four IDX files of MNIST"));
  }
  return LoadIdxFolder(options.data);
}

}  // namespace slackline
