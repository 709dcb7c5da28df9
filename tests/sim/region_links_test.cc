// Links between regions in virtual time. The matrix, sizes and times of HALoS (arXiv 2506.04531)
// are the yardstick: its clock knows bandwidth only.
#include "core/runtime/region_links.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/strings.h"
#include "core/runtime/sim_runtime.h"
#include "tests/support/function_node.h"
#include "tests/support/status_matchers.h"

namespace slackline {
namespace {

constexpr std::uint64_t kModelBytes = 281'706'496;

LinkOptions HalosLinks() {
  LinkOptions links;
  links.region_gbps = {100.0, 0.537, 0.935, 0.202, 0.537, 100.0, 0.386, 0.117,
                       0.935, 0.386, 100.0, 0.127, 0.202, 0.117, 0.127, 100.0};
  links.link_model = "ideal";
  return links;
}

RegionLinks Make(const LinkOptions& options, std::uint32_t regions,
                 std::uint64_t own_model_bytes = 0) {
  return std::move(RegionLinks::Create(options, regions, own_model_bytes)).value();
}

double Milliseconds(Duration duration) { return static_cast<double>(duration.count()) * 1e-6; }

double TransferMs(const RegionLinks& links, std::uint32_t from, std::uint32_t to) {
  return Milliseconds(LinkQueue{}.Occupy(links.Between(from, to), 0ns, kModelBytes, 0.0));
}

// --- RegionLinks ---

TEST(RegionLinks, OptionsWithoutMatricesHaveNone) {
  LinkOptions options;
  EXPECT_FALSE(Make(options, 4).exist());
  options.region_latency_ms = {0, 5, 5, 0};
  EXPECT_TRUE(Make(options, 2).exist());
  EXPECT_TRUE(Make(HalosLinks(), 4).exist());
}

TEST(RegionLinks, TransfersTakeThePublishedTimes) {
  const RegionLinks links = Make(HalosLinks(), 4);

  EXPECT_NEAR(TransferMs(links, 0, 0), 22.536520, 1e-6);
  EXPECT_NEAR(TransferMs(links, 0, 1), 4196.745, 1e-3);
  EXPECT_NEAR(TransferMs(links, 2, 0), 2410.323, 1e-3);
  EXPECT_NEAR(TransferMs(links, 0, 3), 11156.693, 1e-3);
  for (const auto& [region, ms] : {std::pair(0u, 45.073), std::pair(1u, 8393.490),
                                   std::pair(2u, 4820.646), std::pair(3u, 22313.386)}) {
    EXPECT_NEAR(TransferMs(links, region, 0) + TransferMs(links, 0, region), ms, 1e-3);
  }
}

TEST(RegionLinks, ARingOverAllWorkersTakesThePublishedTime) {
  const RegionLinks links = Make(HalosLinks(), 4);

  EXPECT_NEAR(links.RingAllReduce(kModelBytes, {4, 4, 4, 4}) * 1e3, 33272.421, 1e-3);
}

// 8 bits a byte; n = 4 workers pass a quarter on 6 times: 12 bits a byte over the slowest link.
TEST(RegionLinks, ARingIsAsSlowAsItsSlowestLink) {
  LinkOptions options;
  options.region_gbps = {8, 0.5, 4, 0.5, 2, 6, 4, 6, 10};
  const RegionLinks links = Make(options, 3);
  const std::uint64_t bytes = 1'000'000'000;

  EXPECT_DOUBLE_EQ(links.RingAllReduce(bytes, {2, 1, 1}), 12 / 0.5);  // There is one ring of three.
  EXPECT_DOUBLE_EQ(links.RingAllReduce(bytes, {2, 0, 2}), 12 / 4.0);
  EXPECT_DOUBLE_EQ(links.RingAllReduce(bytes, {0, 3, 1}), 12 / 2.0);  // Inside region 1.
  EXPECT_DOUBLE_EQ(links.RingAllReduce(bytes, {4, 0, 0}), 12 / 8.0);
  EXPECT_DOUBLE_EQ(links.RingAllReduce(bytes, {1, 0, 0}), 0.0);  // Nobody to exchange with.
}

TEST(RegionLinks, ALinkWithoutLimitSlowsNoRing) {
  LinkOptions options;
  options.region_gbps = {0, 2, 2, 0};
  EXPECT_DOUBLE_EQ(Make(options, 2).RingAllReduce(1'000'000'000, {2, 2}), 12 / 2.0);
  options.region_gbps = {0, 0, 0, 0};
  EXPECT_DOUBLE_EQ(Make(options, 2).RingAllReduce(1'000'000'000, {2, 2}), 0.0);
}

// A ring of `regions` with wide links from each to the next, hidden by a shuffle of names.
TEST(RegionLinks, FindsTheWideRing) {
  for (const std::uint32_t regions : {5u, 8u, 9u, 12u}) {
    SCOPED_TRACE(regions);
    LinkOptions options;
    options.region_gbps.assign(std::size_t{regions} * regions, 1.0);
    const auto name = [&](std::uint32_t place) { return (place * 7 + 3) % regions; };
    for (std::uint32_t place = 0; place < regions; ++place) {
      const std::uint32_t here = name(place), next = name((place + 1) % regions);
      options.region_gbps[here * regions + next] = 3;
      options.region_gbps[next * regions + here] = 3;
    }
    const double n = regions;

    const double seconds =
        Make(options, regions).RingAllReduce(1'000'000'000, std::vector<std::uint32_t>(regions, 1));

    EXPECT_DOUBLE_EQ(seconds, 2 * (n - 1) * (8 / n) / 3);
  }
}

TEST(RegionLinks, PartsOfAModelAddUpToWhatItCountsAs) {
  LinkOptions options = HalosLinks();
  options.model_bytes = kModelBytes;
  const std::uint64_t own = 11'048;
  const RegionLinks links = Make(options, 4, own);

  EXPECT_EQ(links.scale().Of(own), kModelBytes);
  for (const std::uint64_t parts : {2u, 7u, 1381u}) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < parts; ++i)
      sum += links.scale().Of(own * (i + 1) / parts - own * i / parts);
    EXPECT_LE(std::max(sum, kModelBytes) - std::min(sum, kModelBytes), parts);
  }
  EXPECT_EQ(Make(options, 4, 0).scale().Of(own), own);  // Of what, is not known.
  // No overflow on the way: 2^50 bytes stand for 2^40.
  options.model_bytes = std::uint64_t{1} << 50;
  EXPECT_EQ(Make(options, 4, std::uint64_t{1} << 40).scale().Of(std::uint64_t{1} << 40),
            std::uint64_t{1} << 50);
}

TEST(RegionLinks, RefusesWhatMakesNoSenseByName) {
  std::vector<std::pair<LinkOptions, std::string>> cases(5, {HalosLinks(), ""});
  cases[0].first.region_gbps.pop_back(), cases[0].second = "15";
  cases[1].first.region_gbps[3] = -1, cases[1].second = "-1";
  cases[2].first.region_latency_ms = {1, 2}, cases[2].second = "region-latency-ms";
  cases[3].first.region_jitter_ms = std::nan(""), cases[3].second = "region-jitter-ms";
  cases[4].first.link_model = "fast", cases[4].second = "'fast'";
  for (const auto& [options, named] : cases) {
    SCOPED_TRACE(named);
    const Result<RegionLinks> links = RegionLinks::Create(options, 4, 0);
    ASSERT_FALSE(links.ok());
    EXPECT_EQ(links.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(links.status().message().find(named), std::string::npos) << links.status().message();
  }
}

// --- In SimRuntime ---

// Two regions with two workers each; the server is in region 0.
SimRuntimeOptions TwoRegions(double gbps, double latency_ms = 0) {
  SimRuntimeOptions options;
  options.links.region_gbps = {8 * gbps, gbps, gbps, 8 * gbps};
  options.links.region_latency_ms = {0, latency_ms, latency_ms, 0};
  options.sim.encode = false;
  options.cluster.regions = 2;
  options.cluster.workers = 4;
  options.cluster.servers = 1;
  return options;
}

// Every worker sends a payload of so many bytes (nothing: stays silent) at time 0.
struct Arrival {
  std::uint64_t bytes;
  Time at;
};
struct Sent {
  std::vector<Arrival> arrivals;  // At the server, in order.
  LinkCounts total;
  std::vector<SimNetwork::Link> links;
};

NodeId AddNode(SimRuntime& runtime, Role role, std::uint32_t rank,
               const std::function<void(FunctionNode&)>& set_up) {
  return runtime.AddNode(role, rank, [set_up](NodeId) {
    auto node = std::make_unique<FunctionNode>();
    set_up(*node);
    return node;
  });
}

Sent SendFromWorkers(const SimRuntimeOptions& options, const std::vector<std::uint64_t>& bytes) {
  Sent sent;
  auto runtime = std::move(SimRuntime::Create(options)).value();
  const NodeId server = AddNode(*runtime, Role::kServer, 0, [&](FunctionNode& node) {
    node.on_message = [&](Time now, NodeId, const Message& message, Outbox&) {
      sent.arrivals.push_back({message.payload.size(), now});
    };
  });
  for (std::uint32_t rank = 0; rank < bytes.size(); ++rank) {
    if (bytes[rank] == 0) continue;
    AddNode(*runtime, Role::kWorker, rank, [size = bytes[rank], server](FunctionNode& node) {
      node.on_start = [=](Time, Outbox& out) {
        out.SendTo(server, Message(Push{}, Buffer::TimingOnly(size)));
      };
    });
  }
  EXPECT_THAT(runtime->RunUntil(1000s), IsOk());
  sent.total = runtime->network().Total();
  sent.links = runtime->network().Links();
  return sent;
}

TEST(RegionLinksInVirtualTime, WorkersOfARegionShareTheLinkOrHaveAllOfItEach) {
  SimRuntimeOptions options = TwoRegions(1, 30);
  const std::uint64_t bytes = 1'000'000'000;

  options.links.link_model = "ideal";
  const Sent ideal = SendFromWorkers(options, {0, 0, bytes, bytes});
  options.links.link_model = "shared";
  const Sent shared = SendFromWorkers(options, {0, 0, bytes, bytes});

  ASSERT_EQ(ideal.arrivals.size(), 2u);
  EXPECT_EQ(ideal.arrivals[0].at, 8s + 30ms);
  EXPECT_EQ(ideal.arrivals[1].at, 8s + 30ms);
  ASSERT_EQ(shared.arrivals.size(), 2u);
  // A header counts 8 ns a byte, and is no longer than a kilobyte.
  const Duration header = Duration(shared.total.header_bytes / 2 * 8);
  EXPECT_GT(header, 0ns);
  EXPECT_LT(header, 8us);
  EXPECT_EQ(shared.arrivals[0].at, 8s + 30ms + header);
  EXPECT_EQ(shared.arrivals[1].at, 16s + 30ms + 2 * header);
  ASSERT_EQ(ideal.links.size(), 2u);
  EXPECT_EQ(ideal.links[0].name, "worker2 -> server0");
  ASSERT_EQ(shared.links.size(), 1u);
  EXPECT_EQ(shared.links[0].name, "region1 -> region0");
  EXPECT_EQ(shared.links[0].counts.payload_bytes, 2 * bytes);
}

TEST(RegionLinksInVirtualTime, InsideARegionTheDiagonalHolds) {
  SimRuntimeOptions options = TwoRegions(1, 30);
  options.links.link_model = "ideal";

  const Sent sent = SendFromWorkers(options, {1'000'000'000, 500'000'000, 0, 0});

  ASSERT_EQ(sent.arrivals.size(), 2u);
  EXPECT_EQ(sent.arrivals[0].at, 500ms);
  EXPECT_EQ(sent.arrivals[1].at, 1s);
}

TEST(RegionLinksInVirtualTime, EveryLinkHasTheFaultsThatAreAskedFor) {
  for (const std::string model : {"ideal", "shared"}) {
    SCOPED_TRACE(model);
    SimRuntimeOptions options = TwoRegions(1);
    options.links.link_model = model;
    options.sim.loss = 1;
    const Sent lost = SendFromWorkers(options, {1000, 0, 1000, 0});
    EXPECT_EQ(lost.arrivals.size(), 0u);
    EXPECT_EQ(lost.total.dropped, 2u);
    options.sim.loss = 0;
    options.sim.partition = {"worker2:0"};
    EXPECT_EQ(SendFromWorkers(options, {1000, 0, 1000, 0}).arrivals.size(), 1u);
  }
}

TEST(RegionLinksInVirtualTime, TimesScaleWithAllBandwidths) {
  for (const std::string model : {"ideal", "shared"}) {
    SCOPED_TRACE(model);
    const std::vector<std::uint64_t> bytes = {1'000'003, 77'777, 33'333'331, 7};
    SimRuntimeOptions options = TwoRegions(0.537);
    options.links.link_model = model;
    const Sent slow = SendFromWorkers(options, bytes);
    options = TwoRegions(4 * 0.537);
    options.links.link_model = model;
    const Sent fast = SendFromWorkers(options, bytes);

    ASSERT_EQ(slow.arrivals.size(), 4u);
    ASSERT_EQ(fast.arrivals.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(slow.arrivals[i].bytes, fast.arrivals[i].bytes);
      // Two messages at most queue on one link: half a nanosecond each, and four for the slow one.
      EXPECT_NEAR(static_cast<double>(slow.arrivals[i].at.count()) / 4,
                  static_cast<double>(fast.arrivals[i].at.count()), 2.0);
    }
  }
}

TEST(RegionLinksInVirtualTime, ASmallModelTakesTheTimeOfALargeOne) {
  SimRuntimeOptions options;
  options.links = HalosLinks();
  options.links.model_bytes = kModelBytes;
  options.cluster.regions = 4;
  options.cluster.workers = 16;
  options.own_model_bytes = 11'048;
  std::vector<std::uint64_t> bytes(16, 0);
  bytes[0] = bytes[4] = bytes[15] = options.own_model_bytes;

  const Sent sent = SendFromWorkers(options, bytes);

  ASSERT_EQ(sent.arrivals.size(), 3u);
  EXPECT_NEAR(Milliseconds(sent.arrivals[0].at), 22.536520, 1e-6);
  EXPECT_NEAR(Milliseconds(sent.arrivals[1].at), 4196.745, 1e-3);
  EXPECT_NEAR(Milliseconds(sent.arrivals[2].at), 11156.693, 1e-3);
  EXPECT_EQ(sent.total.payload_bytes, 3 * options.own_model_bytes);  // The real ones.
}

TEST(RegionLinksInVirtualTime, ARingTakesTheTimeOfAnAllReduceAndOfNoMessage) {
  SimRuntimeOptions options;
  options.links = HalosLinks();
  options.links.region_latency_ms.assign(16, 50.0);
  options.links.model_bytes = kModelBytes;
  options.cluster.regions = 4;
  options.cluster.workers = 16;
  options.own_model_bytes = 11'048;
  options.sim.collective = "ring";
  options.sim.apply_ms = 3;
  auto runtime = std::move(SimRuntime::Create(options)).value();
  std::vector<Time> pushed, applied, answered, evaluated;
  NodeId evaluator{};
  const NodeId server = AddNode(*runtime, Role::kServer, 0, [&](FunctionNode& node) {
    auto worker = std::make_shared<NodeId>();
    node.on_message = [&, worker](Time now, NodeId from, const Message&, Outbox& out) {
      pushed.push_back(now);
      *worker = from;
      out.jobs.push_back({.id = JobId{1}, .kind = Job::Kind::kApply});
    };
    node.on_job_done = [&, worker](Time now, JobId, Outbox& out) {
      applied.push_back(now);
      out.SendTo(*worker, Message(PullReply{}, Buffer::TimingOnly(11'048)));
      out.SendTo(evaluator, Message(PullReply{}, Buffer::TimingOnly(11'048)));
    };
  });
  AddNode(*runtime, Role::kWorker, 15, [&](FunctionNode& node) {
    node.on_start = [=](Time, Outbox& out) {
      out.SendTo(server, Message(Push{}, Buffer::TimingOnly(11'048)));
    };
    node.on_message = [&](Time now, NodeId, const Message&, Outbox&) { answered.push_back(now); };
  });
  evaluator = AddNode(*runtime, Role::kEvaluator, 0, [&](FunctionNode& node) {
    node.on_message = [&](Time now, NodeId, const Message&, Outbox&) { evaluated.push_back(now); };
  });

  EXPECT_THAT(runtime->RunUntil(1000s), IsOk());

  EXPECT_EQ(pushed, std::vector<Time>{0ns});
  ASSERT_EQ(applied.size(), 1u);
  EXPECT_NEAR(Milliseconds(applied[0]), 33272.421, 1e-3);
  EXPECT_EQ(answered, applied);
  ASSERT_EQ(evaluated.size(), 1u);
  EXPECT_NEAR(Milliseconds(evaluated[0] - applied[0]), 22.536520 + 50, 1e-5);
}

TEST(RegionLinksInVirtualTime, ARingNeedsLinksAndASize) {
  SimRuntimeOptions options = TwoRegions(1);
  options.sim.collective = "ring";
  EXPECT_FALSE(SimRuntime::Create(options).ok());
  options.own_model_bytes = 1000;
  EXPECT_TRUE(SimRuntime::Create(options).ok());
  options.links = LinkOptions{};
  EXPECT_FALSE(SimRuntime::Create(options).ok());
}

TEST(RegionLinksInVirtualTime, WithoutRegionLinksPlacesMakeNoDifference) {
  SimRuntimeOptions options;
  options.sim.link_gbps = 1;
  options.sim.link_latency_ms = 2;
  const Sent one = SendFromWorkers(options, {1000, 1000, 1000, 1000});
  options.cluster.regions = 2;
  options.own_model_bytes = 8;
  options.links.model_bytes = 8000;
  options.links.region_jitter_ms = 5;
  options.links.link_model = "ideal";
  const Sent two = SendFromWorkers(options, {1000, 1000, 1000, 1000});

  ASSERT_EQ(one.arrivals.size(), 4u);
  ASSERT_EQ(two.arrivals.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(one.arrivals[i].at, two.arrivals[i].at);
  EXPECT_EQ(one.links[0].name, "worker0 -> server0");
  EXPECT_EQ(two.links[0].name, "worker0 -> server0");
}

}  // namespace
}  // namespace slackline
