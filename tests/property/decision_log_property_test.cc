// A decision log, whatever order of arrivals it came from, gives the same parameters bit for bit on
// any number of shards, for every element-wise rule: logs that are drawn, and those of real runs in
// virtual time.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/policy/placement.h"
#include "core/runtime/replay.h"
#include "kernels/rule.h"
#include "server/shard.h"
#include "slackline/random.h"
#include "tests/support/fresh_folder.h"
#include "tests/support/sim_cluster.h"
#include "tests/support/status_matchers.h"

namespace slackline::testing {
namespace {

constexpr std::uint64_t kElements = 1003;
constexpr std::uint64_t kSeed = 5;
constexpr float kWeightDecay = 0.01f;

struct LoggedUpdate {
  std::vector<std::pair<float, std::vector<float>>> pushes;  // Weight and gradient.
  float lr;
};

// As asp would decide: mostly single pushes, now and then several with weights.
std::vector<LoggedUpdate> DrawLog(RandomSequence& draw) {
  std::vector<LoggedUpdate> log;
  for (int u = 0; u < 12; ++u) {
    LoggedUpdate update{.pushes = {}, .lr = static_cast<float>(0.2 * draw.Uniform())};
    const std::uint64_t pushes = draw.Chance(0.7) ? 1 : 2 + draw.Below(3);
    for (std::uint64_t p = 0; p < pushes; ++p) {
      std::vector<float> gradient(kElements);
      for (float& value : gradient) value = static_cast<float>(draw.Uniform() - 0.5);
      update.pushes.emplace_back(pushes == 1 ? 1.0f : static_cast<float>(draw.Uniform()),
                                 std::move(gradient));
    }
    log.push_back(std::move(update));
  }
  return log;
}

std::vector<float> Execute(const std::vector<LoggedUpdate>& log, std::string_view rule_name,
                           std::uint32_t servers, std::uint64_t segment_elements) {
  ParameterSpec spec;
  spec.tensors.push_back({"x", {kElements}, {1.0f}});
  std::vector<float> all;
  for (const ShardRange& range : PlaceDense(kElements, servers)) {
    auto rule = MakeRule({.name = std::string(rule_name), .weight_decay = kWeightDecay});
    EXPECT_THAT(rule, IsOk());
    Shard shard({.range = range, .seed = kSeed, .segment_elements = segment_elements}, spec,
                std::move(rule).value());
    std::uint64_t step = 0;
    for (const LoggedUpdate& logged : log) {
      Update update{.contributions = {}, .lr = logged.lr, .step = ++step};
      for (const auto& [weight, gradient] : logged.pushes) {
        const auto mine = std::span(gradient).subspan(range.begin, range.size());
        update.contributions.push_back(
            {.weight = weight, .dense = {{0, range.size(), Buffer::CopyOf(mine)}}, .rows = {}});
      }
      // A reader holds every other version: written beside, not in place, and equal all the same.
      const auto reader = step % 2 == 0 ? shard.Snapshot() : std::vector<Shard::Segment>();
      shard.Apply(update);
    }
    for (const Shard::Segment& segment : shard.Snapshot()) {
      all.insert(all.end(), segment.values.floats().begin(), segment.values.floats().end());
    }
  }
  return all;
}

TEST(DecisionLogProperty, AnyNumberOfShardsGivesTheSameParameters) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    RandomSequence draw(RandomStream(seed, RandomPurpose::kTest, 3));
    const std::vector<LoggedUpdate> log = DrawLog(draw);
    for (const std::string_view rule : RuleNames()) {
      SCOPED_TRACE(std::string(rule) + ", seed " + std::to_string(seed));
      const std::vector<float> one = Execute(log, rule, 1, kElements);
      for (const std::uint32_t servers : {2u, 3u, 7u})
        EXPECT_EQ(Execute(log, rule, servers, 100), one);
    }
  }
}

TEST(DecisionLogProperty, TheOrderOfTheLogMatters) {
  RandomSequence draw(RandomStream(1, RandomPurpose::kTest, 3));
  std::vector<LoggedUpdate> log = DrawLog(draw);
  const std::vector<float> before = Execute(log, "momentum", 2, 100);

  std::swap(log[3], log[7]);

  EXPECT_NE(Execute(log, "momentum", 2, 100), before);
}

// --- The log of a run ---

// What the servers of a run were handed, taken from a replay of its event logs.
struct Recording {
  std::vector<ShardRange> ranges;                                                // By server.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<float>> pushes;  // By rank and seq.
  std::map<std::uint64_t, Decision> decisions;                                   // By number.
};

// A server as it was, which writes down what it is handed.
class RecordingServer : public Node {
 public:
  RecordingServer(std::unique_ptr<Node> server, std::int64_t rank, Recording& into)
      : server_(std::move(server)),
        begin_(into.ranges.at(static_cast<std::size_t>(rank)).begin),
        into_(into) {}

  void OnMessage(Time now, NodeId from, const Message& message, Outbox& out) override {
    if (const auto* push = std::get_if<Push>(&message.body)) {
      std::vector<float>& whole = into_.pushes[{push->rank, push->seq}];
      whole.resize(kElements);
      std::ranges::copy(message.payload.floats(),
                        whole.begin() + static_cast<std::ptrdiff_t>(begin_ + push->offset));
    } else if (const auto* told = std::get_if<Decisions>(&message.body)) {
      for (std::size_t i = 0; i < told->entries.size(); ++i) {
        const auto [entry, is_new] = into_.decisions.emplace(told->first + i, told->entries[i]);
        EXPECT_EQ(entry->second, told->entries[i]) << "two logs, entry " << told->first + i;
      }
    }
    server_->OnMessage(now, from, message, out);
  }
  void OnStart(Time now, Outbox& out) override { server_->OnStart(now, out); }
  void OnTimer(Time now, TimerId timer, Outbox& out) override { server_->OnTimer(now, timer, out); }
  void OnJobDone(Time now, JobId job, Outbox& out) override { server_->OnJobDone(now, job, out); }
  void OnInterrupt(Time now, Outbox& out) override { server_->OnInterrupt(now, out); }
  std::uint64_t StateDigest() const override { return server_->StateDigest(); }

 private:
  const std::unique_ptr<Node> server_;
  const std::uint64_t begin_;
  Recording& into_;
};

Recording Record(const SimCluster& cluster, std::uint32_t servers, const std::string& folder) {
  Recording recording{.ranges = PlaceDense(kElements, servers), .pushes = {}, .decisions = {}};
  const Result<std::vector<EventLog>> logs = ReadEventLogs(folder);
  EXPECT_THAT(logs, IsOk());
  const auto make = [&](const EventLogHeader& whose) -> Result<std::unique_ptr<Node>> {
    SLACKLINE_ASSIGN_OR_RETURN(std::unique_ptr<Node> node, cluster.MakeNode(whose));
    if (whose.role != Role::kServer) return node;
    return std::unique_ptr<Node>(
        std::make_unique<RecordingServer>(std::move(node), whose.rank, recording));
  };
  const Result<ReplayReport> replay = Replay(*logs, make);
  EXPECT_THAT(replay, IsOk());
  EXPECT_TRUE(replay->identical());
  return recording;
}

std::vector<LoggedUpdate> UpdatesOf(const Recording& recording) {
  std::vector<LoggedUpdate> log;
  for (const auto& [number, decision] : recording.decisions) {
    if (decision.kind != Decision::Kind::kApply) continue;
    LoggedUpdate update{.pushes = {}, .lr = static_cast<float>(decision.lr)};
    for (const PushShare& share : decision.pushes)
      update.pushes.emplace_back(share.weight, recording.pushes.at({share.rank, share.seq}));
    log.push_back(std::move(update));
  }
  return log;
}

TEST(DecisionLogProperty, TheLogOfAnAspRunGivesItsParametersOnAnyNumberOfShards) {
  Options options = SmallCluster();
  options.cluster.seed = kSeed;
  options.cluster.servers = 3;
  options.cluster.segment_bytes = 256;  // Several chunks a push.
  options.recipe.decisions = "tier";
  options.recipe.rule.name = "adam";
  options.recipe.rule.lr = 0.02;
  options.recipe.lr_schedule = "cosine";
  options.recipe.rule.weight_decay = kWeightDecay;
  options.sim.link_latency_ms = 1;
  options.sim.loss = 0.02;
  options.sim.duplicate = 0.05;
  options.sim.reorder = 0.1;
  const std::string folder = FreshFolder();
  SimCluster cluster(options, MakeQuadratic(kElements, 1.0f), MakeNumbered(64));
  cluster.WriteEventLogs(folder);
  ASSERT_THAT(cluster.Run(), IsOk());

  const Recording recording = Record(cluster, options.cluster.servers, folder);
  const std::vector<LoggedUpdate> log = UpdatesOf(recording);

  ASSERT_EQ(log.size(), options.cluster.workers * options.cluster.rounds);
  EXPECT_NE(log.front().lr, log.back().lr);
  for (const std::string_view rule : RuleNames()) {
    SCOPED_TRACE(rule);
    const std::vector<float> one = Execute(log, rule, 1, kElements);
    for (const std::uint32_t servers : {2u, 3u, 7u})
      EXPECT_EQ(Execute(log, rule, servers, 100), one);
  }
  EXPECT_EQ(Execute(log, options.recipe.rule.name, 1, 100), cluster.DenseParameters());
}

}  // namespace
}  // namespace slackline::testing
