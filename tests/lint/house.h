// The rules of the house that a machine can check: who may include whom, what only certain folders
// may touch, and the shape of a header. ARCHITECTURE.md gives the reasons.
#ifndef SLACKLINE_TESTS_LINT_HOUSE_H_
#define SLACKLINE_TESTS_LINT_HOUSE_H_

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace slackline {

struct Finding {
  std::string path;
  int line = 0;
  std::string what;

  bool operator==(const Finding&) const = default;
};

// As compilers write it: "core/base/x.h:12: what".
std::ostream& operator<<(std::ostream& out, const Finding& finding);

// What is wrong with one source file. `path` is from the top of the tree, with '/'.
std::vector<Finding> CheckSource(std::string_view path, std::string_view text);

// The text with comments and the contents of literals blanked out, line by line as long as before.
std::string BlankCommentsAndLiterals(std::string_view text);

// "core/wire/codec.h" -> "SLACKLINE_CORE_WIRE_CODEC_H_"; include/slackline/ counts as slackline/.
std::string GuardOf(std::string_view path);

}  // namespace slackline

#endif  // SLACKLINE_TESTS_LINT_HOUSE_H_
