#include "tests/support/zmq_cluster.h"

#include <mutex>
#include <thread>

#include "core/base/check.h"
#include "core/policy/topology.h"
#include "core/runtime/zmq_runtime.h"
#include "scheduler/scheduler_node.h"
#include "server/server_node.h"
#include "slackline/random.h"
#include "worker/evaluator_node.h"
#include "worker/worker_node.h"

namespace slackline::testing {
namespace {

std::unique_ptr<Node> Make(const Options& options, std::shared_ptr<const Model> model,
                           std::shared_ptr<const Dataset> data, Role role, std::int64_t rank,
                           NodeId self, const std::string& address) {
  Options own = options;
  own.network.rank = rank;
  switch (role) {
    case Role::kScheduler:
      return std::make_unique<SchedulerNode>(self, own);
    case Role::kServer:
      return std::make_unique<ServerNode>(self, own, address);
    case Role::kWorker:
      return std::make_unique<WorkerNode>(self, own, model, data);
    case Role::kEvaluator:
      return std::make_unique<EvaluatorNode>(self, own, model, data);
    case Role::kObserver:
      break;
  }
  return nullptr;
}

}  // namespace

Result<std::unique_ptr<Node>> MakeZmqClusterNode(const Options& options,
                                                 std::shared_ptr<const Model> model,
                                                 std::shared_ptr<const Dataset> train,
                                                 const EventLogHeader& whose) {
  return Make(options, model, train, whose.role, whose.rank, whose.node, whose.address);
}

ZmqClusterResult RunZmqCluster(const Options& asked, std::shared_ptr<const Model> model,
                               std::shared_ptr<const Dataset> train, const std::string& run_dir) {
  Options options = asked;
  auto time_model = TimeModel::Create(options.time, options.cluster.seed);
  SLACKLINE_CHECK(time_model.ok());
  ZmqClusterResult result;
  std::mutex mutex;  // Guards `result` and `shards`.
  std::map<std::uint32_t, std::vector<float>> shards;
  std::vector<std::jthread> threads;

  const auto start = [&](Role role, std::uint32_t rank) {
    const NodeId self{RandomStream(options.cluster.seed, RandomPurpose::kIncarnation,
                                   static_cast<std::uint64_t>(role))
                          .Bits(1000 + rank)};
    auto log = std::make_shared<std::unique_ptr<EventLogWriter>>();
    ZmqRuntimeOptions runtime_options{
        .self = self,
        .run_id = options.cluster.run_id,
        .listen = role == Role::kScheduler || role == Role::kServer,
        .network = options.network,
        .links = options.links,
        .cluster = options.cluster,
        .time_model = *time_model,
        .on_report =
            [&](const Report& report) {
              if (const auto* summary = std::get_if<SummaryReport>(&report.what)) {
                const std::lock_guard lock(mutex);
                result.summary = *summary;
              }
            },
        .on_note = {}};
    // The log's header carries the address, which is known only after binding: a forwarding
    // observer.
    struct Forward : InputObserver {
      std::unique_ptr<EventLogWriter> log;
      void OnInput(Time now, const Input& input, const Outbox& out) override {
        if (log != nullptr) log->OnInput(now, input, out);
      }
      void OnEnd(Time now, std::uint64_t digest) override {
        if (log != nullptr) log->OnEnd(now, digest);
      }
    };
    auto observer = std::make_shared<Forward>();
    runtime_options.observer = observer.get();
    auto created = ZmqRuntime::Create(std::move(runtime_options));
    SLACKLINE_CHECK(created.ok());
    std::shared_ptr<ZmqRuntime> runtime = std::move(created).value();
    if (!run_dir.empty()) {
      auto writer = EventLogWriter::Create(run_dir, {.role = role,
                                                     .rank = rank,
                                                     .node = self,
                                                     .seed = options.cluster.seed,
                                                     .address = runtime->address()});
      SLACKLINE_CHECK(writer.ok());
      observer->log = std::move(writer).value();
    }
    if (role == Role::kScheduler)
      options.network.scheduler = runtime->address().substr(std::string("tcp://").size());
    std::shared_ptr<Node> node = Make(options, model, train, role, rank, self, runtime->address());
    const std::uint32_t global_servers = options.cluster.servers;
    threads.emplace_back([&result, &mutex, &shards, role, rank, global_servers, runtime, node,
                          observer] {
      const Status status = runtime->Run(*node);
      const std::lock_guard lock(mutex);
      result.exits[{role, rank}] = status;
      const auto* server = dynamic_cast<const ServerNode*>(node.get());
      if (server == nullptr || server->shard() == nullptr || rank >= global_servers) return;
      std::vector<float>& values = shards[rank];
      for (const Shard::Segment& segment : server->shard()->Snapshot()) {
        values.insert(values.end(), segment.values.floats().begin(), segment.values.floats().end());
      }
    });
  };
  start(Role::kScheduler, 0);
  const std::uint32_t servers = Topology(options.cluster).servers();  // Of all tiers.
  for (std::uint32_t rank = 0; rank < servers; ++rank) start(Role::kServer, rank);
  for (std::uint32_t rank = 0; rank < options.cluster.workers; ++rank) start(Role::kWorker, rank);
  if (options.cluster.evaluate) start(Role::kEvaluator, 0);
  threads.clear();  // Joins.
  for (const auto& [rank, values] : shards)
    result.dense.insert(result.dense.end(), values.begin(), values.end());
  return result;
}

}  // namespace slackline::testing
