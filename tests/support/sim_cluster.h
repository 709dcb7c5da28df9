// A whole cluster in virtual time, for tests: scheduler, servers, workers and, if asked for, the
// evaluator, all real Nodes on one SimRuntime.
#ifndef SLACKLINE_TESTS_SUPPORT_SIM_CLUSTER_H_
#define SLACKLINE_TESTS_SUPPORT_SIM_CLUSTER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/config/options.h"
#include "core/runtime/event_log.h"
#include "core/runtime/report.h"
#include "core/runtime/sim_runtime.h"
#include "core/runtime/trace.h"
#include "server/server_node.h"
#include "worker/data/dataset.h"
#include "worker/models/model.h"

namespace slackline::testing {

class SimCluster {
 public:
  SimCluster(Options options, std::shared_ptr<const Model> model,
             std::shared_ptr<const Dataset> train, std::shared_ptr<const Dataset> test = nullptr);

  // Before Run(): writes every life's event log below `run_dir`.
  void WriteEventLogs(std::string run_dir) { run_dir_ = std::move(run_dir); }

  // Before Run(): whether traces() is filled, as it is by default.
  void KeepTraces(bool keep) { keep_traces_ = keep; }
  // Before Run(): makes servers otherwise.
  using MakeServer = std::function<std::unique_ptr<Node>(NodeId self, const Options& own)>;
  void MakeServersWith(MakeServer make) { make_server_ = std::move(make); }

  // Runs to the end. Ok only if every process ended well.
  Status Run();

  // A Node as this cluster makes them, for replaying its logs.
  Result<std::unique_ptr<Node>> MakeNode(const EventLogHeader& whose) const;

  SimRuntime& runtime() { return *runtime_; }
  const ServerNode* server(std::uint32_t rank);
  // All servers' dense parameters in flat order.
  std::vector<float> DenseParameters();
  // A fingerprint of the parameters alone.
  std::uint64_t ParametersDigest();
  const std::optional<SummaryReport>& summary() const { return summary_; }
  const std::vector<std::string>& notes() const { return notes_; }

  // Messages delivered, by type, and the bytes of their headers and bodies.
  struct Delivered {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
  };
  const std::map<MessageType, Delivered>& delivered() const { return delivered_; }

  struct Traced {
    Role role;
    std::uint32_t rank;
    Time at;
    TraceEvent event;
  };
  // In the order of virtual time.
  const std::vector<Traced>& traces() const { return traces_; }

 private:
  std::unique_ptr<Node> Make(Role role, std::uint32_t rank, NodeId self) const;

  Options options_;
  std::shared_ptr<const Model> model_;
  std::shared_ptr<const Dataset> train_;
  std::shared_ptr<const Dataset> test_;
  std::string run_dir_;
  bool keep_traces_ = true;
  MakeServer make_server_;
  std::unique_ptr<SimRuntime> runtime_;
  std::optional<SummaryReport> summary_;
  std::vector<std::string> notes_;
  std::vector<Traced> traces_;
  std::map<MessageType, Delivered> delivered_;
};

// Options for a small, quick cluster: no evaluator, sgd with lr 1, gate asp, 4 workers, 2 servers.
Options SmallCluster();

// f(x) = curvature / 2 sum x_i^2 over `elements` parameters, whatever the data; starts at uniform
// values of at most 1.
std::shared_ptr<const Model> MakeQuadratic(std::uint64_t elements, float curvature);

// Gradients of small integers that depend on the examples alone, so that sums of pushes are exact
// in fp32 and any lost or repeated push shows. With sgd at lr 1 the parameters become -IntegerSum.
std::shared_ptr<const Model> MakeIntegers(std::uint64_t elements);
// The sum of all gradients that `workers` push in `rounds` rounds each.
std::vector<float> IntegerSum(const Options& options, const Model& model, const Dataset& data,
                              std::uint64_t rounds);
// `count` examples without content.
std::shared_ptr<const Dataset> MakeNumbered(std::uint64_t count);

}  // namespace slackline::testing

#endif  // SLACKLINE_TESTS_SUPPORT_SIM_CLUSTER_H_
