#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "core/base/check.h"
#include "core/base/strings.h"
#include "core/policy/topology.h"
#include "core/process/role_process.h"
#include "core/report/run_folder.h"
#include "core/report/run_report.h"
#include "core/runtime/event_log.h"
#include "core/runtime/sim_runtime.h"
#include "scheduler/scheduler_node.h"
#include "server/server_node.h"
#include "tools/commands.h"
#include "tools/live_line.h"
#include "worker/data/dataset.h"
#include "worker/evaluator_node.h"
#include "worker/models/model.h"
#include "worker/worker_node.h"

namespace slackline {
namespace {

// All that one simulated run is made of.
class Simulation {
 public:
  Simulation(const Options& options, Split data, std::shared_ptr<const Model> model)
      : options_(options),
        data_(std::move(data)),
        model_(std::move(model)),
        live_(stdout),
        logs_(options.output.run_dir) {}

  // Ok if every process ended well. Also writes the run's records.
  Status Run() {
    SLACKLINE_ASSIGN_OR_RETURN(
        report_,
        RunReport::Create({.options = options_,
                           .virtual_time = true,
                           .on_progress = [this](const std::string& line) { live_.Show(line); },
                           .on_news = [this](const std::string& line) { News(line); }}));
    SLACKLINE_RETURN_IF_ERROR(Build());
    const Status ran = runtime_->Run();
    const LinkCounts network = runtime_->network().Total();
    report_->AddFaults("network_dropped", network.dropped);
    report_->AddFaults("network_duplicated", network.duplicated);
    report_->AddFaults("network_reordered", network.reordered);
    const Status exits = ExitStatuses();
    digest_ = runtime_->Digest();
    runtime_.reset();  // The last event logs are written.
    const Status reported = report_->Finish();
    for (const Status& status : {ran, exits, event_log_status_, reported, logs_.status()}) {
      if (!status.ok()) return status;
    }
    return Status::Ok();
  }
  std::string Summary() const { return report_ == nullptr ? "" : report_->Summary(); }
  // Of every input and final state; nothing if the run did not begin.
  std::optional<std::uint64_t> digest() const { return digest_; }

 private:
  // Writes one life's event log; keeps the first trouble for the run's end.
  class Recorder : public InputObserver {
   public:
    Recorder(std::unique_ptr<EventLogWriter> log, Status& first_trouble)
        : log_(std::move(log)), first_trouble_(first_trouble) {}
    ~Recorder() override {
      if (const Status status = log_->Close(); !status.ok() && first_trouble_.ok())
        first_trouble_ = status;
    }
    void OnInput(Time now, const Input& input, const Outbox& out) override {
      log_->OnInput(now, input, out);
    }
    void OnEnd(Time now, std::uint64_t digest) override { log_->OnEnd(now, digest); }

   private:
    std::unique_ptr<EventLogWriter> log_;
    Status& first_trouble_;
  };

  // Membership of thousands would drown the rest.
  void News(const std::string& line) {
    constexpr std::uint32_t kChattyWorkersMax = 64;
    if (options_.cluster.workers <= kChattyWorkersMax && options_.output.log_level == "info")
      live_.Print(line);
  }

  void OnNote(Role role, std::uint32_t rank, const Outbox::Note& note) {
    logs_.Write(role, rank, note.text);
    if (note.level != Outbox::Note::Level::kInfo)
      live_.Print(StrCat(RoleName(role), " ", rank, " | ", note.text));
  }

  std::unique_ptr<InputObserver> Observe(Role role, std::uint32_t rank, NodeId self,
                                         std::uint32_t life) {
    auto log = EventLogWriter::Create(options_.output.run_dir, {.role = role,
                                                                .rank = rank,
                                                                .node = self,
                                                                .seed = options_.cluster.seed,
                                                                .life = life,
                                                                .address = kAddress});
    if (log.ok()) return std::make_unique<Recorder>(std::move(log).value(), event_log_status_);
    if (event_log_status_.ok()) event_log_status_ = log.status();
    return nullptr;
  }

  Status Build() {
    SLACKLINE_ASSIGN_OR_RETURN(TimeModel time_model,
                               TimeModel::Create(options_.time, options_.cluster.seed));
    SLACKLINE_ASSIGN_OR_RETURN(
        runtime_, SimRuntime::Create(
                      {.seed = options_.cluster.seed,
                       .run_id = options_.cluster.run_id,
                       .sim = options_.sim,
                       .links = options_.links,
                       .cluster = options_.cluster,
                       .own_model_bytes = model_->spec().dense_elements() * sizeof(float),
                       .time_model = std::move(time_model),
                       .on_report = [this](Role, std::uint32_t,
                                           const Report& report) { report_->OnReport(report); },
                       .on_note = [this](Time, Role role, std::uint32_t rank,
                                         const Outbox::Note& note) { OnNote(role, rank, note); }}));
    if (options_.output.events) {
      runtime_->ObserveWith([this](Role role, std::uint32_t rank, NodeId self, std::uint32_t life) {
        return Observe(role, rank, self, life);
      });
    }
    ForEachPlace([this](Role role, std::uint32_t rank) {
      runtime_->AddNode(role, rank,
                        [this, role, rank](NodeId self) { return MakeNode(role, rank, self); });
    });
    return event_log_status_;
  }

  std::unique_ptr<Node> MakeNode(Role role, std::uint32_t rank, NodeId self) const {
    Options own = options_;
    own.network.rank = rank;
    switch (role) {
      case Role::kScheduler:
        return std::make_unique<SchedulerNode>(self, own);
      case Role::kServer:
        return std::make_unique<ServerNode>(self, own, kAddress);
      case Role::kWorker:
        return std::make_unique<WorkerNode>(self, own, model_, data_.train);
      case Role::kEvaluator:
        return std::make_unique<EvaluatorNode>(self, own, model_, data_.test);
      case Role::kObserver:
        break;
    }
    return nullptr;
  }

  template <typename Visit>
  void ForEachPlace(const Visit& visit) const {
    visit(Role::kScheduler, 0u);
    for (std::uint32_t rank = 0; rank < Topology(options_.cluster).servers(); ++rank)
      visit(Role::kServer, rank);
    for (std::uint32_t rank = 0; rank < options_.cluster.workers; ++rank)
      visit(Role::kWorker, rank);
    if (options_.cluster.evaluate) visit(Role::kEvaluator, 0u);
  }

  // The scheduler's first: it says why the run failed.
  Status ExitStatuses() const {
    Status first;
    ForEachPlace([&](Role role, std::uint32_t rank) {
      const Status status = runtime_->ExitStatus(role, rank);
      if (first.ok() && !status.ok())
        first = {status.code(), StrCat(RoleName(role), " ", rank, ": ", status.message())};
    });
    return first;
  }

  static constexpr const char* kAddress = "sim";  // Nobody looks it up in virtual time.

  const Options options_;
  const Split data_;
  const std::shared_ptr<const Model> model_;
  LiveLine live_;
  LogFolder logs_;
  std::unique_ptr<RunReport> report_;
  Status event_log_status_;
  std::optional<std::uint64_t> digest_;
  std::unique_ptr<SimRuntime> runtime_;  // Before all that its Nodes and observers use.
};

Status Simulate(Parsed& parsed) {
  // Whatever can be refused is refused before anything is written.
  SLACKLINE_ASSIGN_OR_RETURN(Split data,
                             LoadData(parsed.options.model, parsed.options.cluster.seed));
  SLACKLINE_ASSIGN_OR_RETURN(std::shared_ptr<const Model> model,
                             MakeModel(parsed.options.model, *data.train));
  SLACKLINE_ASSIGN_OR_RETURN(const RunFolder folder, MakeRunFolder(parsed));
  if (!folder.moved_to.empty()) {
    std::printf("the run that was in %s is now in %s\n", folder.path.c_str(),
                folder.moved_to.c_str());
  }
  std::string summary;
  std::optional<std::uint64_t> digest;
  Status ran;
  {
    Simulation simulation(parsed.options, std::move(data), std::move(model));
    ran = simulation.Run();
    summary = simulation.Summary();
    digest = simulation.digest();
  }
  // The same options, seed and build give the same digest.
  if (digest.has_value()) std::printf("digest %016" PRIx64 "\n", *digest);
  if (!summary.empty()) {
    SLACKLINE_ASSIGN_OR_RETURN(const std::string block, ClosingBlock(summary, folder.path));
    std::fputs(StrCat("\n", block).c_str(), stdout);
  }
  return ran;
}

}  // namespace

int CommandSim(const Arguments& arguments) {
  int exit_code = kExitOk;
  std::optional<Parsed> parsed = ParseOrExplain(Binary::kSim, arguments, exit_code);
  if (!parsed.has_value()) return exit_code;
  const Status status = Simulate(*parsed);
  return status.ok() ? kExitOk : Fail(Binary::kSim, status);
}

}  // namespace slackline
