// TextLines: a text file line by line and field by field, for readers that name the place of what
// they refuse.
#ifndef SLACKLINE_WORKER_DATA_TEXT_LINES_H_
#define SLACKLINE_WORKER_DATA_TEXT_LINES_H_

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/strings.h"
#include "slackline/status.h"

namespace slackline {

class TextLines {
 public:
  TextLines(std::string name, std::string_view text) : name_(std::move(name)), text_(text) {}

  // The next line, without its end. False after the last.
  bool Next(std::string_view& line) {
    if (text_.empty()) return false;
    ++number_;
    const std::size_t end = std::min(text_.find('\n'), text_.size());
    line = text_.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    text_.remove_prefix(std::min(end + 1, text_.size()));
    return true;
  }

  // "file:line: ...".
  template <typename... Parts>
  Status Refuse(const Parts&... parts) const {
    return DataLoss(StrCat(name_, ":", number_, ": ", parts...));
  }
  std::uint64_t number() const { return number_; }

 private:
  std::string name_;
  std::string_view text_;
  std::uint64_t number_ = 0;
};

// Takes the next field off `line`; fields stand between characters of `separators`. Empty at the
// end.
inline std::string_view TakeField(std::string_view& line, std::string_view separators) {
  line.remove_prefix(std::min(line.find_first_not_of(separators), line.size()));
  const std::string_view field = line.substr(0, line.find_first_of(separators));
  line.remove_prefix(field.size());
  return field;
}

// The whole field as a number; a leading '+' is allowed.
template <typename T>
bool ParseNumber(std::string_view field, T& value) {
  if (field.size() > 1 && field.front() == '+' && field[1] != '-') field.remove_prefix(1);
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  return error == std::errc() && end == field.data() + field.size();
}

// The whole field as a float. What is too small for one becomes 0; what is too large, infinite, no
// number, or too small even for a double is refused.
inline bool ParseFloat(std::string_view field, float& value) {
  double wide = 0;
  if (!ParseNumber(field, wide)) return false;
  if (!(std::abs(wide) <= static_cast<double>(std::numeric_limits<float>::max()))) return false;
  value = static_cast<float>(wide);
  return true;
}

// The beginning of `text` in quotes, fit for a terminal whatever bytes a file holds.
inline std::string Quoted(std::string_view text) {
  constexpr std::size_t kShown = 48;
  std::string quoted = "'";
  for (const char c : text.substr(0, kShown)) quoted += c >= ' ' && c <= '~' ? c : '?';
  quoted += text.size() > kShown ? "...'" : "'";
  return quoted;
}

}  // namespace slackline

#endif  // SLACKLINE_WORKER_DATA_TEXT_LINES_H_
