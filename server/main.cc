// slackline-server: holds a shard of the parameters.
#include <memory>

#include "core/process/role_process.h"
#include "server/server_node.h"

int main(int argc, char** argv) {
  using namespace slackline;
  return RunRole(
      Binary::kServer, argc, argv,
      [](NodeId self, const Options& options,
         const std::string& address) -> Result<std::unique_ptr<Node>> {
        return std::unique_ptr<Node>(std::make_unique<ServerNode>(self, options, address));
      });
}
