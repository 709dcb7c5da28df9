// slackline-worker: computes gradients, or with --task evaluate measures the model as it learns.
#include <memory>
#include <utility>

#include "core/base/check.h"
#include "core/process/role_process.h"
#include "worker/data/dataset.h"
#include "worker/evaluator_node.h"
#include "worker/models/model.h"
#include "worker/worker_node.h"

namespace slackline {
namespace {

Result<std::unique_ptr<Node>> MakeNode(NodeId self, const Options& options, const std::string&) {
  SLACKLINE_ASSIGN_OR_RETURN(const Split data, LoadData(options.model, options.cluster.seed));
  SLACKLINE_ASSIGN_OR_RETURN(std::shared_ptr<const Model> model,
                             MakeModel(options.model, *data.train));
  if (options.process.task == "evaluate") {
    return std::unique_ptr<Node>(
        std::make_unique<EvaluatorNode>(self, options, std::move(model), data.test));
  }
  return std::unique_ptr<Node>(
      std::make_unique<WorkerNode>(self, options, std::move(model), data.train));
}

}  // namespace
}  // namespace slackline

int main(int argc, char** argv) {
  return slackline::RunRole(slackline::Binary::kWorker, argc, argv, slackline::MakeNode);
}
