#include "worker/data/digits.h"

#include <algorithm>
#include <charconv>

#include "core/base/strings.h"

namespace slackline {
namespace {
constexpr std::uint64_t kPixels = 64;
constexpr std::uint32_t kDarkest = 16;
constexpr std::uint32_t kClasses = 10;
}  // namespace

Result<Dataset> ParseDigits(std::string_view csv) {
  Dataset data;
  data.name = "digits";
  data.width = kPixels;
  data.classes = kClasses;
  std::uint64_t line_number = 0;
  while (!csv.empty()) {
    ++line_number;
    const std::size_t end = std::min(csv.find('\n'), csv.size());
    std::string_view line = csv.substr(0, end);
    csv.remove_prefix(std::min(end + 1, csv.size()));
    if (line.empty()) continue;
    for (std::uint64_t field = 0; field <= kPixels; ++field) {
      std::uint32_t value = 0;
      const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), value);
      const bool last = field == kPixels;
      if (error != std::errc() || value > (last ? kClasses - 1 : kDarkest)) {
        return DataLoss(StrCat("digits, line ", line_number, ", field ", field + 1, ": '",
                               line.substr(0, 8), "' is no number up to ",
                               last ? kClasses - 1 : kDarkest));
      }
      line.remove_prefix(static_cast<std::size_t>(rest - line.data()));
      if (last != line.empty() || (!last && line.front() != ',')) {
        return DataLoss(StrCat("digits, line ", line_number, ": not ", kPixels + 1,
                               " numbers with commas between"));
      }
      if (last) {
        data.labels.push_back(value);
      } else {
        line.remove_prefix(1);
        data.features.push_back(static_cast<float>(value) / static_cast<float>(kDarkest));
      }
    }
  }
  data.examples = data.labels.size();
  if (data.examples == 0) return DataLoss("digits: no lines");
  return data;
}

}  // namespace slackline
