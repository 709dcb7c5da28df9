#include "core/config/agreement.h"

#include <vector>

#include "core/base/strings.h"
#include "core/config/option_table.h"

namespace slackline {
namespace {

constexpr std::size_t kShownMax = 200;  // Of a line from a peer, in bytes.

struct NamedValue {
  std::string name;
  std::string value;
};

NamedValue SplitLine(const std::string& line) {
  const std::size_t equals = line.find('=');
  if (equals == line.npos) return {line.substr(0, kShownMax), ""};
  return {line.substr(0, std::min(equals, kShownMax)), line.substr(equals + 1, kShownMax)};
}

}  // namespace

std::string Agreement(const Options& options) {
  std::string text;
  for (const OptionRow& row : OptionTable()) {
    if (row.agreed) text += StrCat(row.name, "=", row.value.print(options), "\n");
  }
  return text;
}

std::string FirstDifference(std::string_view ours, std::string_view theirs) {
  if (ours == theirs) return "";
  const std::vector<std::string> our_lines = StrSplit(ours, '\n');
  const std::vector<std::string> their_lines = StrSplit(theirs, '\n');
  for (std::size_t i = 0; i < our_lines.size() || i < their_lines.size(); ++i) {
    const bool in_both = i < our_lines.size() && i < their_lines.size();
    if (in_both && our_lines[i] == their_lines[i]) continue;
    const NamedValue our = i < our_lines.size() ? SplitLine(our_lines[i]) : NamedValue{};
    const NamedValue their = i < their_lines.size() ? SplitLine(their_lines[i]) : NamedValue{};
    if (our.name == their.name) {
      return StrCat("--", our.name, " is ", our.value, " in this run and ", their.value,
                    " in the process that wants to join");
    }
    return StrCat("the lists of options differ: '", our.name, "' in this run, '", their.name,
                  "' in the process that wants to join; it may be of another version");
  }
  return "the options differ";
}

}  // namespace slackline
