#include "core/runtime/time_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace slackline {
namespace {

constexpr int kDraws = 20'000;

TimeModel Make(const std::string& compute_time, std::vector<double> speeds = {},
               std::vector<std::string> inject = {}) {
  TimeOptions options;
  options.compute_time = compute_time;
  options.speeds = std::move(speeds);
  options.inject = std::move(inject);
  Result<TimeModel> model = TimeModel::Create(options, 7);
  EXPECT_TRUE(model.ok()) << model.status().ToString();
  return std::move(model).value();
}

Job Compute(std::uint32_t rank, std::uint64_t index, double work = 1.0) {
  return {JobId{1}, Job::Kind::kCompute, rank, index, work, {}};
}

std::vector<double> Draw(const TimeModel& model) {
  std::vector<double> seconds;
  for (int i = 0; i < kDraws; ++i) {
    seconds.push_back(Seconds(*model.ComputeTime(Compute(3, static_cast<std::uint64_t>(i)))));
  }
  return seconds;
}

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

TEST(TimeModel, WithoutOptionsThereIsNoModel) {
  const TimeModel model = Make("");

  EXPECT_FALSE(model.ComputeTime(Compute(0, 0)).has_value());
  EXPECT_EQ(model.SlowFactor(5), 1.0);
  EXPECT_EQ(model.DueAfter(Compute(0, 0), 12ms), 12ms);
}

TEST(TimeModel, ConstantTimesWorkTimesSlowness) {
  const TimeModel model = Make("const:4", {1.0, 0.5});

  EXPECT_EQ(model.ComputeTime(Compute(0, 9)), 4ms);
  EXPECT_EQ(model.ComputeTime(Compute(1, 9)), 8ms);
  EXPECT_EQ(model.ComputeTime(Compute(1, 9, 2.5)), 20ms);
  EXPECT_EQ(model.ComputeTime(Compute(2, 9)), 4ms);  // Beyond the list: full speed.
}

TEST(TimeModel, ExponentialHasItsMeanAndDeviation) {
  const std::vector<double> draws = Draw(Make("exp:20"));

  const double mean = Mean(draws);
  double square = 0;
  for (const double draw : draws) square += (draw - mean) * (draw - mean);

  // The mean of n draws deviates by 1 / sqrt(n) = 0.7 %, their deviation by about 1.4 %.
  EXPECT_NEAR(mean, 0.020, 0.020 * 0.03);
  EXPECT_NEAR(std::sqrt(square / kDraws), 0.020, 0.020 * 0.06);
  EXPECT_GE(*std::min_element(draws.begin(), draws.end()), 0.0);
}

TEST(TimeModel, LognormalHasItsMedianAndMean) {
  constexpr double kSigma = 0.5;
  std::vector<double> draws = Draw(Make("lognormal:10:0.5"));

  const double mean = Mean(draws);
  std::nth_element(draws.begin(), draws.begin() + kDraws / 2, draws.end());

  EXPECT_NEAR(draws[kDraws / 2], 0.010, 0.010 * 0.03);
  EXPECT_NEAR(mean, 0.010 * std::exp(kSigma * kSigma / 2), 0.010 * 0.03);
}

TEST(TimeModel, IsAPureFunctionOfSeedRankAndIndex) {
  const TimeModel model = Make("exp:20");
  const auto first = model.ComputeTime(Compute(1, 5));

  EXPECT_NE(model.ComputeTime(Compute(1, 6)), first);
  EXPECT_NE(model.ComputeTime(Compute(2, 5)), first);
  EXPECT_EQ(model.ComputeTime(Compute(1, 5)), first);
  EXPECT_EQ(Make("exp:20").ComputeTime(Compute(1, 5)), first);
  EXPECT_EQ(Make("exp:20", {1.0, 0.5}).ComputeTime(Compute(1, 5))->count() / 2, first->count());
}

TEST(TimeModel, InjectionSlowsOneWorkerOnTopOfItsSpeed) {
  const TimeModel model = Make("", {1.0, 0.5}, {"slow:worker1:5x", "slow:worker4:1.5x"});

  EXPECT_EQ(model.SlowFactor(0), 1.0);
  EXPECT_EQ(model.SlowFactor(1), 10.0);
  EXPECT_EQ(model.SlowFactor(3), 1.0);
  EXPECT_EQ(model.SlowFactor(4), 1.5);
  EXPECT_EQ(model.DueAfter(Compute(1, 0), 3ms), 30ms);
}

TEST(TimeModel, OnlyComputingIsHeldBack) {
  const TimeModel model = Make("const:50", {0.1});
  Job apply = Compute(0, 0);
  apply.kind = Job::Kind::kApply;

  EXPECT_FALSE(model.ComputeTime(apply).has_value());
  EXPECT_EQ(model.DueAfter(apply, 3ms), 3ms);
  EXPECT_EQ(model.DueAfter(Compute(0, 0), 3ms), 500ms);
  EXPECT_EQ(model.DueAfter(Compute(0, 0), 700ms), 700ms);  // It really took longer.
}

TEST(TimeModel, ATraceIsWalkedRoundAndRoundFromTheRanksLine) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "slackline_time_model_test_trace").string();
  std::ofstream(path) << "1\n2.5\n4\n";
  const TimeModel model = Make("trace:" + path);

  EXPECT_EQ(model.ComputeTime(Compute(0, 0)), 1ms);
  EXPECT_EQ(model.ComputeTime(Compute(0, 1)), 2500us);
  EXPECT_EQ(model.ComputeTime(Compute(0, 3)), 1ms);
  EXPECT_EQ(model.ComputeTime(Compute(2, 0)), 4ms);
  EXPECT_EQ(model.ComputeTime(Compute(2, 1)), 1ms);

  std::ofstream(path) << "1\nsoon\n";
  TimeOptions options;
  options.compute_time = "trace:" + path;
  const Result<TimeModel> bad_line = TimeModel::Create(options, 1);
  EXPECT_EQ(bad_line.status().code(), StatusCode::kDataLoss);
  EXPECT_NE(bad_line.status().message().find("line 2: 'soon'"), std::string::npos);

  std::ofstream(path, std::ios::trunc);
  EXPECT_EQ(TimeModel::Create(options, 1).status().code(), StatusCode::kDataLoss);
  std::filesystem::remove(path);
  const Result<TimeModel> missing = TimeModel::Create(options, 1);
  EXPECT_EQ(missing.status().code(), StatusCode::kNotFound);
  EXPECT_NE(missing.status().message().find(path), std::string::npos);
}

TEST(TimeModel, RefusesAnythingElseByName) {
  for (const std::string text :
       {"const", "const:", "const:x", "const:-1", "const:1:2", "const:inf", "exp:1ms",
        "lognormal:1", "lognormal:1:x", "lognormal:1:-1", "gamma:1", "10", ":", "constant:5"}) {
    SCOPED_TRACE(text);
    TimeOptions options;
    options.compute_time = text;
    const Result<TimeModel> model = TimeModel::Create(options, 1);
    EXPECT_EQ(model.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(model.status().message().find("'" + text + "'"), std::string::npos);
  }
  for (const std::string text :
       {"", "slow:worker1", "slow:worker1:5", "slow:worker1:0x", "slow:worker1:-2x",
        "slow:worker:5x", "slow:server1:5x", "fast:worker1:5x", "slow:worker1:5x:1",
        "slow:worker99999999:2x"}) {
    SCOPED_TRACE(text);
    TimeOptions options;
    options.inject = {text};
    const Result<TimeModel> model = TimeModel::Create(options, 1);
    EXPECT_EQ(model.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(model.status().message().find("'" + text + "'"), std::string::npos);
  }
  for (const double speed : {0.0, -1.0}) {
    TimeOptions options;
    options.speeds = {1.0, speed};
    EXPECT_EQ(TimeModel::Create(options, 1).status().code(), StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace slackline
