// slackline-scheduler: who takes part in a run, and how it ends.
#include <memory>

#include "core/process/role_process.h"
#include "scheduler/scheduler_node.h"

int main(int argc, char** argv) {
  using namespace slackline;
  return RunRole(
      Binary::kScheduler, argc, argv,
      [](NodeId self, const Options& options, const std::string&) -> Result<std::unique_ptr<Node>> {
        return std::unique_ptr<Node>(std::make_unique<SchedulerNode>(self, options));
      });
}
