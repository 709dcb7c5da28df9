// The folder of a run: where it is, and what is written into it line by line.
//
//   config.ini    metrics.jsonl    summary.json    events/<role>-<rank>.bin log/<role>-<rank>.log
#ifndef SLACKLINE_CORE_REPORT_RUN_FOLDER_H_
#define SLACKLINE_CORE_REPORT_RUN_FOLDER_H_

#include <cstdint>
#include <string>

#include "core/config/parse_options.h"
#include "core/wire/types.h"
#include "slackline/status.h"

namespace slackline {

inline constexpr const char* kConfigFile = "config.ini";
inline constexpr const char* kMetricsFile = "metrics.jsonl";
inline constexpr const char* kSummaryFile = "summary.json";

struct RunFolder {
  std::string path;
  std::string moved_to;  // Where a run that was there before lies now; "" if there was none.
};

// Makes the folder that the options name, or runs/<run id>-<stamp>, sets options.output.run_dir and
// writes config.ini. A run that is there is moved aside, never mixed with or lost.
// Errors: kUnavailable, naming the path and the system's reason.
Result<RunFolder> MakeRunFolder(Parsed& parsed);

// The folder for a process that takes part in a run started elsewhere: made if it is missing,
// config.ini written if there is none. Nothing is done for an empty run_dir.
// Errors: as above.
Status JoinRunFolder(const Parsed& parsed);

// Errors: kUnavailable, naming the path and the system's reason.
Status WriteFile(const std::string& path, const std::string& content);
// Errors: kNotFound, kUnavailable.
Result<std::string> ReadFile(const std::string& path);

// Adds lines to log/<role>-<rank>.log. Holds no file open, so a run of any size can log.
class LogFolder {
 public:
  // "" writes nothing.
  explicit LogFolder(std::string run_dir) : run_dir_(std::move(run_dir)) {}
  // Trouble with the disk must not end the training: it is kept for status().
  void Write(Role role, std::uint32_t rank, const std::string& line);
  const Status& status() const { return status_; }

 private:
  std::string run_dir_;
  Status status_;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_REPORT_RUN_FOLDER_H_
