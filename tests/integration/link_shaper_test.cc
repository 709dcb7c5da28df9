// Links between regions over real sockets: the arithmetic, and two processes' worth of runtimes.
#include "core/runtime/link_shaper.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/strings.h"
#include "core/runtime/zmq_runtime.h"
#include "tests/support/function_node.h"
#include "tests/support/status_matchers.h"

namespace slackline {
namespace {

constexpr NodeId kHere{100};
constexpr NodeId kThere{200};
constexpr NodeId kOther{300};

LinkOptions TwoRegions(double gbps, double latency_ms) {
  LinkOptions links;
  links.region_gbps = {0, gbps, gbps, 0};
  links.region_latency_ms = {0, latency_ms, latency_ms, 0};
  return links;
}

LinkShaper Shaper(const LinkOptions& links, std::uint64_t own_model_bytes = 0) {
  return LinkShaper(std::move(RegionLinks::Create(links, 2, own_model_bytes)).value(), 1);
}

// --- LinkShaper ---

TEST(LinkShaper, ShapesWhereBothEndsAreKnownAndThereAreLinks) {
  LinkShaper shaper = Shaper(TwoRegions(1, 5));
  EXPECT_TRUE(shaper.Locate(kThere, 1));
  EXPECT_FALSE(shaper.Shapes(kThere));
  EXPECT_EQ(shaper.DueAt(1ms, kThere, 1000, 0), 1ms);
  EXPECT_TRUE(shaper.LocateSelf(0));
  EXPECT_TRUE(shaper.Shapes(kThere));
  EXPECT_FALSE(shaper.Shapes(kOther));
  EXPECT_EQ(shaper.DueAt(1ms, kOther, 1000, 0), 1ms);

  LinkShaper names_only = Shaper(LinkOptions{});
  EXPECT_TRUE(names_only.LocateSelf(0));
  EXPECT_TRUE(names_only.Locate(kThere, 1));
  EXPECT_FALSE(names_only.Shapes(kThere));
}

TEST(LinkShaper, KnowsNoRegionBeyondTheLast) {
  LinkShaper shaper = Shaper(TwoRegions(1, 5));
  EXPECT_FALSE(shaper.LocateSelf(2));
  EXPECT_TRUE(shaper.LocateSelf(0));
  EXPECT_FALSE(shaper.Locate(kThere, 2));
  EXPECT_FALSE(shaper.Shapes(kThere));
}

TEST(LinkShaper, MessagesToAPeerQueueOnItsOwnLink) {
  LinkShaper shaper = Shaper(TwoRegions(2, 3));
  shaper.LocateSelf(0);
  shaper.Locate(kThere, 1);
  shaper.Locate(kOther, 1);

  EXPECT_EQ(shaper.DueAt(100ns, kThere, 1000, 0), 3ms + 4100ns);  // 8000 bits: 4000 ns
  EXPECT_EQ(shaper.DueAt(200ns, kThere, 500, 250), 3ms + 7100ns);
  EXPECT_EQ(shaper.DueAt(200ns, kOther, 500, 0), 3ms + 2200ns);
  EXPECT_EQ(shaper.DueAt(1s, kThere, 1000, 0), 1s + 3ms + 4000ns);
}

TEST(LinkShaper, IdealLinksCountNoHeadersAndScaleTheModel) {
  LinkOptions links = TwoRegions(1, 2);
  links.link_model = "ideal";
  links.model_bytes = 1'000'000;
  LinkShaper shaper = Shaper(links, 1000);
  shaper.LocateSelf(1);
  shaper.Locate(kThere, 0);

  EXPECT_EQ(shaper.DueAt(0ns, kThere, 0, 500), 2ms);
  EXPECT_EQ(shaper.DueAt(0ns, kThere, 1000, 500), 10ms);
}

TEST(LinkShaper, JitterAndAMoveKeepTheOrder) {
  LinkOptions links = TwoRegions(0, 5);
  links.region_jitter_ms = 20;
  LinkShaper shaper = Shaper(links);
  shaper.LocateSelf(0);
  shaper.Locate(kThere, 1);

  std::vector<Time> due;
  for (int i = 0; i < 50; ++i) due.push_back(shaper.DueAt(i * 1ms, kThere, 10, 0));
  shaper.Locate(kThere, 0);  // Where there is no delay.
  due.push_back(shaper.DueAt(50ms, kThere, 10, 0));

  EXPECT_TRUE(std::is_sorted(due.begin(), due.end()));
  EXPECT_GE(due.front(), 5ms);
  EXPECT_LT(due.back(), 75ms);
  EXPECT_GT(due[20], 25ms);
}

TEST(HeldMessages, LeaveInTheOrderOfTimeAndThenOfHolding) {
  HeldMessages held;
  const auto hold = [&](Time due, std::uint64_t number) {
    held.Hold(due, {kThere, Message(BarrierRelease{}), number});
  };
  hold(5ms, 1);
  hold(3ms, 2);
  hold(5ms, 3);
  hold(3ms, 4);

  EXPECT_EQ(held.next_due(), 3ms);
  EXPECT_FALSE(held.TakeDue(2ms).has_value());
  std::vector<std::uint64_t> order;
  while (auto next = held.TakeDue(4ms)) order.push_back(next->number);
  EXPECT_EQ(order, (std::vector<std::uint64_t>{2, 4}));
  while (auto next = held.TakeDue(5ms)) order.push_back(next->number);
  EXPECT_EQ(order, (std::vector<std::uint64_t>{2, 4, 1, 3}));
  EXPECT_TRUE(held.empty());
}

// --- ZmqRuntime ---

std::unique_ptr<ZmqRuntime> Runtime(NodeId self, bool listen, const LinkOptions& links) {
  ZmqRuntimeOptions options;
  options.self = self;
  options.listen = listen;
  options.links = links;
  options.cluster.regions = 2;
  auto runtime = ZmqRuntime::Create(std::move(options));
  EXPECT_THAT(runtime, IsOk());
  return std::move(runtime).value();
}

Message Text(std::string text) { return BarrierRelease{std::move(text)}; }

std::string TextOf(const Message& message) { return std::get<BarrierRelease>(message.body).name; }

// Gives up after ten seconds, with a status of its own.
constexpr TimerId kGiveUp{99};
void GiveUp(Time, TimerId, Outbox& out) { out.Exit(DeadlineExceeded("the peer did not answer")); }

// Sends back whatever it gets, and ends with the message that says so.
struct Echo {
  explicit Echo(const LinkOptions& links) : runtime(Runtime(kThere, /*listen=*/true, links)) {
    node.on_start = [](Time, Outbox& out) {
      out.located_at = 1;
      out.SetTimer(kGiveUp, 10s);
    };
    node.on_timer = GiveUp;
    node.on_message = [](Time, NodeId from, const Message& message, Outbox& out) {
      out.located.push_back({from, 0});
      out.SendTo(from, message);
      if (TextOf(message) == "end") out.Exit(Status::Ok());
    };
    thread = std::jthread([this] { status = runtime->Run(node); });
  }

  std::unique_ptr<ZmqRuntime> runtime;
  FunctionNode node;
  Status status;
  std::jthread thread;
};

struct Heard {
  Status status;
  std::vector<std::string> texts;
  Time sent{};
  Time last{};
};

// Sends the texts at once and ends when the last has come back.
Heard SendToEcho(const LinkOptions& links, const std::vector<std::string>& texts) {
  Heard heard;
  Echo echo(links);
  auto runtime = Runtime(kHere, /*listen=*/false, links);
  FunctionNode node;
  node.on_start = [&](Time now, Outbox& out) {
    out.located_at = 0;
    out.connects.push_back({kThere, echo.runtime->address(), 1});
    for (const std::string& text : texts) out.SendTo(kThere, Text(text));
    out.SetTimer(kGiveUp, 10s);
    heard.sent = now;
  };
  node.on_timer = GiveUp;
  node.on_message = [&](Time now, NodeId, const Message& message, Outbox& out) {
    heard.texts.push_back(TextOf(message));
    heard.last = now;
    if (heard.texts.size() == texts.size()) out.Exit(Status::Ok());
  };
  heard.status = runtime->Run(node);
  echo.thread.join();
  EXPECT_THAT(echo.status, IsOk());
  return heard;
}

TEST(ZmqRuntimeLinks, ARoundTripTakesTwiceTheLatency) {
  const Heard heard = SendToEcho(TwoRegions(0, 50), {"end"});

  EXPECT_THAT(heard.status, IsOk());
  EXPECT_GE(heard.last - heard.sent, 100ms);
  EXPECT_LT(heard.last - heard.sent, 5s);  // Not much is promised on a busy machine.
}

TEST(ZmqRuntimeLinks, MessagesComeInOrderAndNoneIsLostAtTheEnd) {
  LinkOptions links = TwoRegions(0.01, 20);
  links.region_jitter_ms = 20;
  std::vector<std::string> texts;
  for (int i = 0; i < 100; ++i) texts.push_back(StrCat("message ", i));
  texts.push_back("end");

  const Heard heard = SendToEcho(links, texts);

  EXPECT_THAT(heard.status, IsOk());
  EXPECT_EQ(heard.texts, texts);
}

TEST(ZmqRuntimeLinks, WhatIsDueTooLateIsSentAfterAWhile) {
  LinkOptions links;
  links.region_latency_ms = {0, 0, 3.6e6, 0};  // An hour on the way back.

  const Heard heard = SendToEcho(links, {"end"});

  EXPECT_THAT(heard.status, IsOk());
  EXPECT_GE(heard.last - heard.sent, 1900ms);
}

TEST(ZmqRuntimeLinks, RefusesAMatrixOfAnotherSize) {
  ZmqRuntimeOptions options;
  options.self = kHere;
  options.links = TwoRegions(1, 1);
  options.cluster.regions = 3;

  EXPECT_THAT(ZmqRuntime::Create(std::move(options)),
              StatusIs(StatusCode::kInvalidArgument, "3 regions need 9"));
}

}  // namespace
}  // namespace slackline
