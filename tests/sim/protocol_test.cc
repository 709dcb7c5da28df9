// What the protocol promises of gates, reads, memory and failures, over whole simulated clusters.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/support/sim_cluster.h"
#include "tests/support/status_matchers.h"

namespace slackline::testing {
namespace {

double SecondsOf(const char* gate, std::uint32_t slack) {
  Options options = SmallCluster();
  options.recipe.gate = gate;
  options.recipe.slack = slack;
  options.recipe.rule.lr = 0.01;
  options.cluster.rounds = 60;
  options.time.compute_time = "const:10";
  options.time.inject = {"slow:worker3:5x"};
  SimCluster cluster(options, MakeQuadratic(8, 1.0f), MakeNumbered(64));
  EXPECT_THAT(cluster.Run(), IsOk());
  // The time in which the first 160 updates were made: the same samples for every gate.
  for (const auto& traced : cluster.traces()) {
    if (traced.role == Role::kServer && traced.rank == 0 &&
        traced.event.kind == TraceEvent::Kind::kPushApplied && traced.event.version == 160) {
      return Seconds(traced.at);
    }
  }
  return 0;
}

TEST(GateOverNodesTest, ASlowWorkerHoldsUpBspMostAndAspNotAtAll) {
  const double bsp = SecondsOf("bsp", 0);
  const double ssp = SecondsOf("ssp", 3);
  const double asp = SecondsOf("asp", 0);

  EXPECT_GT(asp, 0.0);
  EXPECT_GE(bsp, 3.0 * asp);
  EXPECT_GT(ssp, asp);
  EXPECT_LT(ssp, bsp);
}

TEST(SnapshotTest, SlowReadersHoldNoMoreThanTheirBound) {
  // 100 workers read over slow links while each arrival replaces the parameters.
  Options options = SmallCluster();
  options.cluster.workers = 100;
  options.cluster.servers = 1;
  options.cluster.rounds = 5;
  options.cluster.max_snapshots = 3;
  options.cluster.segment_bytes = 1024;
  options.recipe.rule.lr = 0.001;
  options.sim.link_gbps = 0.001;  // 8 KiB take 65 ms.
  options.sim.encode = false;
  options.network.patience = 60s;
  const std::uint64_t elements = 2048;
  SimCluster cluster(options, MakeQuadratic(elements, 1.0f), MakeNumbered(64));
  std::uint64_t held_max = 0;

  for (bool more = true; more;) {
    more = cluster.runtime().Step();
    const ServerNode* server = cluster.server(0);
    if (server != nullptr && server->shard() != nullptr)
      held_max = std::max(held_max, server->shard()->held_bytes());
  }

  EXPECT_THAT(cluster.runtime().ExitStatus(Role::kScheduler, 0), IsOk());
  EXPECT_GT(held_max, elements * sizeof(float));
  EXPECT_LE(held_max, (3 + 1) * elements * sizeof(float));
}

TEST(PrefetchTest, OverlapsTheNextReadWithComputing) {
  const auto seconds = [](bool prefetch) {
    Options options = SmallCluster();
    options.cluster.prefetch = prefetch;
    options.recipe.rule.lr = 0.001;
    options.time.compute_time = "const:10";
    options.sim.link_latency_ms = 4;
    SimCluster cluster(options, MakeQuadratic(8, 1.0f), MakeNumbered(64));
    EXPECT_THAT(cluster.Run(), IsOk());
    return Seconds(cluster.summary()->running);
  };

  // 20 rounds of 10 ms, and 8 ms of round trip that prefetching hides.
  EXPECT_GE(seconds(false), 0.355);
  EXPECT_LE(seconds(true), 0.255);
}

TEST(FailureTest, AWorkerThatNeverJoinsIsNamed) {
  Options options = SmallCluster();
  options.network.join_timeout = 30s;
  options.sim.partition = {"worker2:0:900000000"};
  SimCluster cluster(options, MakeQuadratic(8, 1.0f), MakeNumbered(64));

  EXPECT_THAT(cluster.Run(), StatusIs(StatusCode::kUnavailable, "missing worker 2"));
}

TEST(FailureTest, ALostServerEndsTheRunByName) {
  Options options = SmallCluster();
  options.network.patience = 2s;
  options.cluster.rounds = 1000;
  options.sim.crash = {"server1:300:900000000"};
  SimCluster cluster(options, MakeQuadratic(8, 1.0f), MakeNumbered(64));

  EXPECT_THAT(cluster.Run(), StatusIs(StatusCode::kUnavailable, "server 1 was lost"));
}

TEST(FailureTest, AWorkerThatDoesNotComeBackEndsTheRunByName) {
  Options options = SmallCluster();
  options.network.patience = 1s;
  options.recipe.gate = "bsp";
  options.cluster.rounds = 1000;
  options.sim.crash = {"worker1:300:900000000"};
  SimCluster cluster(options, MakeQuadratic(8, 1.0f), MakeNumbered(64));

  EXPECT_THAT(cluster.Run(),
              StatusIs(StatusCode::kUnavailable, "worker 1 was lost and did not come back"));
}

// docs/PROTOCOL.md, "Accounting".
TEST(AccountingTest, MessagesAndBytesOfARoundAreWhatTheProtocolSays) {
  Options options = SmallCluster();
  options.cluster.segment_bytes = 128;
  options.recipe.rule.lr = 0.001;
  const std::uint64_t elements = 100, workers = 4, servers = 2, rounds = 20;
  const std::uint64_t chunks = 2 * 2;  // 50 values are 200 bytes: two chunks on each server.
  SimCluster cluster(options, MakeQuadratic(elements, 1.0f), MakeNumbered(64));

  ASSERT_THAT(cluster.Run(), IsOk());

  const auto expect = [&](MessageType type, std::uint64_t messages, std::uint64_t bytes_each) {
    EXPECT_EQ(cluster.delivered().at(type).messages, messages) << MessageTypeName(type);
    EXPECT_EQ(cluster.delivered().at(type).bytes, messages * bytes_each) << MessageTypeName(type);
  };
  expect(MessageType::kPush, workers * rounds * chunks, 145);
  expect(MessageType::kPullReply, workers * rounds * chunks, 150);
  expect(MessageType::kPull, workers * servers, 121);    // The first read.
  expect(MessageType::kPushAck, workers * servers, 85);  // Of the last push.
  for (const MemberStatus& member : cluster.summary()->members) {
    if (member.role != Role::kWorker) continue;
    EXPECT_EQ(member.statistics.pushes_sent, rounds);
    EXPECT_EQ(member.statistics.bytes_pushed, rounds * elements * sizeof(float));
    EXPECT_EQ(member.statistics.bytes_pulled, rounds * elements * sizeof(float));
  }
}

TEST(EdgeTest, OneParameterOnEightServers) {
  Options options = SmallCluster();
  options.cluster.servers = 8;
  options.recipe.rule.lr = 0.01;
  SimCluster cluster(options, MakeQuadratic(1, 1.0f), MakeNumbered(64));

  ASSERT_THAT(cluster.Run(), IsOk());

  EXPECT_EQ(cluster.DenseParameters().size(), 1u);
}

}  // namespace
}  // namespace slackline::testing
