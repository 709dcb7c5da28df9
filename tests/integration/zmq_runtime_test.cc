#include "core/runtime/zmq_runtime.h"

#include <gtest/gtest.h>

#include "tests/support/function_node.h"
#include "tests/support/status_matchers.h"

namespace slackline {
namespace {

std::unique_ptr<ZmqRuntime> Runtime() {
  auto runtime = ZmqRuntime::Create(
      {.self = NodeId{1000}, .network = {}, .time_model = {}, .on_report = {}, .on_note = {}});
  EXPECT_THAT(runtime, IsOk());
  return std::move(runtime).value();
}

TEST(ZmqRuntimeTest, AChainOfInlineJobsTakesNoStack) {
  // Each job that is done asks for the next, as a server's log of updates may.
  constexpr std::uint64_t kJobs = 100'000;
  std::uint64_t ran = 0;
  const auto ask = [&](std::uint64_t id, Outbox& out) {
    out.jobs.push_back({.id = JobId{id}, .kind = Job::Kind::kApply, .run = [&] { ++ran; }});
  };
  FunctionNode node;
  node.on_start = [&](Time, Outbox& out) { ask(1, out); };
  node.on_job_done = [&](Time, JobId job, Outbox& out) {
    EXPECT_EQ(JobId{ran}, job);
    if (ran == kJobs) return out.Exit(Status::Ok());
    ask(ran + 1, out);
  };

  EXPECT_THAT(Runtime()->Run(node), IsOk());

  EXPECT_EQ(ran, kJobs);
}

TEST(ZmqRuntimeTest, InlineJobsRunInTheOrderAskedForAndBeforeAnythingElse) {
  std::vector<JobId> done;
  const auto ask = [](std::uint64_t id, Outbox& out) {
    out.jobs.push_back({.id = JobId{id}, .kind = Job::Kind::kApply, .run = [] {}});
  };
  FunctionNode node;
  node.on_start = [&](Time now, Outbox& out) {
    out.SetTimer(TimerId{1}, now);
    ask(1, out);
    ask(2, out);
  };
  node.on_job_done = [&](Time, JobId job, Outbox& out) {
    done.push_back(job);
    if (job == JobId{1}) ask(3, out);
  };
  node.on_timer = [&](Time, TimerId, Outbox& out) {
    EXPECT_EQ(done.size(), 3u);
    out.Exit(Status::Ok());
  };

  EXPECT_THAT(Runtime()->Run(node), IsOk());

  EXPECT_EQ(done, (std::vector<JobId>{JobId{1}, JobId{2}, JobId{3}}));
}

}  // namespace
}  // namespace slackline
