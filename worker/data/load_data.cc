#include <filesystem>

#include "core/base/check.h"
#include "core/base/strings.h"
#include "worker/data/digits.h"
#include "worker/data/permutation.h"
#include "worker/data/readers.h"

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
    for (std::uint64_t f = i * all.width; f < (i + 1) * all.width; ++f) part.features.push_back(all.features[f]);
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
  const Permutation order(all.examples, RandomStream(seed, RandomPurpose::kDataOrder, ~std::uint64_t{0}));
  std::vector<std::uint64_t> places(all.examples);
  for (std::uint64_t i = 0; i < places.size(); ++i) places[i] = order.At(i);
  const std::span<const std::uint64_t> all_places(places);
  return {std::make_shared<Dataset>(Select(all, all_places.first(all.examples - for_test))),
          std::make_shared<Dataset>(Select(all, all_places.last(for_test)))};
}

Result<std::string> ReadPlainOrGz(const std::string& path) {
  if (std::filesystem::exists(path)) return ReadDataFile(path);
  return ReadDataFile(path + ".gz");
}

Result<std::shared_ptr<const Dataset>> LoadIdxPart(const std::string& folder, const std::string& part) {
  const std::string images_name = StrCat(folder, "/", part, "-images-idx3-ubyte");
  const std::string labels_name = StrCat(folder, "/", part, "-labels-idx1-ubyte");
  SLACKLINE_ASSIGN_OR_RETURN(const std::string images, ReadPlainOrGz(images_name));
  SLACKLINE_ASSIGN_OR_RETURN(const std::string labels, ReadPlainOrGz(labels_name));
  SLACKLINE_ASSIGN_OR_RETURN(Dataset data, ParseIdx(images_name, images, labels_name, labels, kImageClasses));
  data.name = folder;
  return std::shared_ptr<const Dataset>(std::make_shared<Dataset>(std::move(data)));
}

Result<Split> LoadIdxFolder(const std::string& folder) {
  SLACKLINE_ASSIGN_OR_RETURN(auto train, LoadIdxPart(folder, "train"));
  SLACKLINE_ASSIGN_OR_RETURN(auto test, LoadIdxPart(folder, "t10k"));
  if (train->width != test->width) {
    return DataLoss(StrCat(folder, ": training images have ", train->width, " pixels, test images ", test->width));
  }
  return Split{std::move(train), std::move(test)};
}

template <typename Parse>
Result<Split> LoadText(const std::string& path, std::uint64_t seed, Parse parse) {
  SLACKLINE_ASSIGN_OR_RETURN(const std::string text, ReadDataFile(path));
  SLACKLINE_ASSIGN_OR_RETURN(Dataset all, parse(path, text));
  const std::string test_path = path + ".t";
  if (!std::filesystem::exists(test_path)) {
    if (all.examples < 2) return DataLoss(StrCat(path, ": one example cannot be split into training and test data"));
    return SplitOff(all, std::max<std::uint64_t>(1, all.examples / 10), seed);
  }
  SLACKLINE_ASSIGN_OR_RETURN(const std::string test_text, ReadDataFile(test_path));
  SLACKLINE_ASSIGN_OR_RETURN(Dataset test, parse(test_path, test_text));
  return Split{std::make_shared<Dataset>(std::move(all)), std::make_shared<Dataset>(std::move(test))};
}

}  // namespace

Result<Split> LoadData(const ModelOptions& options, std::uint64_t seed) {
  if (options.model == "timing") {
    auto nothing = std::make_shared<Dataset>();
    nothing->name = "nothing";
    nothing->examples = kTimingExamples;
    return Split{nothing, nothing};
  }
  if (options.model == "logistic") return LoadText(options.data, seed, ParseLibsvm);
  if (options.model == "factorization") return LoadText(options.data, seed, ParseRatings);
  if (options.data == "digits") {
    SLACKLINE_ASSIGN_OR_RETURN(const Dataset all, ParseDigits(DigitsCsv()));
    return SplitOff(all, kDigitsForTest, seed);
  }
  if (options.data == "fashion-mnist") {
    if (!std::filesystem::exists(kFashionMnist)) {
      return NotFound(StrCat(kFashionMnist, " is not there; install Debian's package dataset-fashion-mnist, or use --data digits"));
    }
    return LoadIdxFolder(kFashionMnist);
  }
  if (!std::filesystem::is_directory(options.data)) {
    return NotFound(StrCat("--data ", options.data, ": --model ", options.model,
                           " reads digits, fashion-mnist or a folder with the four IDX files of MNIST"));
  }
  return LoadIdxFolder(options.data);
}

}  // namespace slackline
