#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/check.h"
#include "core/base/strings.h"
#include "core/config/option_text.h"
#include "core/policy/topology.h"
#include "core/process/role_process.h"
#include "core/report/run_folder.h"
#include "core/report/summary.h"
#include "core/runtime/time_model.h"
#include "tools/commands.h"
#include "tools/launcher.h"
#include "tools/live_line.h"

namespace slackline {
namespace {

namespace fs = std::filesystem;

// One process to be: its place in the run and the program that fills it.
struct Place {
  Role role;
  std::uint32_t rank;
  Binary binary;
};

std::vector<Place> PlacesAfterScheduler(const ClusterOptions& cluster) {
  std::vector<Place> places;
  for (std::uint32_t rank = 0; rank < Topology(cluster).servers(); ++rank)
    places.push_back({Role::kServer, rank, Binary::kServer});
  for (std::uint32_t rank = 0; rank < cluster.workers; ++rank)
    places.push_back({Role::kWorker, rank, Binary::kWorker});
  if (cluster.evaluate) places.push_back({Role::kEvaluator, 0, Binary::kWorker});
  return places;
}

// The programs of the roles lie beside this one.
Result<std::string> ProgramPath(Binary binary) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return Internal(StrCat("/proc/self/exe cannot be read: ", error.message()));
  return (self.parent_path() / BinaryName(binary)).string();
}

Result<ChildSpec> ChildFor(const Place& place, Options options, const std::string& scheduler) {
  options.network.scheduler = scheduler;
  if (place.role != Role::kScheduler) options.network.rank = place.rank;
  if (place.role == Role::kEvaluator) options.process.task = "evaluate";
  SLACKLINE_ASSIGN_OR_RETURN(const std::string program, ProgramPath(place.binary));
  ChildSpec child{StrCat(RoleName(place.role), " ", place.rank), {program}};
  for (std::string& flag : CommandLine(options, place.binary))
    child.command.push_back(std::move(flag));
  return child;
}

// Shows and keeps what the children say.
class Console {
 public:
  explicit Console(const std::string& run_dir) : live_(stdout), logs_(run_dir) {}

  void OnLine(const Place& place, const ChildSpec& child, const std::string& line) {
    logs_.Write(place.role, place.rank, line);
    const std::string_view progress = kProgressPrefix;
    if (place.role == Role::kScheduler && line.starts_with(progress)) {
      live_.Show(line.substr(progress.size()));
    } else if (!line.starts_with(kListeningPrefix)) {
      live_.Print(StrCat(child.name, " | ", line));
    }
  }
  const Status& log_status() const { return logs_.status(); }

 private:
  LiveLine live_;
  LogFolder logs_;
};

// Runs every role to its end.
Status RunAll(const Options& options) {
  Console console(options.output.run_dir);
  std::vector<Place> places = {{Role::kScheduler, 0, Binary::kScheduler}};
  for (const Place& place : PlacesAfterScheduler(options.cluster)) places.push_back(place);
  Launcher launcher(
      {.on_line = [&](std::size_t index, const ChildSpec& child, const std::string& line) {
        console.OnLine(places[index], child, line);
      }});
  SLACKLINE_ASSIGN_OR_RETURN(ChildSpec scheduler, ChildFor(places[0], options, "127.0.0.1:0"));
  SLACKLINE_RETURN_IF_ERROR(launcher.Start(std::move(scheduler)));
  SLACKLINE_ASSIGN_OR_RETURN(
      const std::string address,
      launcher.WaitForLine(StrCat(kListeningPrefix, "tcp://"), options.network.join_timeout));
  for (std::size_t i = 1; i < places.size(); ++i) {
    SLACKLINE_ASSIGN_OR_RETURN(ChildSpec child, ChildFor(places[i], options, address));
    SLACKLINE_RETURN_IF_ERROR(launcher.Start(std::move(child)));
  }
  SLACKLINE_RETURN_IF_ERROR(launcher.WaitForAll());
  return console.log_status();
}

// The closing block, if the run came as far as a summary.
Status PrintClosing(const std::string& run_dir) {
  const Result<std::string> summary = ReadFile(StrCat(run_dir, "/", kSummaryFile));
  if (!summary.ok()) return summary.status();
  SLACKLINE_ASSIGN_OR_RETURN(const std::string block, ClosingBlock(*summary, run_dir));
  std::fputs(StrCat("\n", block).c_str(), stdout);
  return Status::Ok();
}

}  // namespace

int CommandRun(const Arguments& arguments) {
  int exit_code = kExitOk;
  std::optional<Parsed> parsed = ParseOrExplain(Binary::kRun, arguments, exit_code);
  if (!parsed.has_value()) return exit_code;
  // Said before anything is started or written.
  const Result<TimeModel> time_model =
      TimeModel::Create(parsed->options.time, parsed->options.cluster.seed);
  if (!time_model.ok()) return Fail(Binary::kRun, time_model.status());
  const Result<RunFolder> folder = MakeRunFolder(*parsed);
  if (!folder.ok()) return Fail(Binary::kRun, folder.status());
  if (!folder->moved_to.empty())
    std::printf("the run that was in %s is now in %s\n", folder->path.c_str(),
                folder->moved_to.c_str());

  const Status ran = RunAll(parsed->options);
  const Status closed = PrintClosing(folder->path);
  if (!ran.ok()) {
    Fail(Binary::kRun, ran);
    return kExitFailed;
  }
  return closed.ok() ? kExitOk : Fail(Binary::kRun, closed);
}

}  // namespace slackline
