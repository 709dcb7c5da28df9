#include "tools/launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/status_matchers.h"

namespace slackline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

ChildSpec Shell(const std::string& name, const std::string& script) {
  return {name, {"/bin/sh", "-c", script}};
}

TEST(Launcher, HandsOverEveryLineAndEndsWellWithAllExitCodesZero) {
  std::vector<std::string> lines;
  Launcher launcher({.on_line = [&](std::size_t, const ChildSpec& child, const std::string& line) {
    lines.push_back(child.name + " | " + line);
  }});

  ASSERT_THAT(launcher.Start(Shell("worker 3", "echo one; echo two >&2; printf three")), IsOk());

  EXPECT_THAT(launcher.WaitForAll(), IsOk());
  EXPECT_THAT(lines, ElementsAre("worker 3 | one", "worker 3 | two", "worker 3 | three"));
}

TEST(Launcher, NamesTheChildThatFailedItsExitCodeAndLastLines) {
  Launcher launcher({.on_line = {}, .settle = 10ms});
  ASSERT_THAT(launcher.Start(Shell("server 0", "exec sleep 600")), IsOk());
  ASSERT_THAT(launcher.Start(Shell("worker 1", "echo the reason; exit 3")), IsOk());

  const Status status = launcher.WaitForAll();

  EXPECT_THAT(status, StatusIs(StatusCode::kUnavailable, "worker 1 failed: exit code 3"));
  EXPECT_THAT(status.message(), HasSubstr("the reason"));
  EXPECT_THAT(status.message(), Not(HasSubstr("server 0")));  // It ended when told to.
}

TEST(Launcher, NamesTheSignalThatKilledAChild) {
  Launcher launcher({.on_line = {}, .settle = 10ms});
  ASSERT_THAT(launcher.Start(Shell("worker 0", "kill -9 $$")), IsOk());

  EXPECT_THAT(launcher.WaitForAll(),
              StatusIs(StatusCode::kUnavailable, "worker 0 failed: signal 9 (Killed)"));
}

TEST(Launcher, KillsWhoeverDoesNotLeave) {
  // The scheduler fails only when the worker ignores SIGTERM, which it says by a file.
  const std::string ready = ::testing::TempDir() + "/launcher-ignores-term";
  std::filesystem::remove(ready);
  Launcher launcher({.on_line = {}, .settle = 10ms, .farewell = 50ms});
  ASSERT_THAT(launcher.Start(Shell("worker 0", "trap '' TERM; : > " + ready +
                                                   "; while :; do sleep 0.01; done")),
              IsOk());
  ASSERT_THAT(launcher.Start(Shell("scheduler 0", "while [ ! -e " + ready +
                                                      " ]; do sleep 0.01; done; exit 1")),
              IsOk());

  EXPECT_THAT(launcher.WaitForAll(), StatusIs(StatusCode::kUnavailable, "(killed: worker 0)"));
}

TEST(Launcher, AProgramThatIsNotThereIsAnError) {
  Launcher launcher({});

  EXPECT_THAT(
      launcher.Start({"server 0", {"/nowhere/slackline-server"}}),
      StatusIs(StatusCode::kNotFound, "server 0 cannot be started (/nowhere/slackline-server)"));
}

TEST(Launcher, WaitsForALine) {
  Launcher launcher({});
  ASSERT_THAT(launcher.Start(Shell("scheduler 0",
                                   "echo hello; echo listening on tcp://127.0.0.1:4; sleep 0.01")),
              IsOk());

  const Result<std::string> rest = launcher.WaitForLine("listening on ", 10s);

  ASSERT_THAT(rest, IsOk());
  EXPECT_EQ(*rest, "tcp://127.0.0.1:4");
  EXPECT_THAT(launcher.WaitForAll(), IsOk());
}

TEST(Launcher, ALineThatNeverComesIsAnErrorThatSaysWhy) {
  Launcher launcher({});
  ASSERT_THAT(launcher.Start(Shell("scheduler 0", "echo the port is in use; exit 1")), IsOk());

  EXPECT_THAT(launcher.WaitForLine("listening on ", 10s),
              StatusIs(StatusCode::kUnavailable, "the port is in use"));

  Launcher silent({});
  ASSERT_THAT(silent.Start(Shell("scheduler 0", "exec sleep 600")), IsOk());
  EXPECT_THAT(silent.WaitForLine("listening on ", 20ms),
              StatusIs(StatusCode::kDeadlineExceeded, "'listening on '"));
}

TEST(Launcher, PassesASignalOnAndASecondOneKills) {
  for (const bool stubborn : {false, true}) {
    std::vector<std::string> lines;
    Launcher launcher({.on_line = [&](std::size_t, const ChildSpec&, const std::string& line) {
      lines.push_back(line);
      // Nobody would take a signal that came after the last child had left.
      if (line != "leaving") kill(getpid(), SIGTERM);
    }});
    const std::string trap =
        stubborn ? "trap 'echo again' TERM; " : "trap 'echo leaving; exit 0' TERM; ";
    ASSERT_THAT(
        launcher.Start(Shell("worker 0", trap + "echo ready; while :; do sleep 0.01; done")),
        IsOk());

    EXPECT_THAT(launcher.WaitForAll(), StatusIs(StatusCode::kUnavailable, "interrupted"));
    EXPECT_THAT(lines, ElementsAre("ready", stubborn ? "again" : "leaving"));
  }
}

TEST(Launcher, WhoLeavesSlowlyAfterASignalIsNotToldTwice) {
  std::vector<std::string> lines;
  Launcher launcher({.on_line =
                         [&](std::size_t, const ChildSpec&, const std::string& line) {
                           lines.push_back(line);
                           if (lines.size() == 2) kill(getpid(), SIGTERM);
                         },
                     .settle = 10ms});
  ASSERT_THAT(launcher.Start(Shell("worker 0",
                                   "trap 'exit 1' TERM; echo ready; "
                                   "while :; do sleep 0.01; done")),
              IsOk());
  ASSERT_THAT(launcher.Start(Shell("scheduler 0",
                                   "trap 'echo told; told=1' TERM; echo ready; "
                                   "while [ -z \"$told\" ]; do sleep 0.01; done; "
                                   "sleep 0.2")),
              IsOk());

  EXPECT_THAT(launcher.WaitForAll(), StatusIs(StatusCode::kUnavailable, "interrupted"));
  EXPECT_THAT(lines, ElementsAre("ready", "ready", "told"));
}

TEST(Launcher, LeavesNobodyBehind) {
  pid_t child_pid = 0;
  {
    Launcher launcher({.on_line = [&](std::size_t, const ChildSpec&, const std::string& line) {
      child_pid = static_cast<pid_t>(std::stol(line.substr(line.rfind(' ') + 1)));
    }});
    ASSERT_THAT(launcher.Start(Shell("worker 0", "echo pid $$; exec sleep 600")), IsOk());
    ASSERT_THAT(launcher.WaitForLine("pid ", 10s), IsOk());
  }

  EXPECT_EQ(kill(child_pid, 0), -1);
}

}  // namespace
}  // namespace slackline
