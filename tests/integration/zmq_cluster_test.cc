// Whole clusters over real sockets, in one process.
#include "tests/support/zmq_cluster.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "core/base/strings.h"
#include "core/runtime/replay.h"
#include "core/runtime/zmq_runtime.h"
#include "tests/support/fresh_folder.h"
#include "tests/support/sim_cluster.h"
#include "tests/support/status_matchers.h"
#include "tools/verify.h"
#include "worker/worker_node.h"

namespace slackline::testing {
namespace {

Options Real() {
  Options options = SmallCluster();
  options.network.ports = "0";
  options.time = {};
  return options;
}

void ExpectAllWell(const ZmqClusterResult& result) {
  for (const auto& [who, status] : result.exits) {
    EXPECT_THAT(status, IsOk()) << RoleName(who.first) << " " << who.second;
  }
}

TEST(ZmqClusterTest, BspGivesTheSameParametersAsInVirtualTime) {
  Options options = Real();
  options.recipe.gate = "bsp";
  options.recipe.collector = "all";
  options.recipe.rule.name = "adam";
  options.recipe.rule.lr = 0.01;
  options.cluster.segment_bytes = 4096;
  const auto model = MakeQuadratic(20011, 1.0f);

  const ZmqClusterResult real = RunZmqCluster(options, model, MakeNumbered(64));
  SimCluster simulated(options, model, MakeNumbered(64));
  ASSERT_THAT(simulated.Run(), IsOk());

  ExpectAllWell(real);
  EXPECT_EQ(real.dense, simulated.DenseParameters());
}

TEST(ZmqClusterTest, IntegerPushesAddUp) {
  Options options = Real();
  options.cluster.workers = 8;
  options.cluster.rounds = 200;
  const auto model = MakeIntegers(5003);
  const auto data = MakeNumbered(1000);

  const ZmqClusterResult result = RunZmqCluster(options, model, data);

  ExpectAllWell(result);
  std::vector<float> expected = IntegerSum(options, *model, *data, 200);
  for (float& v : expected) v = 0.0f - v;
  EXPECT_EQ(result.dense, expected);
}

TEST(ZmqClusterTest, PromisesHoldAndTheLogReplaysInTheSimulator) {
  Options options = Real();
  options.recipe.gate = "ssp";
  options.recipe.slack = 2;
  options.recipe.rule.lr = 0.01;
  options.cluster.evaluate = true;
  options.cluster.rounds = 30;
  options.time.compute_time = "const:2";
  options.time.inject = {"slow:worker3:5x"};
  const auto model = MakeQuadratic(3001, 1.0f);
  const std::string folder = FreshFolder();

  const ZmqClusterResult result = RunZmqCluster(options, model, MakeNumbered(64), folder);

  ExpectAllWell(result);
  const Result<Verification> verification = VerifyRun(folder, VerifyOptionsFrom(options));
  ASSERT_THAT(verification, IsOk());
  EXPECT_TRUE(verification->ok()) << verification->ToString();
  EXPECT_GT(verification->spread_max, 0u);
  EXPECT_LE(verification->spread_max, 3u);
  const Result<std::vector<EventLog>> logs = ReadEventLogs(folder);
  ASSERT_THAT(logs, IsOk());
  const Result<ReplayReport> replay = Replay(*logs, [&](const EventLogHeader& whose) {
    Options own = options;
    for (const EventLog& log : *logs) {
      if (log.header.role == Role::kScheduler) own.network.scheduler = log.header.address.substr(6);
    }
    return MakeZmqClusterNode(own, model, MakeNumbered(64), whose);
  });
  ASSERT_THAT(replay, IsOk());
  EXPECT_TRUE(replay->identical())
      << (replay->difference.has_value() ? replay->difference->ToString() : "stopped");
}

// The time after which `target` samples were applied, by a server's log. Each worker's time counts
// from its own first read: they do not begin at the same moment.
std::optional<Duration> TimeOfSamples(const EventLog& log, std::uint64_t target) {
  std::map<std::uint32_t, Time> begun;
  std::multimap<Duration, std::uint64_t> applied;  // Samples, by when.
  for (const EventRecord& record : log.records) {
    const auto* trace = std::get_if<TraceRecord>(&record);
    if (trace == nullptr) continue;
    const TraceEvent& event = trace->event;
    if (event.kind == TraceEvent::Kind::kReadServed) begun.try_emplace(event.rank, trace->time);
    if (event.kind == TraceEvent::Kind::kPushApplied)
      applied.emplace(trace->time - begun.at(event.rank), event.extra);
  }
  std::uint64_t samples = 0;
  for (const auto& [after, of_push] : applied) {
    samples += of_push;
    if (samples >= target) return after;
  }
  return std::nullopt;
}

// How long a cluster with one worker of eight five times slower takes for 76 samples.
//
// Every worker does 12 rounds, so the slow one bounds the whole run under any gate. But 76 samples
// lie below the 84 that the seven fast ones push alone: under asp they are there before the slow
// one matters. Computing takes 40 ms by timer and next to nothing by work, so that the speed of the
// machine hardly counts. To be expected, with c = 40 ms:
//   asp: 76 / (7 / c + 1 / 5c), and so 11 rounds of c = 0.44 s
//   bsp: 10 rounds of 5c = 2.0 s
//   ssp: the fast are at most 4 rounds ahead: some 6 rounds of 5c, and a few of c
double SecondsOf76Samples(const char* gate, std::uint32_t slack, const char* collector) {
  Options options = Real();
  options.recipe.gate = gate;
  options.recipe.slack = slack;
  options.recipe.collector = collector;
  options.recipe.rule.lr = 0.01;
  options.cluster.workers = 8;
  options.cluster.rounds = 12;
  options.network.patience = 4s;
  options.time.compute_time = "const:40";
  options.time.inject = {"slow:worker3:5x"};
  const std::string folder = FreshFolder();
  ExpectAllWell(RunZmqCluster(options, MakeQuadratic(8, 1.0f), MakeNumbered(64), folder));
  const Result<EventLog> log = ReadEventLog(EventLogPath(folder, Role::kServer, 0, 0));
  EXPECT_THAT(log, IsOk());
  const std::optional<Duration> time = log.ok() ? TimeOfSamples(*log, 76) : std::nullopt;
  EXPECT_TRUE(time.has_value()) << gate << " applied fewer samples";
  return time.has_value() ? Seconds(*time) : 0;
}

TEST(ZmqClusterTest, ASlowWorkerHoldsUpBspMostAndAspNotAtAll) {
  const double bsp = SecondsOf76Samples("bsp", 0, "all");
  const double ssp = SecondsOf76Samples("ssp", 3, "each");
  const double asp = SecondsOf76Samples("asp", 0, "each");

  RecordProperty("seconds", StrCat("bsp ", bsp, ", ssp ", ssp, ", asp ", asp));
  EXPECT_GT(asp, 0.0);
  EXPECT_GE(bsp, 3.0 * asp);
  EXPECT_GT(ssp, asp);
  EXPECT_LT(ssp, bsp);
}

TEST(ZmqClusterTest, TrainsOverIpv6) {
  Options options = Real();
  options.network.bind = "::1";
  if (!ZmqRuntime::Create({.self = NodeId{5},
                           .listen = true,
                           .network = options.network,
                           .time_model = {},
                           .on_report = {},
                           .on_note = {}})
           .ok()) {
    GTEST_SKIP() << "no IPv6 loopback on this machine";
  }
  options.recipe.rule.lr = 0.01;

  ExpectAllWell(RunZmqCluster(options, MakeQuadratic(64, 1.0f), MakeNumbered(64)));
}

TEST(ZmqClusterTest, AWorkerWithoutASchedulerNamesTheAddressItTried) {
  Options options = Real();
  options.cluster.workers = 1;
  options.network.join_timeout = 2s;
  options.network.scheduler = "127.0.0.1:1";  // Nobody listens there.
  const auto time_model = TimeModel::Create(options.time, 1);
  auto runtime = ZmqRuntime::Create({.self = NodeId{77},
                                     .run_id = "a",
                                     .network = options.network,
                                     .time_model = *time_model,
                                     .on_report = {},
                                     .on_note = {}});
  ASSERT_THAT(runtime, IsOk());
  WorkerNode worker(NodeId{77}, options, MakeQuadratic(8, 1.0f), MakeNumbered(64));

  EXPECT_THAT((*runtime)->Run(worker), StatusIs(StatusCode::kDeadlineExceeded, "127.0.0.1:1"));
}

}  // namespace
}  // namespace slackline::testing
