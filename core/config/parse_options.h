// ParseOptions: command line and config file to Options.
//
// From weakest to strongest: defaults; the config file's --algorithm; the file; the command line's
// --algorithm; the command line. What is given twice counts as given last.
#ifndef SLACKLINE_CORE_CONFIG_PARSE_OPTIONS_H_
#define SLACKLINE_CORE_CONFIG_PARSE_OPTIONS_H_

#include <map>
#include <string>
#include <vector>

#include "core/config/option_table.h"
#include "core/config/options.h"
#include "slackline/status.h"

namespace slackline {

inline constexpr const char* kSourceDefault = "default";

struct Parsed {
  Options options;
  // By option name: "flag", "run.ini:7", "algorithm bsp", "gate bsp" or kSourceDefault.
  std::map<std::string, std::string> source;
  std::vector<std::string> positional;  // At most as many as BinaryArguments has.
  bool help = false;                    // Asked for; nothing else was looked at.

  bool Given(const std::string& option) const { return source.at(option) != kSourceDefault; }
};

// `arguments` do not hold the program's name. The result has passed Validate.
// A config file may hold options that do not concern `binary`, so that one serves all roles.
// Errors: kInvalidArgument, naming option, value, place and what would do; kNotFound for the file.
Result<Parsed> ParseOptions(Binary binary, const std::vector<std::string>& arguments);
// The same of main's own arguments, from argv[first] on.
Result<Parsed> ParseOptions(Binary binary, int argc, const char* const* argv, int first = 1);

// Reads a config file alone, as for `slackline run`.
Result<Parsed> ReadConfigFile(const std::string& path);

// The one of `known` that `name` was probably meant to be; "" if none is near.
std::string NearestName(const std::string& name, const std::vector<std::string>& known);
// The same among the options of `binary`.
std::string NearestOption(Binary binary, const std::string& name);

}  // namespace slackline

#endif  // SLACKLINE_CORE_CONFIG_PARSE_OPTIONS_H_
