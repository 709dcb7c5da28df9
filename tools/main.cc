// slackline: the front end. One subcommand a file, command_<name>.cc.
#include <cstdio>
#include <string>
#include <vector>

#include "core/base/strings.h"
#include "core/config/parse_options.h"
#include "core/process/role_process.h"
#include "tools/commands.h"

namespace slackline {
namespace {

struct Command {
  const char* name;
  const char* summary;
  int (*run)(const Arguments&);
};
constexpr Command kCommands[] = {
    {"run", "train on this machine: starts every role and waits for the end", CommandRun},
    {"sim", "the same job in virtual time, in one process", CommandSim},
    {"status", "who takes part in a run, how far it is and who waits for whom", CommandStatus},
    {"verify", "check from a run's event logs that it kept its promises", CommandVerify},
    {"events", "print a run's event logs, one JSON object a line", CommandEvents},
    {"bench", "how fast the parts are, beside yardsticks measured in the same run", CommandBench},
    {"options", "print every option as docs/OPTIONS.md has it", CommandOptions},
};

void PrintUsage(std::FILE* out) {
  std::fputs("usage: slackline COMMAND [options]\n\n", out);
  for (const Command& command : kCommands)
    std::fprintf(out, "  %-9s%s\n", command.name, command.summary);
  std::fputs(
      "  help     print this\n  version  print the version\n\n"
      "slackline COMMAND --help lists a command's options. The roles are also programs of their "
      "own:\n"
      "slackline-scheduler, slackline-server and slackline-worker.\n",
      out);
}

int RefuseCommand(const std::string& name) {
  std::vector<std::string> known = {"help", "version"};
  for (const Command& command : kCommands) known.emplace_back(command.name);
  const std::string nearest = NearestName(name, known);
  const std::string hint = nearest.empty() ? "slackline help lists them"
                                           : StrCat("did you mean slackline ", nearest, "?");
  std::fprintf(stderr, "slackline: there is no command '%s'; %s\n", name.c_str(), hint.c_str());
  return kExitBadOptions;
}

int Main(int argc, char** argv) {
  if (argc < 2) {
    PrintUsage(stderr);
    return kExitBadOptions;
  }
  const std::string name = argv[1];
  if (name == "help" || name == "--help" || name == "-h") {
    PrintUsage(stdout);
    return kExitOk;
  }
  if (name == "version" || name == "--version") {
    std::printf("slackline %s\n", SLACKLINE_VERSION);
    return kExitOk;
  }
  for (const Command& command : kCommands) {
    if (name == command.name) return command.run(Arguments(argv + 2, argv + argc));
  }
  return RefuseCommand(name);
}

}  // namespace
}  // namespace slackline

int main(int argc, char** argv) { return slackline::Main(argc, argv); }
