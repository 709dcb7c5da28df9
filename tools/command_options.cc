#include <cstdio>

#include "core/config/option_text.h"
#include "core/process/role_process.h"
#include "tools/commands.h"

namespace slackline {

int CommandOptions(const Arguments& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--markdown") continue;  // The only form there is.
    std::fprintf(stderr, "slackline options: unexpected '%s'; it takes --markdown or nothing\n",
                 argument.c_str());
    return kExitBadOptions;
  }
  std::fputs(OptionsMarkdown().c_str(), stdout);
  return kExitOk;
}

}  // namespace slackline
