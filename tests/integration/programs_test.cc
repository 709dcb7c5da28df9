// The programs as a user starts them: exit codes, and what they say.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/strings.h"

namespace slackline {
namespace {

struct Ended {
  int exit_code;
  std::string output;  // Both streams.
};

// Runs `slackline...` of this build with a limit of 60 s; 124 is what `timeout` exits with.
Ended RunProgram(const std::string& command) {
  const std::string line = StrCat("cd ", ::testing::TempDir(), " && timeout 60 ", SLACKLINE_BIN_DIR,
                                  "/", command, " 2>&1");
  std::FILE* pipe = popen(line.c_str(), "r");
  Ended ended{.exit_code = -1, .output = {}};
  if (pipe == nullptr) return ended;
  char buffer[4096];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe))
    ended.output.append(buffer, got);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
  return ended;
}

std::string Folder(const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / name;
  std::filesystem::remove_all(path);
  return path.string();
}

constexpr char kJob[] =
    " --model softmax --data digits --servers 2 --workers 4 --gate ssp --slack 2 --inject "
    "slow:worker3:5x "
    "--rounds 60 --seed 1 --run-dir ";

TEST(ProgramsTest, RunTrainsAndVerifies) {
  const std::string folder = Folder("programs-run");

  const Ended run = RunProgram("slackline run" + std::string(kJob) + folder);
  const Ended verify = RunProgram("slackline verify " + folder);

  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_TRUE(run.output.ends_with(folder + "\n")) << run.output;
  EXPECT_EQ(verify.exit_code, 0) << verify.output;
  EXPECT_TRUE(std::filesystem::exists(folder + "/summary.json"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/metrics.jsonl"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/config.ini"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/events/worker-3.bin"));
}

TEST(ProgramsTest, SimDoesTheSameJobTheSameWayTwice) {
  const auto digest = [](const std::string& output) {
    const std::size_t at = output.find("digest ");
    return at == std::string::npos ? std::string() : output.substr(at, 23);
  };
  const std::string first = Folder("programs-sim-1"), second = Folder("programs-sim-2");

  const Ended one = RunProgram("slackline sim" + std::string(kJob) + first);
  const Ended two = RunProgram("slackline sim" + std::string(kJob) + second);
  const Ended verify = RunProgram("slackline verify " + first);

  EXPECT_EQ(one.exit_code, 0) << one.output;
  EXPECT_FALSE(digest(one.output).empty()) << one.output;
  EXPECT_EQ(digest(one.output), digest(two.output));
  EXPECT_EQ(verify.exit_code, 0) << verify.output;
}

TEST(ProgramsTest, VerifyNoticesAnOpenGate) {
  const std::string folder = Folder("programs-open-gate");
  ASSERT_EQ(RunProgram("slackline sim --gate asp" +
                       std::string(" --model softmax --servers 1 --workers 3 --rounds 40 --inject "
                                   "slow:worker1:5x --run-dir ") +
                       folder)
                .exit_code,
            0);
  // Promise afterwards what was not kept.
  std::ifstream in(folder + "/config.ini");
  std::string config((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::size_t at = config.find("asp");
  ASSERT_NE(at, std::string::npos);
  config.replace(at, 3, "ssp");
  std::ofstream(folder + "/config.ini") << config;

  const Ended verify = RunProgram("slackline verify " + folder);

  EXPECT_EQ(verify.exit_code, 1) << verify.output;
  EXPECT_NE(verify.output.find("slack"), std::string::npos) << verify.output;
}

TEST(ProgramsTest, WrongWordsAreRefusedBeforeAnythingStarts) {
  const struct {
    const char* command;
    int exit_code;
    const char* says;
  } cases[] = {
      {"slackline run --slak 3", 2, "did you mean --slack?"},
      {"slackline run --slack many", 2, "many"},
      {"slackline run --gate bsq", 2, "bsp"},
      {"slackline run --workers 0", 2, "workers"},
      {"slackline run --gate asp --collector all", 2, "collector"},
      {"slackline run --config /nowhere/run.ini", 2, "/nowhere/run.ini"},
      {"slackline-worker --join-timeout 500ms --scheduler 127.0.0.1:9", 1, "127.0.0.1:9"},
      {"slackline-worker --data /nowhere --join-timeout 500ms", 1, "/nowhere"},
      {"slackline-worker --model logistic --data /dev/null --join-timeout 500ms", 1, "/dev/null"},
      {"slackline-scheduler --bind no-such-interface0 --join-timeout 500ms", 1,
       "no-such-interface0"},
      {"slackline-server --join-timeout 500ms --scheduler 127.0.0.1:9", 1, "127.0.0.1:9"},
      {"slackline status --patience 1s --scheduler 127.0.0.1:9", 1, "127.0.0.1:9"},
      {"slackline verify /nowhere", 1, "/nowhere"},
      {"slackline runn", 2, "runn"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.command);
    const Ended ended = RunProgram(c.command);
    EXPECT_EQ(ended.exit_code, c.exit_code) << ended.output;
    EXPECT_NE(ended.output.find(c.says), std::string::npos) << ended.output;
  }
}

TEST(ProgramsTest, APortInUseIsNamed) {
  const int held = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(held, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(held, 1), 0);
  socklen_t size = sizeof address;
  ASSERT_EQ(getsockname(held, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string port = std::to_string(ntohs(address.sin_port));

  const Ended ended =
      RunProgram("slackline-scheduler --join-timeout 500ms --scheduler 127.0.0.1:" + port);

  close(held);
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.output.find(port), std::string::npos) << ended.output;
  EXPECT_NE(ended.output.find("in use"), std::string::npos) << ended.output;
}

TEST(ProgramsTest, ASchedulerNobodyJoinsNamesWhoIsMissing) {
  const Ended ended = RunProgram(
      "slackline-scheduler --scheduler 127.0.0.1:0 --workers 2 --servers 1 --join-timeout 500ms "
      "--patience 400ms");

  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.output.find("missing server 0, worker 0, worker 1"), std::string::npos)
      << ended.output;
}

}  // namespace
}  // namespace slackline
