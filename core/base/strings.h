// StrCat: joins values into a message. (g++ 12 has no std::format.)
#ifndef SLACKLINE_CORE_BASE_STRINGS_H_
#define SLACKLINE_CORE_BASE_STRINGS_H_

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace slackline {

template <typename... Parts>
std::string StrCat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

// "a, b, c" for any range of printable values.
template <typename Range>
std::string StrJoin(const Range& range, std::string_view separator = ", ") {
  std::ostringstream out;
  bool first = true;
  for (const auto& item : range) {
    if (!first) out << separator;
    out << item;
    first = false;
  }
  return out.str();
}

// Splits at every `separator`; "" gives no parts.
std::vector<std::string> StrSplit(std::string_view text, char separator);

}  // namespace slackline

#endif  // SLACKLINE_CORE_BASE_STRINGS_H_
