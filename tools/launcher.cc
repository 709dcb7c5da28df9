#include "tools/launcher.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/base/check.h"
#include "core/base/strings.h"

namespace slackline {
namespace {

constexpr std::size_t kLineBytesMax = 64u << 10;  // A longer line is cut into several.
constexpr std::size_t kLastLines = 5;             // Kept of each child, to say why it failed.

std::string SystemReason() { return std::strerror(errno); }

// In the child, between fork and exec: only what is safe there. Never returns.
[[noreturn]] void BecomeChild(char* const* argv, int output, int error_report, pid_t parent,
                              const sigset_t& signals) {
  const auto fail = [&] {
    const int error = errno;
    [[maybe_unused]] const ssize_t written = write(error_report, &error, sizeof error);
    _exit(127);
  };
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail();
  if (getppid() != parent) _exit(127);  // It died before that took effect.
  setpgid(0, 0);
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
      dup2(output, STDERR_FILENO) < 0 || sigprocmask(SIG_SETMASK, &signals, nullptr) != 0) {
    fail();
  }
  execv(argv[0], argv);
  fail();
  _exit(127);
}

struct Pipe {
  int read_end = -1;
  int write_end = -1;

  ~Pipe() {
    if (read_end >= 0) close(read_end);
    if (write_end >= 0) close(write_end);
  }
  bool Open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return true;
  }
  void CloseWriteEnd() {
    close(write_end);
    write_end = -1;
  }
};

}  // namespace

std::string DescribeWaitStatus(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    return StrCat("signal ", signal, " (", strsignal(signal), ")");
  }
  return StrCat("exit code ", WEXITSTATUS(wait_status));
}

Launcher::Launcher(LauncherSettings settings) : settings_(std::move(settings)) {
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGINT);
  sigaddset(&watched, SIGTERM);
  SLACKLINE_CHECK(sigprocmask(SIG_BLOCK, &watched, &signals_before_) == 0);
  signals_ = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
  SLACKLINE_CHECK(signals_ >= 0);
}

Launcher::~Launcher() {
  SignalAll(SIGKILL);
  for (const auto& child : children_) {
    if (child->running()) waitpid(child->pid, nullptr, 0);
    if (child->pidfd >= 0) close(child->pidfd);
    if (child->output >= 0) close(child->output);
  }
  close(signals_);
  sigprocmask(SIG_SETMASK, &signals_before_, nullptr);
}

Status Launcher::Start(ChildSpec spec) {
  auto child = std::make_unique<Child>();
  child->index = children_.size();
  child->spec = std::move(spec);
  const std::vector<std::string>& command = child->spec.command;
  const auto cannot = [&](const std::string& why) {
    return StrCat(child->spec.name, " cannot be started (", command[0], "): ", why);
  };
  Pipe output, error_report;
  if (!output.Open() || !error_report.Open()) return Unavailable(cannot(SystemReason()));
  std::vector<char*> argv;
  for (const std::string& part : command) argv.push_back(const_cast<char*>(part.c_str()));
  argv.push_back(nullptr);
  const pid_t parent = getpid();

  const pid_t pid = fork();
  if (pid < 0) return Unavailable(cannot(SystemReason()));
  if (pid == 0)
    BecomeChild(argv.data(), output.write_end, error_report.write_end, parent, signals_before_);

  // The pipe closes unread when exec succeeds.
  output.CloseWriteEnd();
  error_report.CloseWriteEnd();
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(error_report.read_end, &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof error) {
    waitpid(pid, nullptr, 0);
    const std::string why = cannot(std::strerror(error));
    return error == ENOENT ? NotFound(why) : Unavailable(why);
  }
  child->pid = pid;
  // By number: the C library's declaration of pidfd_open is not usable from C++ everywhere.
  child->pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  SLACKLINE_CHECK(child->pidfd >= 0);
  child->output = std::exchange(output.read_end, -1);
  SLACKLINE_CHECK(fcntl(child->output, F_SETFL, O_NONBLOCK) == 0);
  children_.push_back(std::move(child));
  return Status::Ok();
}

Result<std::string> Launcher::WaitForLine(const std::string& beginning, Duration timeout) {
  wanted_line_ = beginning;
  found_line_.reset();
  const Time deadline = clock_.Now() + timeout;
  while (!found_line_.has_value()) {
    const Duration left = deadline - clock_.Now();
    if (first_failure_ != nullptr || interrupts_ > 0 || AllDone()) {
      if (const Status outcome = WaitForAll(leader_); !outcome.ok()) return outcome;
      return Unavailable(StrCat("no process said '", beginning, "'"));
    }
    if (left <= Duration{}) {
      return DeadlineExceeded(
          StrCat("no process said '", beginning, "' within ", Seconds(timeout), " s"));
    }
    Poll(left);
  }
  wanted_line_.clear();
  return *found_line_;
}

Status Launcher::WaitForAll(std::size_t leader) {
  leader_ = leader;
  while (!AllDone()) {
    EnforceDeadlines();
    Time until = clock_.Now() + 1s;
    if (terminate_at_.has_value()) until = std::min(until, *terminate_at_);
    if (kill_at_.has_value()) until = std::min(until, *kill_at_);
    Poll(until - clock_.Now());
  }
  return Outcome();
}

void Launcher::EnforceDeadlines() {
  const Time now = clock_.Now();
  if (first_failure_ != nullptr && !terminate_at_.has_value())
    terminate_at_ = now + settings_.settle;
  const bool led_out = leader_ < children_.size() && !children_[leader_]->running();
  if ((led_out || interrupts_ > 0) && !kill_at_.has_value()) kill_at_ = now + settings_.farewell;
  if (terminate_at_.has_value() && now >= *terminate_at_) {
    SignalAll(SIGTERM);
    terminate_at_ = Time::max();  // Once.
    if (!kill_at_.has_value()) kill_at_ = now + settings_.farewell;
  }
  if (kill_at_.has_value() && now >= *kill_at_) {
    for (const auto& child : children_) {
      if (child->running()) late_ += StrCat(late_.empty() ? "" : ", ", child->spec.name);
    }
    SignalAll(SIGKILL);
    kill_at_ = Time::max();
  }
}

void Launcher::Poll(Duration timeout) {
  std::vector<pollfd> waiting = {{.fd = signals_, .events = POLLIN, .revents = 0}};
  for (const auto& child : children_) {  // Two each; poll passes over negative ones.
    waiting.push_back({.fd = child->output, .events = POLLIN, .revents = 0});
    waiting.push_back({.fd = child->running() ? child->pidfd : -1, .events = POLLIN, .revents = 0});
  }
  // Rounded up, so that a wait for less than a millisecond does not spin.
  const auto ms = std::clamp<std::int64_t>((timeout.count() + 999'999) / 1'000'000, 0, 60'000);
  if (poll(waiting.data(), waiting.size(), static_cast<int>(ms)) <= 0) return;
  if (waiting[0].revents != 0) TakeSignal();
  for (std::size_t i = 0; i < children_.size(); ++i) {
    if (waiting[1 + 2 * i].revents != 0) ReadOutput(*children_[i]);
    if (waiting[2 + 2 * i].revents != 0) Collect(*children_[i]);
  }
}

void Launcher::ReadOutput(Child& child) {
  std::array<char, 4096> bytes;
  for (;;) {
    const ssize_t got = read(child.output, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) break;
    child.partial.append(bytes.data(), static_cast<std::size_t>(got));
    for (std::size_t end;
         (end = std::min(child.partial.find('\n'), kLineBytesMax)) < child.partial.size();) {
      std::string line = child.partial.substr(0, end);
      child.partial.erase(0, end + (child.partial[end] == '\n' ? 1 : 0));
      TakeLine(child, std::move(line));
    }
  }
  if (!child.partial.empty()) TakeLine(child, std::move(child.partial));
  child.partial.clear();
  close(child.output);
  child.output = -1;
}

void Launcher::TakeLine(Child& child, std::string line) {
  if (!wanted_line_.empty() && !found_line_.has_value() && line.starts_with(wanted_line_)) {
    found_line_ = line.substr(wanted_line_.size());
  }
  if (settings_.on_line) settings_.on_line(child.index, child.spec, line);
  child.last_lines.push_back(std::move(line));
  if (child.last_lines.size() > kLastLines) child.last_lines.pop_front();
}

void Launcher::Collect(Child& child) {
  int status = 0;
  if (waitpid(child.pid, &status, WNOHANG) != child.pid) return;
  child.wait_status = status;
  // What it said last is in the pipe still. Descendants of its own may hold the pipe open: they are
  // not waited for.
  if (child.output >= 0) ReadOutput(child);
  if (child.output >= 0) {
    close(child.output);
    child.output = -1;
  }
  if (status != 0 && first_failure_ == nullptr) first_failure_ = &child;
}

void Launcher::TakeSignal() {
  signalfd_siginfo info;
  while (read(signals_, &info, sizeof info) == sizeof info) {
    ++interrupts_;
    SignalAll(interrupts_ == 1 ? static_cast<int>(info.ssi_signo) : SIGKILL);
    // Interrupted children end with a failure. All have been told: SIGTERM would be a second
    // interrupt to those that still write their records.
    terminate_at_ = Time::max();
  }
}

void Launcher::SignalAll(int signal) {
  for (const auto& child : children_) {
    if (child->running()) kill(child->pid, signal);
  }
}

bool Launcher::AllDone() const {
  return std::all_of(children_.begin(), children_.end(),
                     [](const auto& child) { return child->done(); });
}

Status Launcher::Outcome() const {
  if (interrupts_ > 0) return Unavailable("interrupted");
  if (first_failure_ != nullptr) {
    std::string text = StrCat(first_failure_->spec.name,
                              " failed: ", DescribeWaitStatus(*first_failure_->wait_status));
    if (!late_.empty()) text += StrCat(" (killed: ", late_, ")");
    if (!first_failure_->last_lines.empty()) text += "; its last lines:";
    for (const std::string& line : first_failure_->last_lines) text += StrCat("\n  ", line);
    return Unavailable(text);
  }
  return Status::Ok();
}

}  // namespace slackline
