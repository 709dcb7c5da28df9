#include <algorithm>
#include <cctype>

#include "worker/data/readers.h"
#include "worker/data/text_lines.h"

namespace slackline {
namespace {

// Takes the next field off `line`. A single colon stands within a field, and so spoils it: that
// tells LIBSVM's "column:value" from a user and an item.
std::string_view TakeRatingField(std::string_view& line) {
  constexpr std::string_view kBetween = " \t,";
  constexpr std::string_view kColons = "::";
  for (;;) {
    if (line.starts_with(kColons)) {
      line.remove_prefix(kColons.size());
    } else if (!line.empty() && kBetween.find(line.front()) != kBetween.npos) {
      line.remove_prefix(1);
    } else {
      break;
    }
  }
  const std::size_t end = std::min(line.find_first_of(kBetween), line.find(kColons));
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(field.size());
  return field;
}

}  // namespace

Result<Dataset> ParseRatings(const std::string& name, std::string_view text) {
  Dataset data;
  data.name = name;
  TextLines lines(name, text);
  for (std::string_view line; lines.Next(line);) {
    const std::string_view whole = line;
    const std::string_view user_text = TakeRatingField(line);
    if (user_text.empty() || user_text.front() == '#') continue;
    std::uint64_t user = 0, item = 0;
    float rating = 0;
    const std::string_view item_text = TakeRatingField(line);
    const std::string_view rating_text = TakeRatingField(line);
    if (!ParseNumber(user_text, user) || !ParseNumber(item_text, item) ||
        !ParseFloat(rating_text, rating)) {
      const bool heading =
          lines.number() == 1 && std::isalpha(static_cast<unsigned char>(user_text.front())) != 0;
      if (heading) continue;
      return lines.Refuse(
          Quoted(whole),
          " is not a user, an item and a rating, with spaces, tabs, commas or '::' between");
    }
    data.user.push_back(user);
    data.item.push_back(item);
    data.targets.push_back(rating);
  }
  data.examples = data.targets.size();
  if (data.examples == 0) return DataLoss(StrCat(name, ": no ratings"));
  return data;
}

}  // namespace slackline
