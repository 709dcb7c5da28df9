// A whole cluster over real sockets within one process: every role on a thread and a ZmqRuntime of
// its own, on loopback, at ports that the system chooses.
#ifndef SLACKLINE_TESTS_SUPPORT_ZMQ_CLUSTER_H_
#define SLACKLINE_TESTS_SUPPORT_ZMQ_CLUSTER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/config/options.h"
#include "core/runtime/event_log.h"
#include "core/runtime/report.h"
#include "slackline/status.h"
#include "worker/data/dataset.h"
#include "worker/models/model.h"

namespace slackline::testing {

struct ZmqClusterResult {
  // By role and rank.
  std::map<std::pair<Role, std::uint32_t>, Status> exits;
  std::vector<float> dense;  // The global servers' parameters in flat order.
  std::optional<SummaryReport> summary;
};

// Runs it to the end. Event logs go below `run_dir` unless that is "".
ZmqClusterResult RunZmqCluster(const Options& options, std::shared_ptr<const Model> model,
                               std::shared_ptr<const Dataset> train,
                               const std::string& run_dir = "");

// A Node as that cluster made it, for replaying its logs.
Result<std::unique_ptr<Node>> MakeZmqClusterNode(const Options& options,
                                                 std::shared_ptr<const Model> model,
                                                 std::shared_ptr<const Dataset> train,
                                                 const EventLogHeader& whose);

}  // namespace slackline::testing

#endif  // SLACKLINE_TESTS_SUPPORT_ZMQ_CLUSTER_H_
