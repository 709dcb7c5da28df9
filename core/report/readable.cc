#include "core/report/readable.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "core/base/strings.h"

namespace slackline {

std::string Fixed(double value, int digits) {
  if (!std::isfinite(value)) return "-";
  std::array<char, 64> text;
  const int size = std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  if (size < 0 || static_cast<std::size_t>(size) >= text.size()) return StrCat(value);
  return std::string(text.data(), static_cast<std::size_t>(size));
}

std::string ReadableCount(double count) {
  constexpr double kBelow = 999.5;  // What still rounds to three figures.
  if (!(count >= kBelow)) {
    return Fixed(count, count == std::floor(count) || count >= 100 ? 0 : count >= 10 ? 1 : 2);
  }
  for (const char suffix : {'k', 'M', 'G'}) {
    count /= 1000;
    if (count < kBelow) return StrCat(Fixed(count, count < 10 ? 2 : count < 100 ? 1 : 0), suffix);
  }
  return StrCat(Fixed(count / 1000, 2), 'T');
}

std::string ReadableSeconds(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "-";
  if (seconds < 1) return StrCat(Fixed(seconds * 1000, 0), " ms");
  if (seconds < 99.95) return StrCat(Fixed(seconds, 1), " s");
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 3600) return StrCat(whole / 60, " min ", whole % 60, " s");
  return StrCat(whole / 3600, " h ", whole % 3600 / 60, " min");
}

}  // namespace slackline
