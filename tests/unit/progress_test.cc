#include "core/report/progress.h"

#include <gtest/gtest.h>

#include "core/report/readable.h"

namespace slackline {
namespace {

TEST(Readable, Numbers) {
  EXPECT_EQ(ReadableCount(0), "0");
  EXPECT_EQ(ReadableCount(7), "7");
  EXPECT_EQ(ReadableCount(7.25), "7.25");
  EXPECT_EQ(ReadableCount(999), "999");
  EXPECT_EQ(ReadableCount(1000), "1.00k");
  EXPECT_EQ(ReadableCount(12345), "12.3k");
  EXPECT_EQ(ReadableCount(1.5e6), "1.50M");
  EXPECT_EQ(ReadableCount(2e9), "2.00G");
  EXPECT_EQ(ReadableSeconds(0.25), "250 ms");
  EXPECT_EQ(ReadableSeconds(12.34), "12.3 s");
  EXPECT_EQ(ReadableSeconds(250), "4 min 10 s");
  EXPECT_EQ(ReadableSeconds(11100), "3 h 5 min");
  EXPECT_EQ(Fixed(0.0 / 1.0 - 1.5, 1), "-1.5");
}

TEST(ProgressText, ShowsRatesSinceTheLineBeforeAndTimeLeft) {
  ProgressText text(MetricOf("mlp"));
  ProgressReport report{.running = 1s, .samples = 1000, .samples_planned = 10000};
  text.Line(report);
  Evaluation evaluation;
  evaluation.metric = 0.75;
  text.OnEvaluation({1s, evaluation});
  report.running = 3s;
  report.samples = 5000;
  report.updates = 40;
  report.rounds_min = 9;
  report.rounds_max = 11;
  report.loss = 0.5;
  report.lr = 0.1;
  report.staleness_p50 = 3;
  report.staleness_p99 = 7;
  report.gate_wait_share = 0.04;
  report.bytes_pushed = 8'000'000;
  report.bytes_pulled = 4'000'000;

  EXPECT_EQ(
      text.Line(report),
      "update 40 | round 9..11 | 5.00k/10.0k samples | loss 0.5000 | accuracy 0.7500 | lr 0.1 | "
      "2.00k samples/s | stale 3 p99 7 | wait 4% | up 4.0 down 2.0 MB/s | 2.5 s left");
}

TEST(MetricOf, NamesTheMetricAndItsBetterSide) {
  EXPECT_EQ(MetricOf("mlp").name, "accuracy");
  EXPECT_TRUE(MetricOf("mlp").more_is_better);
  for (const char* model : {"transformer", "pythia-14m", "pythia-70m"}) {
    EXPECT_EQ(MetricOf(model).name, "bits_per_token");
    EXPECT_FALSE(MetricOf(model).more_is_better);
  }
}

TEST(ProgressText, LeavesOutWhatIsNotKnown) {
  ProgressText text(MetricOf("timing"));

  EXPECT_EQ(text.Line({}),
            "update 0 | round 0 | 0 samples | loss 0.0000 | lr 0 | 0 samples/s | stale 0 p99 0 | "
            "wait 0% | "
            "up 0.0 down 0.0 MB/s");
}

}  // namespace
}  // namespace slackline
