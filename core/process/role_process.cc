#include "core/process/role_process.h"

#include <cstdio>
#include <utility>

#include "core/base/check.h"
#include "core/base/entropy.h"
#include "core/base/memory.h"
#include "core/base/signals.h"
#include "core/base/strings.h"
#include "core/config/option_text.h"
#include "core/config/parse_options.h"
#include "core/report/run_folder.h"
#include "core/report/run_report.h"
#include "core/runtime/event_log.h"
#include "core/runtime/network_address.h"
#include "core/runtime/zmq_runtime.h"

namespace slackline {
namespace {

using Level = Outbox::Note::Level;

// Line by line: whoever reads a pipe sees each at once.
void Print(std::FILE* out, const std::string& line) {
  std::fprintf(out, "%s\n", line.c_str());
  std::fflush(out);
}

void PrintNote(const std::string& log_level, const Outbox::Note& note) {
  const Level least = log_level == "error"     ? Level::kError
                      : log_level == "warning" ? Level::kWarning
                                               : Level::kInfo;
  if (note.level < least) return;
  if (note.level == Level::kInfo) return Print(stdout, note.text);
  Print(stderr, StrCat(note.level == Level::kWarning ? "warning: " : "error: ", note.text));
}

Role RoleOf(Binary binary, const Options& options) {
  if (binary == Binary::kScheduler) return Role::kScheduler;
  if (binary == Binary::kServer) return Role::kServer;
  return options.process.task == "evaluate" ? Role::kEvaluator : Role::kWorker;
}

// The scheduler listens where others look for it, unless told otherwise.
Result<NetworkOptions> ListeningOptions(Role role, NetworkOptions network) {
  if (role != Role::kScheduler) return network;
  const NetworkOptions defaults;
  // Port 0, any that is free, is no address for others, but it is one to listen on.
  const bool any_port = network.scheduler.ends_with(":0");
  if (any_port) network.scheduler.back() = '1';
  SLACKLINE_ASSIGN_OR_RETURN(const HostPort place, ParseHostPort(network.scheduler));
  if (network.bind == defaults.bind) network.bind = place.host;
  if (network.ports == defaults.ports) network.ports = any_port ? "0" : StrCat(place.port);
  return network;
}

Result<std::unique_ptr<EventLogWriter>> OpenEventLog(const Options& options,
                                                     EventLogHeader header) {
  if (!options.output.events || options.output.run_dir.empty())
    return std::unique_ptr<EventLogWriter>();
  return EventLogWriter::CreateForNextLife(options.output.run_dir, std::move(header));
}

Result<std::unique_ptr<RunReport>> OpenReport(Role role, const Parsed& parsed) {
  if (role != Role::kScheduler) return std::unique_ptr<RunReport>();
  SLACKLINE_RETURN_IF_ERROR(JoinRunFolder(parsed));
  const std::string log_level = parsed.options.output.log_level;
  return RunReport::Create(
      {.options = parsed.options,
       .on_progress = [](const std::string& line) { Print(stdout, kProgressPrefix + line); },
       .on_news =
           [log_level](const std::string& line) {
             PrintNote(log_level, {Level::kInfo, line});
           }});
}

// The observer must exist before the runtime, and the log's header needs the runtime's address.
class LateObserver : public InputObserver {
 public:
  void Set(std::unique_ptr<EventLogWriter> log) { log_ = std::move(log); }
  void OnInput(Time now, const Input& input, const Outbox& out) override {
    if (log_ != nullptr) log_->OnInput(now, input, out);
  }
  void OnEnd(Time now, std::uint64_t digest) override {
    if (log_ != nullptr) log_->OnEnd(now, digest);
  }
  Status Close() { return log_ == nullptr ? Status::Ok() : log_->Close(); }

 private:
  std::unique_ptr<EventLogWriter> log_;
};

Status RunNode(Role role, const Parsed& parsed, const MakeRoleNode& make_node) {
  const Options& options = parsed.options;
  SLACKLINE_ASSIGN_OR_RETURN(const NodeId self, RandomNodeId());
  SLACKLINE_ASSIGN_OR_RETURN(TimeModel time_model,
                             TimeModel::Create(options.time, options.cluster.seed));
  SLACKLINE_ASSIGN_OR_RETURN(const NetworkOptions network, ListeningOptions(role, options.network));
  SLACKLINE_ASSIGN_OR_RETURN(const std::unique_ptr<RunReport> report, OpenReport(role, parsed));
  LateObserver observer;
  SLACKLINE_ASSIGN_OR_RETURN(
      const std::unique_ptr<ZmqRuntime> runtime,
      ZmqRuntime::Create(
          {.self = self,
           .run_id = options.cluster.run_id,
           .listen = role == Role::kScheduler || role == Role::kServer,
           .network = network,
           .links = options.links,
           .cluster = options.cluster,
           .time_model = std::move(time_model),
           .observer = &observer,
           .on_report =
               [&](const Report& what) {
                 if (report != nullptr) report->OnReport(what);
               },
           .on_note =
               [&](const Outbox::Note& note) { PrintNote(options.output.log_level, note); }}));
  const SignalWatch signals([&] { runtime->Interrupt(); });
  if (!runtime->address().empty()) Print(stdout, kListeningPrefix + runtime->address());
  SLACKLINE_ASSIGN_OR_RETURN(
      std::unique_ptr<EventLogWriter> log,
      OpenEventLog(options, {.role = role,
                             .rank = role == Role::kScheduler ? 0 : options.network.rank,
                             .node = self,
                             .seed = options.cluster.seed,
                             .address = runtime->address()}));
  observer.Set(std::move(log));
  SLACKLINE_ASSIGN_OR_RETURN(const std::unique_ptr<Node> node,
                             make_node(self, options, runtime->address()));
  const Status ended = runtime->Run(*node);
  const Status logged = observer.Close();
  const Status reported = report == nullptr ? Status::Ok() : report->Finish();
  if (!ended.ok()) return ended;
  return logged.ok() ? reported : logged;
}

}  // namespace

Result<NodeId> RandomNodeId() {
  SLACKLINE_ASSIGN_OR_RETURN(const std::uint64_t bits, RandomBits());
  return NodeId{bits |
                (std::uint64_t{1} << 63)};  // The smallest numbers have meanings of their own.
}

int RunRole(Binary binary, int argc, const char* const* argv, const MakeRoleNode& make_node) {
  KeepFreedMemory();
  const Result<Parsed> parsed = ParseOptions(binary, argc, argv);
  if (!parsed.ok()) {
    Print(stderr, StrCat(BinaryName(binary), ": ", parsed.status().message()));
    return kExitBadOptions;
  }
  if (parsed->help) {
    std::fputs(HelpText(binary).c_str(), stdout);
    return kExitOk;
  }
  const Status status = RunNode(RoleOf(binary, parsed->options), *parsed, make_node);
  if (status.ok()) return kExitOk;
  Print(stderr, StrCat(BinaryName(binary), ": ", status.message()));
  return status.code() == StatusCode::kInvalidArgument ? kExitBadOptions : kExitFailed;
}

}  // namespace slackline
