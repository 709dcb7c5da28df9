#include "server/decider.h"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace slackline {
namespace {

std::unique_ptr<Decider> MakeDecider(const char* gate, std::uint32_t slack, const char* collector,
                                     const char* data_order = "shard") {
  Options options;
  options.cluster.workers = 2;
  options.cluster.evaluate_every_samples = 100;
  options.recipe.gate = gate;
  options.recipe.slack = slack;
  options.recipe.collector = collector;
  options.recipe.data_order = data_order;
  options.recipe.batch = 10;
  auto decider = Decider::Create(options, Topology(options.cluster).GlobalTier(), 50,
                                 /*makes_cuts=*/true);
  EXPECT_THAT(decider, IsOk());
  return std::move(decider).value();
}

std::vector<Decision::Kind> Kinds(const Decider::Log& log) {
  std::vector<Decision::Kind> kinds;
  for (const Decision& decision : log) kinds.push_back(decision.kind);
  return kinds;
}

using Kind = Decision::Kind;

OfferedPush Pushed(std::uint32_t rank, std::uint64_t seq) {
  return {.rank = rank, .seq = seq, .samples = 10};
}

TEST(DeciderTest, AReadWaitsForTheGateAndIsGrantedBehindWhatOpensIt) {
  auto decider = MakeDecider("bsp", 0, "all");
  Decider::Log log;
  decider->OnStaged(Pushed(0, 0), log);
  decider->OnRead(0, 11, /*round=*/1, /*own=*/1, log);
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(decider->waiting(), 1u);

  decider->OnStaged(Pushed(1, 0), log);

  ASSERT_EQ(Kinds(log), (std::vector<Kind>{Kind::kApply, Kind::kCut, Kind::kGrant}));
  EXPECT_EQ(log[0].pushes.size(), 2u);
  EXPECT_EQ(log[0].pushes[0].weight, 0.5f);
  EXPECT_EQ(log[0].samples, 20u);
  EXPECT_EQ(log[2].request, 11u);
  EXPECT_EQ(decider->waiting(), 0u);
}

TEST(DeciderTest, PushesAreOfferedInTheOrderOfTheirSeq) {
  auto decider = MakeDecider("asp", 0, "each");
  Decider::Log log;

  decider->OnStaged(Pushed(0, 1), log);
  EXPECT_TRUE(log.empty());
  decider->OnStaged(Pushed(0, 0), log);
  decider->OnStaged(Pushed(0, 0), log);  // Again: it has been decided.

  std::vector<std::uint64_t> seqs;
  for (const Decision& decision : log) {
    if (decision.kind == Kind::kApply) seqs.push_back(decision.pushes[0].seq);
  }
  EXPECT_EQ(seqs, (std::vector<std::uint64_t>{0, 1}));
}

TEST(DeciderTest, ANewLifeTakesUpBehindWhatWasOffered) {
  auto decider = MakeDecider("asp", 0, "all");
  Decider::Log log;
  decider->OnStaged(Pushed(0, 0), log);  // Held by the collector: it counts.
  decider->OnStaged(Pushed(0, 2), log);  // Ahead of its predecessor: it does not.

  decider->OnOpen(0, NodeId{99}, {}, log);

  ASSERT_EQ(Kinds(log), (std::vector<Kind>{Kind::kOpen}));
  EXPECT_EQ(log[0].seq, 1u);
  EXPECT_EQ(log[0].sender, NodeId{99});
}

TEST(DeciderTest, ARoundReadAgainKeepsItsPlaceInTheData) {
  auto decider = MakeDecider("asp", 0, "each", "global");
  Decider::Log log;
  decider->OnRead(0, 1, 0, 0, log);
  decider->OnRead(1, 1, 0, 0, log);
  decider->OnRead(0, 2, 0, 0, log);  // A life that was lost asks again.
  decider->OnRead(0, 3, 1, 0, log);

  ASSERT_EQ(log.size(), 4u);
  EXPECT_EQ(log[0].data_begin, 0u);
  EXPECT_EQ(log[1].data_begin, 10u);
  EXPECT_EQ(log[2].data_begin, 0u);
  EXPECT_EQ(log[3].data_begin, 20u);
}

TEST(DeciderTest, CutsComeBySamplesAndTheLastWhenAllHaveLeft) {
  auto decider = MakeDecider("asp", 0, "each");
  Decider::Log log;
  decider->OnStart(log);
  for (std::uint64_t seq = 0; seq < 21; ++seq) decider->OnStaged(Pushed(0, seq), log);
  decider->OnClose(0, log);
  decider->OnClose(1, log);

  std::vector<std::pair<std::uint64_t, std::uint64_t>> cuts;  // Number and samples.
  for (const Decision& decision : log) {
    if (decision.kind == Kind::kCut) cuts.emplace_back(decision.cut, decision.samples);
  }
  EXPECT_EQ(cuts, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{
                      {1, 0}, {2, 100}, {3, 200}, {4, 210}}));
  EXPECT_TRUE(log.back().last);
}

}  // namespace
}  // namespace slackline
