// Launcher: runs the processes of one run on this machine, shows what they say, and leaves none
// behind.
//
// Every line of a child's output goes to the sink as it comes. Ctrl-C or SIGTERM is passed on to
// all children once; a second one kills them. A child that fails ends all: the others get a moment
// to end by themselves, then SIGTERM, then SIGKILL. Children die with the launcher, however it
// dies.
//
// Children run in process groups of their own, so that a terminal's ctrl-C reaches them once, from
// here. Linux only (pidfd, signalfd, PR_SET_PDEATHSIG). Threads: one, with no others beside it.
#ifndef SLACKLINE_TOOLS_LAUNCHER_H_
#define SLACKLINE_TOOLS_LAUNCHER_H_

#include <sys/types.h>

#include <csignal>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/time.h"
#include "slackline/status.h"

namespace slackline {

struct ChildSpec {
  std::string name;                  // "worker 3"
  std::vector<std::string> command;  // Path of the program and its arguments.
};

struct LauncherSettings {
  // Called with every whole line, without its end, of the child that was the index-th to be
  // started. May be empty.
  std::function<void(std::size_t index, const ChildSpec& child, const std::string& line)> on_line;
  Duration settle = 1s;     // Between a child's failure and SIGTERM to the others.
  Duration farewell = 15s;  // Between the first child's good end, or SIGTERM, and the last's.
};

class Launcher {
 public:
  explicit Launcher(LauncherSettings settings);
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  ~Launcher();  // Kills and collects whoever still runs.

  // Errors: kNotFound for a program that is not there; kUnavailable where the system starts no
  // more.
  Status Start(ChildSpec child);

  // Runs until a child says a line that begins with `beginning`; returns the rest of that line.
  // Errors: as WaitForAll where a child ends before; kDeadlineExceeded.
  Result<std::string> WaitForLine(const std::string& beginning, Duration timeout);

  // Runs until every child has ended. Ok if all ended with exit code 0. Errors: kUnavailable,
  // naming the first that failed, how, and its last lines; or that the run was interrupted. With
  // `leader` set, the farewell starts when that child (by index of Start) has ended; other children
  // may end early and well.
  Status WaitForAll(std::size_t leader = 0);

 private:
  struct Child {
    std::size_t index = 0;
    ChildSpec spec;
    pid_t pid = -1;
    int pidfd = -1;
    int output = -1;  // Read end; -1 at its end.
    std::string partial;
    std::deque<std::string> last_lines;
    std::optional<int> wait_status;

    bool running() const { return !wait_status.has_value(); }
    bool done() const { return !running() && output < 0; }
  };

  // Handles what comes within `timeout`.
  void Poll(Duration timeout);
  void ReadOutput(Child& child);
  void TakeLine(Child& child, std::string line);
  void Collect(Child& child);
  void TakeSignal();
  void SignalAll(int signal);
  void EnforceDeadlines();
  bool AllDone() const;
  Status Outcome() const;

  const LauncherSettings settings_;
  const SteadyClock clock_;
  sigset_t signals_before_{};
  int signals_ = -1;  // A signalfd.
  std::vector<std::unique_ptr<Child>> children_;
  const Child* first_failure_ = nullptr;
  std::string wanted_line_;
  std::optional<std::string> found_line_;
  std::size_t leader_ = 0;
  int interrupts_ = 0;
  std::optional<Time> terminate_at_;
  std::optional<Time> kill_at_;
  std::string late_;  // Who had to be killed.
};

// "exit code 1", "signal 9 (Killed)".
std::string DescribeWaitStatus(int wait_status);

}  // namespace slackline

#endif  // SLACKLINE_TOOLS_LAUNCHER_H_
