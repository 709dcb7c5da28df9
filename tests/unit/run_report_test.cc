#include "core/report/run_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/strings.h"
#include "core/report/run_folder.h"
#include "tests/support/status_matchers.h"

namespace slackline {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using Json = nlohmann::json;

class RunReportTest : public ::testing::Test {
 protected:
  RunReportTest() { fs::remove_all(base_); }
  ~RunReportTest() override {
    fs::permissions(base_, fs::perms::owner_all, fs::perm_options::add, ignored_);
    fs::remove_all(base_, ignored_);
  }

  std::error_code ignored_;
  const std::string base_ = StrCat(::testing::TempDir(), "run_report_test_", getpid(), "_",
                                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
  const std::string dir_ = base_ + "/run";
};

MemberStatus Server(std::uint32_t rank) {
  MemberStatus member{.role = Role::kServer, .rank = rank};
  member.statistics.version = 40;
  member.statistics.slices_applied = 40;
  member.statistics.slices_duplicate = 2 + rank;
  member.statistics.samples_applied = 1280;
  member.statistics.clock_spread_max = 3;
  for (int i = 0; i < 38; ++i) member.statistics.staleness.Add(1);
  member.statistics.staleness.Add(5);
  member.statistics.staleness.Add(5);
  return member;
}

MemberStatus Worker(std::uint32_t rank) {
  MemberStatus member{.role = Role::kWorker, .rank = rank};
  member.statistics.rounds = 20 + rank;
  member.statistics.pushes_sent = 20;
  member.statistics.loss = 0.5;
  member.statistics.gate_wait_ns = 500'000'000;
  member.statistics.bytes_pushed = 1000;
  member.statistics.bytes_pulled = 2000;
  return member;
}

EvaluationReport Evaluated(std::uint64_t cut, double loss, double metric) {
  Evaluation evaluation;
  evaluation.cut = cut;
  evaluation.loss = loss;
  evaluation.metric = metric;
  return {2s, evaluation};
}

SummaryReport GoodEnd() {
  return {.running = 2s,
          .members = {Server(0), Server(1), Worker(0), Worker(1)},
          .evaluations = {Evaluated(2, 0.4, 0.8), Evaluated(1, 0.3, 0.85)}};
}

TEST_F(RunReportTest, WritesASummaryThatToolsRead) {
  Options options;
  options.output.run_dir = dir_;
  fs::create_directories(dir_);
  auto report = RunReport::Create({.options = options, .virtual_time = true});
  ASSERT_THAT(report, IsOk());

  (*report)->OnReport(
      {1s, MembershipReport{.event = "lost", .rank = 1, .text = "worker 1 is lost"}});
  (*report)->AddFaults("network_dropped", 9);
  (*report)->OnReport({3s, GoodEnd()});
  ASSERT_THAT((*report)->Finish(), IsOk());

  const Json json = Json::parse(*ReadFile(dir_ + "/summary.json"));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["virtual_s"], 2.0);
  EXPECT_FALSE(json.contains("wall_s"));
  EXPECT_EQ(json["samples"], 1280);
  EXPECT_EQ(json["updates"], 40);
  EXPECT_EQ(json["rounds"], 20);
  EXPECT_EQ(json["slack_max"], 3);
  EXPECT_EQ(json["metric_name"], "accuracy");
  EXPECT_EQ(json["metric"], 0.8);  // Of the last cut, not of the last report.
  EXPECT_EQ(json["best_metric"], 0.85);
  EXPECT_EQ(json["loss"], 0.4);
  EXPECT_EQ(json["best_loss"], 0.3);
  EXPECT_EQ(json["pushes"],
            Json::parse(R"({"sent":40,"applied":40,"duplicate":3,"discarded":0,"rejected":0})"));
  EXPECT_EQ(json["staleness"]["p50"], 1);
  EXPECT_EQ(json["staleness"]["p99"], 5);
  EXPECT_EQ(json["staleness"]["histogram"], Json::parse("[0,38,0,0,0,2]"));
  EXPECT_EQ(json["bytes"]["worker1 -> servers"], 1000);
  EXPECT_EQ(json["waits"]["gate_share"], 0.25);
  EXPECT_EQ(json["faults"]["members_lost"], 1);
  EXPECT_EQ(json["faults"]["network_dropped"], 9);
}

TEST_F(RunReportTest, WritesOneLineAnEvent) {
  Options options;
  options.output.run_dir = dir_;
  fs::create_directories(dir_);
  std::vector<std::string> news, progress;
  auto report =
      RunReport::Create({.options = options,
                         .on_progress = [&](const std::string& line) { progress.push_back(line); },
                         .on_news = [&](const std::string& line) { news.push_back(line); }});
  ASSERT_THAT(report, IsOk());

  (*report)->OnReport(
      {1s, MembershipReport{.event = "joined", .role = Role::kServer, .text = "server 0 joined"}});
  (*report)->OnReport(
      {2s,
       PlacementReport{{{.rank = 0, .range = {0, 5}}, {.rank = 1, .range = {5, 10}}}, 10, 1.0}});
  (*report)->OnReport({3s, ProgressReport{.running = 1s, .samples = 64}});
  (*report)->OnReport({4s, Evaluated(1, 0.3, 0.85)});

  std::vector<std::string> events;
  for (const std::string& line : StrSplit(*ReadFile(dir_ + "/metrics.jsonl"), '\n')) {
    if (!line.empty()) events.push_back(Json::parse(line)["event"]);
  }
  EXPECT_THAT(events, ElementsAre("joined", "placement", "progress", "evaluation"));
  EXPECT_THAT(news, ElementsAre("server 0 joined",
                                "10 parameters on 2 servers: [0, 5) [5, 10), largest/mean 1.000",
                                "test after 0 samples: loss 0.3000, accuracy 0.8500"));
  EXPECT_EQ(progress.size(), 1u);
}

TEST_F(RunReportTest, AFolderThatCannotBeWrittenIsAnError) {
  Options options;
  options.output.run_dir = dir_ + "/missing";

  const std::string trouble =
      options.output.run_dir + "/metrics.jsonl cannot be written: No such file or directory";
  EXPECT_THAT(RunReport::Create({.options = options}), StatusIs(StatusCode::kUnavailable, trouble));
}

// JSON has no word for them, and a bare NaN would make the file unreadable for every tool.
TEST_F(RunReportTest, LossesThatAreNoNumberAreNull) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Options options;
  options.output.run_dir = dir_;
  fs::create_directories(dir_);
  auto report = RunReport::Create({.options = options});
  ASSERT_THAT(report, IsOk());
  SummaryReport end = GoodEnd();
  end.evaluations = {Evaluated(1, kInfinity, 0.1)};
  end.members[2].statistics.loss = kNan;

  (*report)->OnReport({1s, ProgressReport{.running = 1s, .loss = kNan}});
  (*report)->OnReport({2s, Evaluated(1, kInfinity, 0.1)});
  (*report)->OnReport({3s, end});
  ASSERT_THAT((*report)->Finish(), IsOk());

  const Json summary = Json::parse(*ReadFile(dir_ + "/summary.json"));
  EXPECT_TRUE(summary.at("loss").is_null());
  EXPECT_TRUE(summary.at("training_loss").is_null());
  EXPECT_EQ(summary.at("metric"), 0.1);
  const std::vector<std::string> lines = StrSplit(*ReadFile(dir_ + "/metrics.jsonl"), '\n');
  EXPECT_TRUE(Json::parse(lines.at(0)).at("loss").is_null());
  EXPECT_TRUE(Json::parse(lines.at(1)).at("loss").is_null());
}

TEST_F(RunReportTest, WithoutAFolderTheSummaryIsStillThere) {
  auto report = RunReport::Create({.options = Options{}});
  ASSERT_THAT(report, IsOk());

  (*report)->OnReport({3s, GoodEnd()});

  EXPECT_THAT((*report)->Finish(), IsOk());
  EXPECT_EQ(Json::parse((*report)->Summary()).at("updates"), 40);
}

TEST(ClosingBlock, EndsWithTheRunFolder) {
  const std::string summary = SummaryJson(Options{}, GoodEnd(), false, {});

  const Result<std::string> block = ClosingBlock(summary, "runs/mine");

  ASSERT_THAT(block, IsOk());
  EXPECT_THAT(*block, HasSubstr("test accuracy   0.8000 (best 0.8500), test loss 0.4000\n"));
  EXPECT_THAT(*block, HasSubstr("640 samples/s"));
  EXPECT_THAT(*block, HasSubstr("        1 | ######################################## 38\n"));
  EXPECT_THAT(*block, HasSubstr("        5 | ### 2\n"));
  EXPECT_THAT(*block, EndsWith("\nruns/mine\n"));
}

TEST(ClosingBlock, NamesTheReasonOfAFailure) {
  SummaryReport end = GoodEnd();
  end.failed = true;
  end.reason = "worker 1 is lost";
  end.evaluations.clear();

  const Result<std::string> block = ClosingBlock(SummaryJson(Options{}, end, false, {}), "d");

  ASSERT_THAT(block, IsOk());
  EXPECT_THAT(*block, ::testing::StartsWith("the run failed: worker 1 is lost\n"));
}

TEST(ClosingBlock, ShowsNoNumberForALossThatIsNone) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  SummaryReport end = GoodEnd();
  end.evaluations = {Evaluated(1, kNan, kNan), Evaluated(2, 0.5, 0.8), Evaluated(3, kNan, kNan)};
  end.members[0].statistics.staleness.Add(1000);

  const std::string summary = SummaryJson(Options{}, end, false, {});
  const Result<std::string> block = ClosingBlock(summary, "d");

  EXPECT_EQ(Json::parse(summary).at("best_loss"), 0.5);
  EXPECT_EQ(Json::parse(summary).at("best_metric"), 0.8);
  ASSERT_THAT(block, IsOk());
  EXPECT_THAT(*block, HasSubstr("test accuracy   - (best 0.8000), test loss -\n"));
  EXPECT_THAT(*block, HasSubstr("     240+ | "));
}

TEST(ClosingBlock, RefusesWhatIsNoSummary) {
  for (const char* text : {"", "{", "[]", "{}", R"({"failed":1})"}) {
    EXPECT_THAT(ClosingBlock(text, "runs/mine"),
                StatusIs(StatusCode::kDataLoss, "runs/mine/summary.json"));
  }
}

TEST_F(RunReportTest, ARunThatIsThereIsMovedAside) {
  const std::vector<std::string> flags = {"--run-dir=" + dir_};
  Parsed first = *ParseOptions(Binary::kRun, flags), second = *ParseOptions(Binary::kRun, flags);

  const Result<RunFolder> made = MakeRunFolder(first);
  ASSERT_THAT(made, IsOk());
  ASSERT_THAT(WriteFile(dir_ + "/mark", "first"), IsOk());
  const Result<RunFolder> again = MakeRunFolder(second);

  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(made->moved_to, "");
  EXPECT_EQ(again->moved_to, dir_ + ".1");
  EXPECT_EQ(*ReadFile(dir_ + ".1/mark"), "first");
  EXPECT_FALSE(fs::exists(dir_ + "/mark"));
}

TEST_F(RunReportTest, AFolderThatCannotBeMadeIsAnError) {
  fs::create_directories(base_);
  ASSERT_THAT(WriteFile(base_ + "/file", "in the way"), IsOk());
  Parsed parsed = *ParseOptions(Binary::kRun, {"--run-dir=" + base_ + "/file"});

  EXPECT_THAT(MakeRunFolder(parsed),
              StatusIs(StatusCode::kUnavailable, "--run-dir " + base_ + "/file"));
}

TEST_F(RunReportTest, LogsGoToOneFileAProcess) {
  LogFolder logs(base_);

  logs.Write(Role::kWorker, 3, "one");
  logs.Write(Role::kWorker, 3, "two");

  EXPECT_THAT(logs.status(), IsOk());
  EXPECT_EQ(*ReadFile(base_ + "/log/worker-3.log"), "one\ntwo\n");
}

}  // namespace
}  // namespace slackline
