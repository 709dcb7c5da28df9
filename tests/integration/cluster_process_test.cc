// Whole clusters as real processes: signals, deaths and roles started by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/strings.h"
#include "tests/support/status_matchers.h"
#include "tools/launcher.h"

namespace slackline {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using Command = std::vector<std::string>;

std::string Program(const std::string& name) { return StrCat(SLACKLINE_BIN_DIR, "/", name); }

std::string FreshFolder() {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / StrCat("ClusterProcess.", info->name());
  std::filesystem::remove_all(folder);
  return folder.string();
}

// How a program ended, and what it said.
struct Ended {
  Status status;
  std::vector<std::string> lines;
};

Ended RunToEnd(const Command& command) {
  Ended ended;
  Launcher launcher({.on_line = [&](std::size_t, const ChildSpec&, const std::string& line) {
    ended.lines.push_back(line);
  }});
  ended.status = launcher.Start({"program", command});
  if (ended.status.ok()) ended.status = launcher.WaitForAll();
  return ended;
}

// A run that would go on for hours. Once it trains, `act` is called with the pid of slackline.
Ended RunUntilTraining(const std::string& run_dir, const std::function<void(pid_t)>& act) {
  Ended ended;
  pid_t pid = 0;
  Launcher launcher({.on_line = [&](std::size_t, const ChildSpec&, const std::string& line) {
    ended.lines.push_back(line);
    if (pid == 0) pid = static_cast<pid_t>(std::stol(line));
    if (line == "scheduler 0 | the run is running") act(pid);
  }});
  const Command command = {"/bin/sh",
                           "-c",
                           "echo $$; exec \"$0\" \"$@\"",
                           Program("slackline"),
                           "run",
                           "--model=softmax",
                           "--data=digits",
                           "--servers=2",
                           "--workers=2",
                           "--evaluate=false",
                           "--rounds=1000000",
                           "--compute-time=const:5",
                           "--run-dir=" + run_dir};
  ended.status = launcher.Start({"slackline", command});
  if (ended.status.ok()) ended.status = launcher.WaitForAll();
  return ended;
}

std::vector<pid_t> ChildrenOf(pid_t parent) {
  std::ifstream file(StrCat("/proc/", parent, "/task/", parent, "/children"));
  std::vector<pid_t> children;
  for (pid_t child; file >> child;) children.push_back(child);
  return children;
}

std::string CommandLineOf(pid_t pid) {
  std::stringstream text;
  text << std::ifstream(StrCat("/proc/", pid, "/cmdline")).rdbuf();
  return text.str();
}

TEST(ClusterProcess, AnInterruptReachesEveryRoleAndLeavesARecord) {
  const std::string folder = FreshFolder();

  const Ended run = RunUntilTraining(folder, [](pid_t pid) { kill(pid, SIGINT); });

  EXPECT_THAT(run.status, StatusIs(StatusCode::kUnavailable, "exit code 1"));
  EXPECT_THAT(run.lines, Contains("slackline run: interrupted"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/summary.json"));
  const Ended verify = RunToEnd({Program("slackline"), "verify", folder});
  EXPECT_THAT(verify.status, IsOk());
  EXPECT_THAT(verify.lines, Contains(HasSubstr("(0 of killed processes)")));
}

TEST(ClusterProcess, AKilledWorkerEndsTheRunAndIsNamed) {
  const Ended run = RunUntilTraining(FreshFolder(), [](pid_t pid) {
    for (const pid_t child : ChildrenOf(pid)) {
      const std::string command = CommandLineOf(child);
      if (command.find("slackline-worker") != command.npos &&
          command.find("--rank=1") != command.npos) {
        kill(child, SIGKILL);
      }
    }
  });

  EXPECT_THAT(run.status, StatusIs(StatusCode::kUnavailable, "exit code 1"));
  EXPECT_THAT(run.lines, Contains(HasSubstr("slackline run: worker 1 failed: signal 9 (Killed)")));
}

TEST(ClusterProcess, RolesDieWithTheirLauncher) {
  std::vector<pollfd> roles;
  const Ended run = RunUntilTraining(FreshFolder(), [&](pid_t pid) {
    for (const pid_t child : ChildrenOf(pid)) {
      const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
      roles.push_back({.fd = pidfd, .events = POLLIN, .revents = 0});
    }
    kill(pid, SIGKILL);
  });

  EXPECT_THAT(run.status, StatusIs(StatusCode::kUnavailable, "signal 9"));
  EXPECT_THAT(roles, SizeIs(5));
  for (pollfd& role : roles) {
    EXPECT_EQ(poll(&role, 1, 10'000), 1) << "a role outlived its launcher";
    close(role.fd);
  }
}

TEST(ClusterProcess, RolesStartedByHandFindOneAnotherAndStatusNamesWhoIsMissing) {
  const Command agreed = {"--model=softmax", "--data=digits",    "--servers=1",
                          "--workers=1",     "--evaluate=false", "--rounds=20"};
  const auto role = [&](const std::string& program, const std::string& scheduler) {
    Command command = {Program(program), "--scheduler=" + scheduler};
    command.insert(command.end(), agreed.begin(), agreed.end());
    return command;
  };
  Launcher launcher({});
  ASSERT_THAT(launcher.Start({"scheduler 0", role("slackline-scheduler", "127.0.0.1:0")}), IsOk());
  const Result<std::string> address = launcher.WaitForLine("listening on tcp://", 30s);
  ASSERT_THAT(address, IsOk());

  const Ended status =
      RunToEnd({Program("slackline"), "status", "--scheduler=" + *address, "--patience=30s"});
  ASSERT_THAT(launcher.Start({"server 0", role("slackline-server", *address)}), IsOk());
  ASSERT_THAT(launcher.Start({"worker 0", role("slackline-worker", *address)}), IsOk());

  EXPECT_THAT(status.status, IsOk());
  EXPECT_THAT(status.lines, Contains("missing: server 0, worker 0"));
  EXPECT_THAT(launcher.WaitForAll(), IsOk());
}

}  // namespace
}  // namespace slackline
