// Regions over real sockets, whole clusters in one process: what delays between regions cost, and
// whether virtual time says the same as real time.
//
// Computing takes what --compute-time says, by timer, and next to nothing by work: the speed of the
// machine hardly counts.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/strings.h"
#include "core/config/parse_options.h"
#include "core/policy/topology.h"
#include "core/report/summary.h"
#include "tests/support/fresh_folder.h"
#include "tests/support/sim_cluster.h"
#include "tests/support/status_matchers.h"
#include "tests/support/zmq_cluster.h"

namespace slackline::testing {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kElements = 64;
constexpr std::uint64_t kModelBytes = kElements * sizeof(float);

// Two regions of two workers and one server a tier; the global one is in region 0.
Options TwoRegions(std::vector<std::string> flags) {
  for (const char* flag : {"--regions=2", "--workers-per-region=2", "--servers=1",
                           "--evaluate=false", "--local-steps=4", "--region-gbps=0,0,0,0"}) {
    flags.emplace_back(flag);
  }
  Result<Parsed> parsed = ParseOptions(Binary::kRun, flags);
  EXPECT_THAT(parsed, IsOk());
  return parsed.ok() ? parsed->options : Options();
}

struct Outcome {
  Json summary;
  std::vector<double> rates;  // Rounds per second, by worker, each of its own life.

  double throughput() const {  // Rounds of all workers per second.
    double sum = 0;
    for (const double rate : rates) sum += rate;
    return sum;
  }
  double MeanRate(std::size_t first, std::size_t count) const {
    double sum = 0;
    for (std::size_t i = first; i < first + count; ++i) sum += rates[i];
    return sum / static_cast<double>(count);
  }
};

// From the first push that was sent to the last: opening and closing do not count.
double RateOf(const std::string& folder, std::uint32_t worker) {
  const Result<EventLog> log = ReadEventLog(EventLogPath(folder, Role::kWorker, worker, 0));
  EXPECT_THAT(log, IsOk());
  if (!log.ok()) return 0;
  std::vector<Time> pushed;
  for (const EventRecord& record : log->records) {
    const auto* trace = std::get_if<TraceRecord>(&record);
    if (trace != nullptr && trace->event.kind == TraceEvent::Kind::kPushSent)
      pushed.push_back(trace->time);
  }
  EXPECT_GE(pushed.size(), 3u);
  if (pushed.size() < 3) return 0;
  return static_cast<double>(pushed.size() - 1) / Seconds(pushed.back() - pushed.front());
}

Outcome OutcomeOf(const Options& options, const std::optional<SummaryReport>& report,
                  bool virtual_time, const std::string& folder) {
  Outcome outcome;
  EXPECT_TRUE(report.has_value());
  if (report.has_value())
    outcome.summary = Json::parse(SummaryJson(options, *report, virtual_time, {}));
  for (std::uint32_t worker = 0; worker < options.cluster.workers; ++worker)
    outcome.rates.push_back(RateOf(folder, worker));
  return outcome;
}

Outcome OverSockets(const Options& options) {
  const std::string folder = FreshFolder();
  const ZmqClusterResult result =
      RunZmqCluster(options, MakeQuadratic(kElements, 1.0f), MakeNumbered(64), folder);
  for (const auto& [who, status] : result.exits) {
    EXPECT_THAT(status, IsOk()) << RoleName(who.first) << " " << who.second;
  }
  return OutcomeOf(options, result.summary, false, folder);
}

Outcome InVirtualTime(const Options& options) {
  const std::string folder = FreshFolder();
  SimCluster cluster(options, MakeQuadratic(kElements, 1.0f), MakeNumbered(64));
  cluster.WriteEventLogs(folder);
  EXPECT_THAT(cluster.Run(), IsOk());
  return OutcomeOf(options, cluster.summary(), true, folder);
}

// --- What delays cost ---

// 4 local steps of 25 ms: 100 ms a round.
Options RoundsOf100Ms(std::vector<std::string> flags, bool far) {
  flags.emplace_back("--compute-time=const:25");
  if (far) flags.emplace_back("--region-latency-ms=0,200,200,0");
  return TwoRegions(std::move(flags));
}

TEST(RegionsClusterTest, DelayBetweenRegionsHardlySlowsTheirWorkers) {
  const std::vector<std::string> halos = {"--algorithm=halos", "--accumulate=4", "--rounds=14"};

  const Outcome near = OverSockets(RoundsOf100Ms(halos, false));
  const Outcome far = OverSockets(RoundsOf100Ms(halos, true));

  RecordProperty("rates", StrCat(near.MeanRate(0, 4), " and ", far.MeanRate(0, 4)));
  for (std::size_t worker = 0; worker < 4; ++worker)
    EXPECT_GT(far.rates[worker], 0.9 * near.rates[worker]) << "worker " << worker;
  // It exchanged meanwhile.
  EXPECT_GE(far.summary["by_region"][1]["exchanges"], 2);
}

// The rival without servers in the regions: a far worker waits 2 x 200 ms in every round.
TEST(RegionsClusterTest, FlatTheFarWorkersFallToAFifth) {
  const std::vector<std::string> flat = {"--algorithm=async-local-sgd", "--rounds=5"};

  const Outcome near = OverSockets(RoundsOf100Ms(flat, false));
  const Outcome far = OverSockets(RoundsOf100Ms(flat, true));

  RecordProperty("rates", StrCat(near.MeanRate(2, 2), " and ", far.MeanRate(2, 2)));
  for (const std::size_t worker : {2u, 3u}) {
    EXPECT_GT(far.rates[worker], 0.15 * near.rates[worker]) << "worker " << worker;
    EXPECT_LT(far.rates[worker], 0.27 * near.rates[worker]) << "worker " << worker;
  }
  for (const std::size_t worker : {0u, 1u})
    EXPECT_GT(far.rates[worker], 0.9 * near.rates[worker]) << "worker " << worker;
}

// --- Virtual and real time agree ---

// Half the sum of differences between the shares of each value: 0 for equal, 1 for disjoint.
double TotalVariation(const Json& a, const Json& b) {
  const auto count = [](const Json& histogram) {
    double sum = 0;
    for (const Json& bin : histogram) sum += bin.get<double>();
    return std::max(1.0, sum);
  };
  const auto share = [](const Json& histogram, std::size_t value, double of) {
    return value < histogram.size() ? histogram[value].get<double>() / of : 0.0;
  };
  const double all_a = count(a), all_b = count(b);
  double sum = 0;
  for (std::size_t value = 0; value < std::max(a.size(), b.size()); ++value)
    sum += std::abs(share(a, value, all_a) - share(b, value, all_b));
  return sum / 2;
}

// Times are not the same to the millisecond, so neighbouring pushes may change places. Which of
// others' pushes fall into a round is a matter of its length and, by one more or less, of where the
// others stand at its beginning: over the rounds of a run, that makes a difference in some of them.
// All speeds differ, so that no two pushes come at the same time again and again, which virtual
// time would always and real time sometimes have in one order.
void ExpectAgreement(const Outcome& real, const Outcome& simulated, const char* staleness) {
  const double variation = TotalVariation(real.summary[staleness]["histogram"],
                                          simulated.summary[staleness]["histogram"]);
  ::testing::Test::RecordProperty("total_variation", StrCat(variation));
  ::testing::Test::RecordProperty("throughput",
                                  StrCat(real.throughput(), " and ", simulated.throughput()));
  EXPECT_LT(variation, 0.2) << real.summary[staleness] << simulated.summary[staleness];
  EXPECT_NEAR(real.throughput() / simulated.throughput(), 1.0, 0.05);
  EXPECT_EQ(real.summary["samples"], simulated.summary["samples"]);
  EXPECT_EQ(real.summary["pushes"], simulated.summary["pushes"]);
}

TEST(RegionsClusterTest, FlatVirtualAndRealTimeAgree) {
  Options options = TwoRegions({"--algorithm=async-local-sgd", "--gate=ssp", "--slack=3",
                                "--rounds=20", "--compute-time=const:20",
                                "--speeds=1,0.85,0.95,0.75", "--region-latency-ms=0,20,20,0"});

  const Outcome real = OverSockets(options);
  const Outcome simulated = InVirtualTime(options);

  ExpectAgreement(real, simulated, "staleness");
  EXPECT_EQ(real.summary["region_bytes"], simulated.summary["region_bytes"]);
  EXPECT_EQ(real.summary["region_bytes"]["1 -> 0"], 2 * 20 * kModelBytes);
  EXPECT_EQ(real.summary["bytes"], simulated.summary["bytes"]);
}

TEST(RegionsClusterTest, RegionalVirtualAndRealTimeAgree) {
  Options options =
      TwoRegions({"--algorithm=halos", "--accumulate=4", "--rounds=20", "--compute-time=const:18",
                  "--speeds=1,0.8,0.9,0.7", "--region-latency-ms=0,60,60,0"});

  const Outcome real = OverSockets(options);
  const Outcome simulated = InVirtualTime(options);

  ExpectAgreement(real, simulated, "worker_staleness");
  for (std::uint32_t worker = 0; worker < 4; ++worker) {
    for (const std::string& link :
         {StrCat("worker", worker, " -> servers"), StrCat("servers -> worker", worker)}) {
      EXPECT_EQ(real.summary["bytes"][link], simulated.summary["bytes"][link]) << link;
      EXPECT_EQ(real.summary["bytes"][link], 20 * kModelBytes) << link;
    }
  }
  // How often regions exchange is a matter of time; what an exchange costs is not.
  for (const Outcome& outcome : {real, simulated}) {
    for (const std::size_t region : {0u, 1u}) {
      const Json& bytes = outcome.summary["bytes"];
      const std::uint64_t exchanges = outcome.summary["by_region"][region]["exchanges"];
      EXPECT_EQ(bytes[StrCat("region", region, " -> global")], exchanges * kModelBytes);
      EXPECT_EQ(bytes[StrCat("global -> region", region)], exchanges * kModelBytes);
    }
    EXPECT_EQ(outcome.summary["region_bytes"]["1 -> 0"],
              outcome.summary["bytes"]["region1 -> global"]);
  }
  for (const std::size_t region : {0u, 1u}) {
    const auto exchanges = [&](const Outcome& outcome) {
      return outcome.summary["by_region"][region]["exchanges"].get<int>();
    };
    EXPECT_NEAR(exchanges(real), exchanges(simulated), 1) << "region " << region;
    EXPECT_GT(exchanges(simulated), 3);
  }
}

}  // namespace
}  // namespace slackline::testing
