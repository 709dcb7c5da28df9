// The subcommands of slackline. Each gets the arguments after its name and returns an exit code.
#ifndef SLACKLINE_TOOLS_COMMANDS_H_
#define SLACKLINE_TOOLS_COMMANDS_H_

#include <optional>
#include <string>
#include <vector>

#include "core/config/parse_options.h"
#include "slackline/status.h"

namespace slackline {

using Arguments = std::vector<std::string>;

int CommandRun(const Arguments& arguments);
int CommandSim(const Arguments& arguments);
int CommandStatus(const Arguments& arguments);
int CommandVerify(const Arguments& arguments);
int CommandEvents(const Arguments& arguments);
int CommandBench(const Arguments& arguments);
int CommandOptions(const Arguments& arguments);

// Parses, and answers --help and wrong options itself: then nothing is returned and `exit_code`
// set.
std::optional<Parsed> ParseOrExplain(Binary binary, const Arguments& arguments, int& exit_code);

// Prints "<binary>: <message>" to stderr and returns the exit code that fits.
int Fail(Binary binary, const Status& status);

}  // namespace slackline

#endif  // SLACKLINE_TOOLS_COMMANDS_H_
