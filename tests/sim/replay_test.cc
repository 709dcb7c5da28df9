#include "core/runtime/replay.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/digest.h"
#include "core/base/strings.h"
#include "core/runtime/sim_runtime.h"

namespace slackline {
namespace {

// Adds up what it is sent and answers with the sum. Enough state that one wrong input shows.
class Adder : public Node {
 public:
  void OnStart(Time, Outbox&) override {}
  void OnMessage(Time now, NodeId from, const Message& message, Outbox& out) override {
    const auto& push = std::get<Push>(message.body);
    sum_.Add(push.seq + push.rank);
    sum_.Add(static_cast<std::uint64_t>(now.count()));
    out.SendTo(from, PushAck{push.rank, push.seq, PushOutcome::kApplied, sum_.value()});
    if (++pushes_ == kPushesUntilExit) out.Exit(Status::Ok());
  }
  void OnTimer(Time, TimerId, Outbox&) override {}
  void OnJobDone(Time, JobId, Outbox&) override {}
  void OnInterrupt(Time, Outbox&) override {}
  std::uint64_t StateDigest() const override { return sum_.value(); }

 private:
  static constexpr int kPushesUntilExit = 25;
  Digest sum_;
  int pushes_ = 0;
};

// Computes, pushes, and does not wait for more than 20 ms for the answer.
class Pusher : public Node {
 public:
  // `flaw` is added to a push, so that a test can make a Node that answers otherwise.
  Pusher(std::uint32_t rank, std::uint64_t flaw) : rank_(rank), flaw_(flaw) {}

  void OnStart(Time now, Outbox& out) override { Begin(now, out); }
  void OnMessage(Time now, NodeId, const Message& message, Outbox& out) override {
    state_.Add(std::get<PushAck>(message.body).version);
    Begin(now, out);
  }
  void OnTimer(Time now, TimerId, Outbox& out) override { Begin(now, out); }
  void OnJobDone(Time, JobId id, Outbox& out) override {
    Push push;
    push.rank = rank_;
    push.seq = *results_.at(id) + (round_ == 7 ? flaw_ : 0);
    results_.erase(id);
    out.SendTo(kSchedulerNode, push);
  }
  void OnInterrupt(Time, Outbox&) override {}
  std::uint64_t StateDigest() const override { return state_.value(); }

 private:
  void Begin(Time now, Outbox& out) {
    if (round_++ == 12) return out.Exit(Status::Ok());
    const auto result = results_[JobId{round_}] = std::make_shared<std::uint64_t>(0);
    out.jobs.push_back({JobId{round_}, Job::Kind::kCompute, rank_, round_, 1.0,
                        [result, round = round_] { *result = round * round; }});
    out.SetTimer(TimerId{1}, now + 20ms);
  }

  std::uint32_t rank_;
  std::uint64_t flaw_;
  std::uint64_t round_ = 0;
  std::map<JobId, std::shared_ptr<std::uint64_t>> results_;
  Digest state_;
};

std::unique_ptr<Node> MakeNode(Role role, std::uint32_t rank, std::uint64_t flaw = 0) {
  if (role == Role::kScheduler) return std::make_unique<Adder>();
  return std::make_unique<Pusher>(rank, flaw);
}

Result<std::unique_ptr<Node>> Faithful(const EventLogHeader& whose) {
  return MakeNode(whose.role, static_cast<std::uint32_t>(whose.rank));
}

class ReplayTest : public ::testing::Test {
 protected:
  ReplayTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    dir_ =
        (std::filesystem::temp_directory_path() / "slackline_replay_test" / test->name()).string();
    std::filesystem::remove_all(dir_);
  }
  ~ReplayTest() override { std::filesystem::remove_all(dir_); }

  // Three workers and every kind of fault; the logs of that run.
  std::vector<EventLog> Record(SimOptions sim) {
    SimRuntimeOptions options;
    options.sim = std::move(sim);
    options.sim.link_latency_ms = 1;
    TimeOptions time;
    time.compute_time = "exp:3";
    options.time_model = TimeModel::Create(time, 1).value();
    auto runtime = SimRuntime::Create(options).value();
    runtime->ObserveWith([&](Role role, std::uint32_t rank, NodeId self, std::uint32_t life) {
      return EventLogWriter::Create(dir_, {role, rank, self, 1, life, ""}).value();
    });
    runtime->AddNode(Role::kScheduler, 0, [](NodeId) { return MakeNode(Role::kScheduler, 0); });
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      runtime->AddNode(Role::kWorker, rank,
                       [rank](NodeId) { return MakeNode(Role::kWorker, rank); });
    }
    EXPECT_TRUE(runtime->RunUntil(1s).ok());
    inputs_ = runtime->counts().inputs;
    runtime.reset();  // Closes the logs.
    return ReadEventLogs(dir_).value();
  }

  static SimOptions Faults() {
    SimOptions sim;
    sim.loss = 0.1;
    sim.duplicate = 0.2;
    sim.reorder = 0.2;
    sim.crash = {"worker1:15:25"};
    return sim;
  }

  std::string dir_;
  std::uint64_t inputs_ = 0;
};

TEST_F(ReplayTest, ARecordedRunIsReplayedBitForBit) {
  const std::vector<EventLog> logs = Record(Faults());

  const Result<ReplayReport> report = Replay(logs, Faithful);

  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->identical())
      << (report->difference ? report->difference->ToString() : StrJoin(report->stopped));
  EXPECT_EQ(report->logs, 5u);  // worker1 lived twice
  EXPECT_EQ(report->inputs, inputs_);
  EXPECT_EQ(report->final_states, 4u);
}

TEST_F(ReplayTest, ARestartedSchedulerRepeatsItsNumbersAndIsReplayed) {
  SimOptions sim;
  sim.crash = {"scheduler:10:12"};
  const std::vector<EventLog> logs = Record(sim);

  const Result<ReplayReport> report = Replay(logs, Faithful);

  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->identical())
      << (report->difference ? report->difference->ToString() : StrJoin(report->stopped));
  EXPECT_EQ(report->logs, 5u);
}

TEST_F(ReplayTest, TheFirstDifferentOutboxIsNamed) {
  const std::vector<EventLog> logs = Record(SimOptions{});

  const Result<ReplayReport> report = Replay(logs, [](const EventLogHeader& whose) {
    const bool flawed = whose.role == Role::kWorker && whose.rank == 2;
    return Result<std::unique_ptr<Node>>(
        MakeNode(whose.role, static_cast<std::uint32_t>(whose.rank), flawed ? 1 : 0));
  });

  ASSERT_TRUE(report.ok());
  ASSERT_TRUE(report->difference.has_value());
  EXPECT_EQ(report->difference->role, Role::kWorker);
  EXPECT_EQ(report->difference->rank, 2);
  EXPECT_EQ(report->difference->kind, Input::Kind::kJob);
  // Start, then a job and a message a round: the job of round 7 is input 13.
  EXPECT_EQ(report->difference->input, 13u);
  EXPECT_EQ(report->difference->what, "the outbox differs");
  EXPECT_GT(report->difference->time, 0ns);
  EXPECT_FALSE(report->identical());
}

TEST_F(ReplayTest, ADifferentFinalStateIsNamed) {
  std::vector<EventLog> logs = Record(SimOptions{});
  ASSERT_TRUE(logs[0].end.has_value());
  logs[0].end->state_digest ^= 1;

  const Result<ReplayReport> report = Replay(logs, Faithful);

  ASSERT_TRUE(report.ok());
  ASSERT_TRUE(report->difference.has_value());
  EXPECT_EQ(report->difference->role, Role::kScheduler);
  EXPECT_EQ(report->difference->what, "the final state differs");
}

TEST_F(ReplayTest, ADifferentTimeIsFound) {
  std::vector<EventLog> logs = Record(SimOptions{});
  auto& input = std::get<InputRecord>(logs[0].records[5]);
  input.time += 1ns;

  const Result<ReplayReport> report = Replay(logs, Faithful);

  ASSERT_TRUE(report.ok());
  ASSERT_TRUE(report->difference.has_value());
  EXPECT_EQ(report->difference->input, 5u);
  EXPECT_EQ(report->difference->time, input.time);
}

TEST_F(ReplayTest, AJobThatWasNeverAskedForIsNamed) {
  std::vector<EventLog> logs = Record(SimOptions{});
  std::get<InputRecord>(logs[1].records[1]).number = 77;

  const Result<ReplayReport> report = Replay(logs, Faithful);

  ASSERT_TRUE(report.ok());
  ASSERT_TRUE(report->difference.has_value());
  EXPECT_EQ(report->difference->what, "job 77 was never asked for");
}

TEST_F(ReplayTest, WhoLacksALogIsMissedAndNotTakenForADifference) {
  std::vector<EventLog> logs = Record(SimOptions{});
  logs.erase(logs.begin() + 2);  // worker 1

  const Result<ReplayReport> report = Replay(logs, Faithful);

  ASSERT_TRUE(report.ok());
  EXPECT_FALSE(report->difference.has_value());
  EXPECT_FALSE(report->identical());
  ASSERT_FALSE(report->stopped.empty());
  EXPECT_NE(report->stopped[0].find("scheduler 0 at input "), std::string::npos)
      << report->stopped[0];
  EXPECT_NE(report->stopped[0].find("is in no log"), std::string::npos);
}

TEST_F(ReplayTest, TheFactorysErrorIsPassedOn) {
  const std::vector<EventLog> logs = Record(SimOptions{});

  const auto report = Replay(logs, [](const EventLogHeader&) -> Result<std::unique_ptr<Node>> {
    return NotFound("no such data set");
  });

  EXPECT_EQ(report.status().code(), StatusCode::kNotFound);
  EXPECT_EQ(report.status().message(), "no such data set");
}

}  // namespace
}  // namespace slackline
