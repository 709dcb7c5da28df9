#include "tools/commands.h"

#include <cstdio>

#include "core/config/option_text.h"
#include "core/process/role_process.h"

namespace slackline {

int Fail(Binary binary, const Status& status) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s: %s\n", BinaryName(binary), status.message().c_str());
  return status.code() == StatusCode::kInvalidArgument ? kExitBadOptions : kExitFailed;
}

std::optional<Parsed> ParseOrExplain(Binary binary, const Arguments& arguments, int& exit_code) {
  Result<Parsed> parsed = ParseOptions(binary, arguments);
  if (!parsed.ok()) {
    Fail(binary, parsed.status());
    exit_code = kExitBadOptions;
    return std::nullopt;
  }
  if (parsed->help) {
    std::fputs(HelpText(binary).c_str(), stdout);
    exit_code = kExitOk;
    return std::nullopt;
  }
  return std::move(parsed).value();
}

}  // namespace slackline
