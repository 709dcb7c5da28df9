#include <cctype>
#include <cmath>

#include "worker/data/readers.h"
#include "worker/data/text_lines.h"

namespace slackline {

Result<Dataset> ParseRatings(const std::string& name, std::string_view text) {
  constexpr std::string_view kBetween = " \t,:;";
  Dataset data;
  data.name = name;
  TextLines lines(name, text);
  for (std::string_view line; lines.Next(line);) {
    const std::string_view whole = line;
    const std::string_view user_text = TakeField(line, kBetween);
    if (user_text.empty() || user_text.front() == '#') continue;
    std::uint64_t user = 0, item = 0;
    float rating = 0;
    const std::string_view item_text = TakeField(line, kBetween);
    const std::string_view rating_text = TakeField(line, kBetween);
    if (!ParseNumber(user_text, user) || !ParseNumber(item_text, item) || !ParseNumber(rating_text, rating) ||
        !std::isfinite(rating)) {
      const bool heading = lines.number() == 1 && std::isalpha(static_cast<unsigned char>(user_text.front())) != 0;
      if (heading) continue;
      return lines.Refuse("'", whole.substr(0, 48), "' is not a user, an item and a rating");
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
