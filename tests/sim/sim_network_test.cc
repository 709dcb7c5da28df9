#include "core/runtime/sim_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace slackline {
namespace {

using Endpoint = SimNetwork::Endpoint;

SimNetwork Make(const SimOptions& options, std::uint64_t seed = 1) {
  return std::move(SimNetwork::Create(options, seed)).value();
}

std::vector<Time> Times(const SimNetwork::Arrivals& arrivals) {
  return {arrivals.begin(), arrivals.end()};
}

LinkModel Gbps(double gbps, Duration latency = 0ns) {
  LinkModel model;
  model.gbps = gbps;
  model.latency = latency;
  return model;
}

TEST(SimNetwork, ArrivalIsTheSumOfWaitingTransferAndLatency) {
  SimOptions options;
  options.link_gbps = 2;
  options.link_latency_ms = 3;
  SimNetwork network = Make(options);
  const Endpoint a = network.AddEndpoint(Role::kWorker, 0);
  const Endpoint b = network.AddEndpoint(Role::kServer, 0);

  const auto first = Times(network.Send(100ns, a, b, 1000, 0));    // 8000 bits: 4000 ns
  const auto second = Times(network.Send(200ns, a, b, 500, 250));  // 6000 bits: 3000 ns
  const auto back = Times(network.Send(200ns, b, a, 500, 0));      // its own direction
  const auto later = Times(network.Send(1s, a, b, 1000, 0));       // the link is free again

  EXPECT_EQ(first, std::vector<Time>{3ms + 4100ns});
  EXPECT_EQ(second, std::vector<Time>{3ms + 7100ns});
  EXPECT_EQ(back, std::vector<Time>{3ms + 2200ns});
  EXPECT_EQ(later, std::vector<Time>{1s + 3ms + 4000ns});
}

TEST(SimNetwork, ChunksTakeAsLongAsTheWhole) {
  SimOptions options;
  options.link_gbps = 1;
  SimNetwork network = Make(options);
  const Endpoint a = network.AddEndpoint(Role::kWorker, 0);
  const Endpoint b = network.AddEndpoint(Role::kServer, 0);

  Time last{};
  for (int chunk = 0; chunk < 10; ++chunk) last = *network.Send(0ns, a, b, 1000, 0).begin();

  EXPECT_EQ(last, 80'000ns);
}

TEST(SimNetwork, HeadersTakeNoTimeWhereOnlyPayloadsCount) {
  SimOptions options;
  options.link_gbps = 1;
  SimNetwork network = Make(options);
  network.SetHeadersTakeTime(false);
  const Endpoint a = network.AddEndpoint(Role::kWorker, 0);
  const Endpoint b = network.AddEndpoint(Role::kServer, 0);

  EXPECT_EQ(Times(network.Send(0ns, a, b, 1000, 64)), std::vector<Time>{8000ns});
  EXPECT_EQ(network.Total().payload_bytes, 1000u);
  EXPECT_EQ(network.Total().header_bytes, 64u);
}

TEST(SimNetwork, ProcessesOfARegionShareItsLinkAndNotTheirInside) {
  SimNetwork network = Make(SimOptions{});
  const Endpoint w0 = network.AddEndpoint(Role::kWorker, 0);
  const Endpoint w1 = network.AddEndpoint(Role::kWorker, 1);
  const Endpoint local = network.AddEndpoint(Role::kServer, 0);
  const Endpoint global = network.AddEndpoint(Role::kServer, 1);
  const SimNetwork::Site east = network.AddSite("east");
  const SimNetwork::Site hub = network.AddSite("hub");
  for (const Endpoint endpoint : {w0, w1, local}) network.PlaceAt(endpoint, east);
  network.PlaceAt(global, hub);
  network.SetLink(east, hub, Gbps(1, 10us));
  network.SetInside(east, Gbps(8));

  EXPECT_EQ(Times(network.Send(0ns, w0, global, 1000, 0)), std::vector<Time>{18'000ns});
  EXPECT_EQ(Times(network.Send(0ns, w1, global, 1000, 0)), std::vector<Time>{26'000ns});
  EXPECT_EQ(Times(network.Send(0ns, w0, local, 1000, 0)), std::vector<Time>{1000ns});
  EXPECT_EQ(Times(network.Send(0ns, w1, local, 1000, 0)), std::vector<Time>{1000ns});
  ASSERT_EQ(network.Links().size(), 3u);
  EXPECT_EQ(network.Links()[0].name, "east -> hub");
  EXPECT_EQ(network.Links()[0].counts.payload_bytes, 2000u);
  EXPECT_EQ(network.Links()[1].name, "worker0 -> server0");
}

TEST(SimNetwork, TimesScaleWithBandwidth) {
  for (const double k : {1.0, 2.0, 5.0, 10.0}) {
    SCOPED_TRACE(k);
    SimOptions options;
    options.link_gbps = k;
    SimNetwork network = Make(options);
    const Endpoint a = network.AddEndpoint(Role::kWorker, 0);
    const Endpoint b = network.AddEndpoint(Role::kServer, 0);
    Time last{};
    for (std::uint64_t bytes = 1000; bytes <= 10'000; bytes += 1000) {
      last = *network.Send(0ns, a, b, bytes, 0).begin();
    }
    EXPECT_EQ(static_cast<double>(last.count()) * k, 55'000.0 * 8);
  }
}

TEST(SimNetwork, JitterKeepsTheOrder) {
  SimOptions options;
  options.link_jitter_ms = 5;
  SimNetwork network = Make(options);
  const Endpoint a = network.AddEndpoint(Role::kWorker, 0);
  const Endpoint b = network.AddEndpoint(Role::kServer, 0);

  std::vector<Time> arrivals;
  for (int i = 0; i < 200; ++i) arrivals.push_back(*network.Send(i * 1ms, a, b, 10, 0).begin());

  EXPECT_TRUE(std::is_sorted(arrivals.begin(), arrivals.end()));
  EXPECT_LT(arrivals.back(), 204ms);
  EXPECT_GT(std::set<Time>(arrivals.begin(), arrivals.end()).size(), 50u);
}

TEST(SimNetwork, FaultsComeAsOftenAsAsked) {
  SimOptions options;
  options.loss = 0.1;
  options.duplicate = 0.2;
  options.reorder = 0.3;
  SimNetwork network = Make(options);
  const Endpoint a = network.AddEndpoint(Role::kWorker, 0);
  const Endpoint b = network.AddEndpoint(Role::kServer, 0);

  std::size_t lost = 0, twice = 0;
  bool overtaken = false;
  Time previous{};
  for (int i = 0; i < 10'000; ++i) {
    const auto times = Times(network.Send(i * 100us, a, b, 10, 0));
    if (times.empty()) ++lost;
    if (times.size() == 2) ++twice;
    if (!times.empty()) {
      overtaken = overtaken || times[0] < previous;
      previous = times[0];
    }
  }

  // Five standard deviations of a binomial are at most 250 here.
  EXPECT_NEAR(static_cast<double>(lost), 1000, 150);
  EXPECT_NEAR(static_cast<double>(twice), 1800, 200);
  EXPECT_NEAR(static_cast<double>(network.Total().reordered), 3600, 300);
  EXPECT_EQ(network.Total().duplicated, twice);
  EXPECT_EQ(network.Total().messages, 10'000u);
  EXPECT_TRUE(overtaken);
}

TEST(SimNetwork, AnotherWorkerShiftsNoDraw) {
  SimOptions options;
  options.loss = 0.5;
  SimNetwork small = Make(options);
  SimNetwork large = Make(options);
  const Endpoint a = small.AddEndpoint(Role::kWorker, 1);
  const Endpoint b = small.AddEndpoint(Role::kServer, 0);
  const Endpoint extra = large.AddEndpoint(Role::kWorker, 0);
  const Endpoint b2 = large.AddEndpoint(Role::kServer, 0);
  const Endpoint a2 = large.AddEndpoint(Role::kWorker, 1);

  std::vector<std::size_t> alone, together;
  for (int i = 0; i < 100; ++i) {
    alone.push_back(small.Send(0ns, a, b, 1, 0).size());
    (void)large.Send(0ns, extra, b2, 1, 0);
    together.push_back(large.Send(0ns, a2, b2, 1, 0).size());
  }

  EXPECT_EQ(alone, together);
  EXPECT_EQ(std::count(alone.begin(), alone.end(), 0) > 20, true);
}

TEST(SimNetwork, APartitionLosesWhatIsUnderWayInIt) {
  SimOptions options;
  options.link_latency_ms = 10;
  options.partition = {"worker1:100:200"};
  SimNetwork network = Make(options);
  const Endpoint cut = network.AddEndpoint(Role::kWorker, 1);
  const Endpoint other = network.AddEndpoint(Role::kWorker, 0);
  const Endpoint server = network.AddEndpoint(Role::kServer, 0);

  EXPECT_EQ(network.Send(89ms, cut, server, 1, 0).size(), 1u);
  EXPECT_EQ(network.Send(90ms, cut, server, 1, 0).size(), 0u);  // Arrives at 100 ms.
  EXPECT_EQ(network.Send(150ms, server, cut, 1, 0).size(), 0u);
  EXPECT_EQ(network.Send(150ms, other, server, 1, 0).size(), 1u);
  EXPECT_EQ(network.Send(200ms, cut, server, 1, 0).size(), 1u);
  EXPECT_EQ(network.Total().dropped, 2u);
}

TEST(SimNetwork, RefusesOptionsThatMakeNoSense) {
  std::vector<std::pair<SimOptions, std::string>> cases(5);
  cases[0].first.link_gbps = -1, cases[0].second = "-1";
  cases[1].first.link_latency_ms = -2, cases[1].second = "-2";
  cases[2].first.loss = 1.5, cases[2].second = "1.5";
  cases[3].first.reorder = -0.25, cases[3].second = "-0.25";
  cases[4].first.partition = {"worker:1:2"}, cases[4].second = "worker:1:2";
  for (const auto& [options, named] : cases) {
    SCOPED_TRACE(named);
    const Result<SimNetwork> network = SimNetwork::Create(options, 1);
    ASSERT_FALSE(network.ok());
    EXPECT_EQ(network.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(network.status().message().find(named), std::string::npos)
        << network.status().message();
  }
}

TEST(FaultWindow, ParsesProcessesAndTimes) {
  const auto worker = ParseFaultWindow("worker12:1.5:20");
  ASSERT_TRUE(worker.ok());
  EXPECT_EQ(worker->role, Role::kWorker);
  EXPECT_EQ(worker->rank, 12u);
  EXPECT_EQ(worker->from, 1500us);
  EXPECT_EQ(worker->to, 20ms);

  const auto scheduler = ParseFaultWindow("scheduler:5");
  ASSERT_TRUE(scheduler.ok());
  EXPECT_EQ(scheduler->role, Role::kScheduler);
  EXPECT_EQ(scheduler->to, kNever);
}

TEST(FaultWindow, RefusesAnythingElseByName) {
  for (const std::string text :
       {"", "worker1", "worker:1:2", "router0:1:2", "worker1x:1:2", "worker-1:1:2", "server0:2:1",
        "server0:1:1", "server0:a:2", "server0:1:2:3", "server0:-1:2", "server0:nan:2"}) {
    SCOPED_TRACE(text);
    const auto window = ParseFaultWindow(text);
    ASSERT_FALSE(window.ok());
    EXPECT_EQ(window.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(window.status().message().find("'" + text + "'"), std::string::npos);
  }
}

}  // namespace
}  // namespace slackline
