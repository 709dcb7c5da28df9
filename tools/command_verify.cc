#include <cstdio>

#include "core/base/check.h"
#include "core/base/strings.h"
#include "core/process/role_process.h"
#include "core/report/run_folder.h"
#include "tools/commands.h"
#include "tools/verify.h"

namespace slackline {
namespace {

// What the run had promised is in its own config.ini.
Result<Verification> Verify(const std::string& run_dir) {
  SLACKLINE_ASSIGN_OR_RETURN(const Parsed config,
                             ReadConfigFile(StrCat(run_dir, "/", kConfigFile)));
  return VerifyRun(run_dir, VerifyOptionsFrom(config.options));
}

}  // namespace

int CommandVerify(const Arguments& arguments) {
  int exit_code = kExitOk;
  const std::optional<Parsed> parsed = ParseOrExplain(Binary::kVerify, arguments, exit_code);
  if (!parsed.has_value()) return exit_code;
  if (parsed->positional.empty()) {
    return Fail(Binary::kVerify, InvalidArgument("name the run's folder: slackline verify DIR"));
  }
  const Result<Verification> verification = Verify(parsed->positional.front());
  if (!verification.ok()) {
    Fail(Binary::kVerify, verification.status());
    return kExitFailed;
  }
  std::fputs(verification->ToString().c_str(), stdout);
  std::puts(verification->ok() ? "verified: every promise was kept"
                               : "NOT verified: promises were broken");
  return verification->ok() ? kExitOk : kExitFailed;
}

}  // namespace slackline
