#include "core/report/run_folder.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "core/base/calendar.h"
#include "core/base/check.h"
#include "core/base/strings.h"
#include "core/config/option_text.h"

namespace slackline {
namespace {

namespace fs = std::filesystem;

std::string SystemReason() { return std::strerror(errno); }

Status MakeFolder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error && fs::is_directory(path, error)) return Status::Ok();
  return Unavailable(StrCat("--run-dir ", path, ": the folder cannot be made: ",
                            error ? error.message() : "a file of that name is in the way"));
}

// Renames `path` to the first of path.1, path.2, ... that is free.
Result<std::string> MoveAside(const std::string& path) {
  std::string base = path;
  while (base.size() > 1 && base.back() == '/') base.pop_back();
  std::error_code error;
  int number = 1;
  while (fs::exists(StrCat(base, ".", number), error)) ++number;
  std::string aside = StrCat(base, ".", number);
  fs::rename(base, aside, error);
  if (error) {
    return Unavailable(StrCat("--run-dir ", path, " holds a run already and cannot be moved to ",
                              aside, ": ", error.message(), "; name another folder"));
  }
  return aside;
}

}  // namespace

Result<RunFolder> MakeRunFolder(Parsed& parsed) {
  std::string& path = parsed.options.output.run_dir;
  std::error_code error;
  if (path.empty()) {
    path = StrCat("runs/", parsed.options.cluster.run_id, "-", CalendarStamp());
    const std::string base = path;
    for (int number = 2; fs::exists(path, error); ++number) path = StrCat(base, "-", number);
  }
  RunFolder folder{path, ""};
  if (fs::exists(fs::path(path) / kConfigFile, error)) {
    SLACKLINE_ASSIGN_OR_RETURN(folder.moved_to, MoveAside(path));
  }
  SLACKLINE_RETURN_IF_ERROR(MakeFolder(path));
  SLACKLINE_RETURN_IF_ERROR(WriteFile(StrCat(path, "/", kConfigFile), ConfigIni(parsed)));
  return folder;
}

Status JoinRunFolder(const Parsed& parsed) {
  const std::string& path = parsed.options.output.run_dir;
  if (path.empty()) return Status::Ok();
  SLACKLINE_RETURN_IF_ERROR(MakeFolder(path));
  const std::string config = StrCat(path, "/", kConfigFile);
  std::error_code error;
  if (fs::exists(config, error)) return Status::Ok();
  return WriteFile(config, ConfigIni(parsed));
}

Status WriteFile(const std::string& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << content;
  file.close();
  if (!file) return Unavailable(StrCat(path, " cannot be written: ", SystemReason()));
  return Status::Ok();
}

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return NotFound(StrCat(path, " cannot be opened: ", SystemReason()));
  std::ostringstream content;
  content << file.rdbuf();
  if (file.bad()) return Unavailable(StrCat(path, " cannot be read: ", SystemReason()));
  return content.str();
}

void LogFolder::Write(Role role, std::uint32_t rank, const std::string& line) {
  if (run_dir_.empty() || !status_.ok()) return;
  const std::string folder = run_dir_ + "/log";
  std::error_code error;
  fs::create_directories(folder, error);
  const std::string path = StrCat(folder, "/", RoleName(role), "-", rank, ".log");
  std::ofstream file(path, std::ios::app);
  file << line << "\n";
  file.close();
  if (!file) status_ = Unavailable(StrCat(path, " cannot be written: ", SystemReason()));
}

}  // namespace slackline
