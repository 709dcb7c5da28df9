#include <cstdio>

#include "core/base/check.h"
#include "core/base/entropy.h"
#include "core/process/role_process.h"
#include "core/runtime/zmq_runtime.h"
#include "tools/commands.h"
#include "tools/observer_node.h"
#include "tools/status_table.h"

namespace slackline {
namespace {

Result<StatusReply> Ask(const Options& options) {
  SLACKLINE_ASSIGN_OR_RETURN(const NodeId self, RandomNodeId());
  SLACKLINE_ASSIGN_OR_RETURN(const std::unique_ptr<ZmqRuntime> runtime,
                             ZmqRuntime::Create({.self = self,
                                                 .run_id = options.cluster.run_id,
                                                 .network = options.network,
                                                 .time_model = {},
                                                 .on_report = {},
                                                 .on_note = {}}));
  ObserverNode observer(options.network);
  SLACKLINE_RETURN_IF_ERROR(runtime->Run(observer));
  return *observer.reply();
}

}  // namespace

int CommandStatus(const Arguments& arguments) {
  int exit_code = kExitOk;
  const std::optional<Parsed> parsed = ParseOrExplain(Binary::kStatus, arguments, exit_code);
  if (!parsed.has_value()) return exit_code;
  const Result<StatusReply> reply = Ask(parsed->options);
  if (!reply.ok()) return Fail(Binary::kStatus, reply.status());
  std::fputs((parsed->options.process.json ? StatusJson(*reply) : StatusTable(*reply)).c_str(),
             stdout);
  return kExitOk;
}

}  // namespace slackline
