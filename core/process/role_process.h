// RunRole: the main of scheduler, server and worker: options, runtime, records, signals, exit code.
// What differs between roles is the Node that they make.
#ifndef SLACKLINE_CORE_PROCESS_ROLE_PROCESS_H_
#define SLACKLINE_CORE_PROCESS_ROLE_PROCESS_H_

#include <functional>
#include <memory>
#include <string>

#include "core/config/option_table.h"
#include "core/config/options.h"
#include "core/runtime/node.h"
#include "slackline/status.h"

namespace slackline {

// Exit codes of every program.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitBadOptions = 2;

// A listening role says this and its address on the first line of its output, ...
inline constexpr const char* kListeningPrefix = "listening on ";
// ... and the scheduler begins each line of progress with this.
inline constexpr const char* kProgressPrefix = "progress ";

// `address`: where others reach the process; "" if it does not listen.
using MakeRoleNode = std::function<Result<std::unique_ptr<Node>>(
    NodeId self, const Options& options, const std::string& address)>;

// A name for a new life. Errors: kInternal where the system gives no random bits.
Result<NodeId> RandomNodeId();

// Runs the Node over sockets until it exits. Errors are printed to stderr. Returns the exit code.
int RunRole(Binary binary, int argc, const char* const* argv, const MakeRoleNode& make_node);

}  // namespace slackline

#endif  // SLACKLINE_CORE_PROCESS_ROLE_PROCESS_H_
