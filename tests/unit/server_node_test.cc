// What a server does before its run has formed: fed by hand, without a runtime.
#include "server/server_node.h"

#include <gtest/gtest.h>

#include <optional>
#include <variant>
#include <vector>

#include "core/runtime/node.h"

namespace slackline {
namespace {

constexpr NodeId kSelf{7};

SessionOpen OpenOf(std::uint32_t rank) { return {.rank = rank, .senders = {}}; }

// One server of two workers, welcomed as rank 0, that has not heard that the run goes.
class EarlyOpenTest : public ::testing::Test {
 protected:
  EarlyOpenTest() {
    options_.cluster.workers = 2;
    options_.cluster.servers = 1;
    options_.cluster.rounds = 3;
    server_.emplace(kSelf, options_, "tcp://here:1");
    server_->OnStart(now_, out_);
    Tell(kSchedulerNode, Welcome{.role = Role::kServer, .rank = 0});
  }

  void Tell(NodeId from, Message message) {
    out_.Clear();
    server_->OnMessage(now_, from, message, out_);
  }

  void TellThatTheRunGoes() {
    Roster roster;
    roster.epoch = 1;
    roster.phase = Phase::kRunning;
    roster.workers = 2;
    roster.rounds = 3;
    roster.parameters.tensors.push_back({"x", {8}, {}});
    roster.servers.push_back(
        {.rank = 0, .node = kSelf, .address = "tcp://here:1", .range = {0, 8}});
    Tell(kSchedulerNode, roster);
  }

  // Whom the last call told that their session is open, in order.
  std::vector<NodeId> Opened() const {
    std::vector<NodeId> opened;
    for (const Outbox::Send& send : out_.sends) {
      if (std::holds_alternative<SessionOpened>(send.message.body)) opened.push_back(send.to);
    }
    return opened;
  }

  const Time now_{};
  Options options_;
  Outbox out_;
  std::optional<ServerNode> server_;
};

TEST_F(EarlyOpenTest, IsAnsweredWhenTheRunGoes) {
  Tell(NodeId{100}, OpenOf(0));
  EXPECT_TRUE(Opened().empty());
  Tell(NodeId{101}, OpenOf(1));

  TellThatTheRunGoes();

  EXPECT_EQ(Opened(), (std::vector<NodeId>{NodeId{100}, NodeId{101}}));
}

TEST_F(EarlyOpenTest, IsAnsweredOnceToWhoeverAskedAgain) {
  Tell(NodeId{100}, OpenOf(0));
  Tell(NodeId{100}, OpenOf(0));

  TellThatTheRunGoes();

  EXPECT_EQ(Opened(), std::vector<NodeId>{NodeId{100}});
}

TEST_F(EarlyOpenTest, NoMoreAreKeptThanThereAreClients) {
  for (std::uint64_t i = 0; i < 50; ++i) Tell(NodeId{100 + i}, OpenOf(0));

  TellThatTheRunGoes();

  EXPECT_EQ(Opened(), (std::vector<NodeId>{NodeId{100}, NodeId{101}}));
}

TEST_F(EarlyOpenTest, OneThatFitsNobodyIsRefused) {
  Tell(NodeId{100}, OpenOf(9));

  TellThatTheRunGoes();

  ASSERT_TRUE(Opened().empty());
  ASSERT_FALSE(out_.sends.empty());
  EXPECT_TRUE(std::holds_alternative<Refused>(out_.sends.back().message.body));
}

// A rank comes from the network.
TEST_F(EarlyOpenTest, AServerThatThereIsNotKeepsNothingAndLeaves) {
  server_.emplace(kSelf, options_, "tcp://here:1");
  server_->OnStart(now_, out_);
  Tell(kSchedulerNode, Welcome{.role = Role::kServer, .rank = 1u << 30});
  Tell(NodeId{100}, OpenOf(0));

  TellThatTheRunGoes();

  EXPECT_TRUE(Opened().empty());
  EXPECT_EQ(server_->shard(), nullptr);
}

// Two servers that will answer otherwise must not pass for the same.
TEST_F(EarlyOpenTest, IsPartOfTheState) {
  const std::uint64_t before = server_->StateDigest();
  Tell(NodeId{100}, OpenOf(0));
  EXPECT_NE(server_->StateDigest(), before);
}

}  // namespace
}  // namespace slackline
