// A decision log, whatever order of arrivals it came from, gives the same parameters bit for bit on
// any number of shards, for every element-wise rule.
#include <gtest/gtest.h>

#include "core/policy/placement.h"
#include "kernels/rule.h"
#include "server/shard.h"
#include "slackline/random.h"
#include "tests/support/status_matchers.h"

namespace slackline {
namespace {

constexpr std::uint64_t kElements = 1003;

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
    auto rule = MakeRule({.name = std::string(rule_name), .weight_decay = 0.01});
    EXPECT_THAT(rule, IsOk());
    Shard shard({.range = range, .seed = 5, .segment_elements = segment_elements}, spec,
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

}  // namespace
}  // namespace slackline
