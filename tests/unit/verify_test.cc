#include "tools/verify.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/status_matchers.h"

namespace slackline {
namespace {

using Kind = TraceEvent::Kind;

// Rounds run in lockstep: in each, every worker reads at every shard, and then every push is
// applied everywhere, in rank order. Each push is one update.
class VerifyTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kWorkers = 2;
  static constexpr std::uint32_t kServers = 2;
  static constexpr std::uint64_t kRounds = 3;

  VerifyTest() {
    for (std::uint32_t s = 0; s < kServers; ++s) logs_.push_back(Empty(Role::kServer, s));
    for (std::uint32_t w = 0; w < kWorkers; ++w) logs_.push_back(Empty(Role::kWorker, w));
    for (std::uint32_t s = 0; s < kServers; ++s) FillServer(s);
    for (std::uint32_t w = 0; w < kWorkers; ++w) FillWorker(w);
  }

  static EventLog Empty(Role role, std::uint32_t rank, std::uint32_t life = 0) {
    EventLog log;
    log.header.role = role;
    log.header.rank = rank;
    log.header.life = life;
    log.end = EndRecord{};
    return log;
  }

  EventLog& Server(std::uint32_t rank) { return logs_[rank]; }
  EventLog& WorkerLog(std::uint32_t rank) { return logs_[kServers + rank]; }

  static void Add(EventLog& log, const TraceEvent& event) {
    log.records.push_back(TraceRecord{Time{0}, event});
  }

  void FillServer(std::uint32_t shard) {
    EventLog& log = Server(shard);
    for (std::uint32_t w = 0; w < kWorkers; ++w) {
      Add(log, {.kind = Kind::kSessionOpened, .rank = w, .shard = shard});
    }
    std::uint64_t version = 0;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const std::uint64_t read = version;
      for (std::uint32_t w = 0; w < kWorkers; ++w) {
        Add(log, {Kind::kReadServed, w, shard, round, read, round, round});
      }
      for (std::uint32_t w = 0; w < kWorkers; ++w) {
        ++version;
        Add(log, {Kind::kPushApplied, w, shard, round, version, version - 1 - read, 32});
      }
      Add(log, {.kind = Kind::kPushDuplicate, .rank = 0, .shard = shard, .seq = round});
      Add(log, {Kind::kCutMade, 0, shard, round + 1, version, 64 * (round + 1), 0});
    }
    for (std::uint32_t w = 0; w < kWorkers; ++w) {
      Add(log, {.kind = Kind::kWorkerLeft, .rank = w, .shard = shard, .seq = kRounds});
    }
  }

  void FillWorker(std::uint32_t rank) {
    EventLog& log = WorkerLog(rank);
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      Add(log, {.kind = Kind::kRoundStarted, .rank = rank, .seq = round});
      Add(log, {.kind = Kind::kPushSent, .rank = rank, .seq = round});
      Add(log, {.kind = Kind::kPushDone,
                .rank = rank,
                .seq = round,
                .value = static_cast<std::uint64_t>(PushOutcome::kApplied)});
    }
  }

  // The nth event of a kind, to be changed.
  static TraceEvent& Nth(EventLog& log, Kind kind, std::size_t n) {
    return std::get<TraceRecord>(log.records[IndexOf(log, kind, n)]).event;
  }
  static std::size_t IndexOf(const EventLog& log, Kind kind, std::size_t n) {
    for (std::size_t i = 0; i < log.records.size(); ++i) {
      if (std::get<TraceRecord>(log.records[i]).event.kind == kind && n-- == 0) return i;
    }
    ADD_FAILURE() << "no such event";
    return 0;
  }
  static void Erase(EventLog& log, Kind kind, std::size_t n) {
    log.records.erase(log.records.begin() + static_cast<std::ptrdiff_t>(IndexOf(log, kind, n)));
  }
  // Keeps `count` records and takes the end away, as a kill does.
  static void Kill(EventLog& log, std::size_t count) {
    log.records.resize(count);
    log.end.reset();
  }

  Verification Verify() const { return VerifyLogs(logs_, options_); }

  // Fails unless exactly this violation is found, first.
  void ExpectViolation(const std::string& text) const {
    const Verification verification = Verify();
    EXPECT_FALSE(verification.ok());
    ASSERT_FALSE(verification.violations.empty());
    EXPECT_EQ(verification.violations[0], text);
  }

  std::vector<EventLog> logs_;
  VerifyOptions options_{
      .workers = kWorkers, .servers = kServers, .slack = 0, .own_ahead = 0, .by_tier = true};
};

TEST_F(VerifyTest, ACleanRunPassesAndIsCounted) {
  const Verification verification = Verify();

  EXPECT_TRUE(verification.ok()) << verification.ToString();
  EXPECT_EQ(verification.logs, 4u);
  EXPECT_EQ(verification.killed, 0u);
  EXPECT_EQ(verification.rounds_started, 6u);
  EXPECT_EQ(verification.pushes_sent, 6u);
  EXPECT_EQ(verification.pushes_acknowledged, 6u);
  EXPECT_EQ(verification.reads_served, 12u);
  EXPECT_EQ(verification.applied, 12u);
  EXPECT_EQ(verification.duplicates, 6u);
  EXPECT_EQ(verification.cuts, 6u);
  EXPECT_EQ(verification.spread_max, 1u);
  EXPECT_EQ(verification.staleness_max, 1u);
  EXPECT_EQ(verification.unknown, 0u);
  EXPECT_NE(verification.ToString().find("violations: 0\n"), std::string::npos);
}

// --- Canaries: each breaks one promise and must be caught ---

TEST_F(VerifyTest, CatchesAReadBeforeTheSlowestIsThere) {
  // Worker 1's push of round 1 moves behind worker 0's read for round 2.
  auto& records = Server(0).records;
  const std::size_t push = IndexOf(Server(0), Kind::kPushApplied, 3);
  const std::size_t read = IndexOf(Server(0), Kind::kReadServed, 4);
  std::rotate(records.begin() + static_cast<std::ptrdiff_t>(push),
              records.begin() + static_cast<std::ptrdiff_t>(push + 1),
              records.begin() + static_cast<std::ptrdiff_t>(read + 1));

  const Verification verification = Verify();

  std::string all;
  for (const std::string& violation : verification.violations) all += violation + "\n";
  EXPECT_NE(
      all.find("slack: shard 0: a read of worker 0 for round 2 is served while the slowest has "
               "finished 1; slack is 0\n"),
      std::string::npos)
      << all;
  EXPECT_NE(
      all.find("claims: shard 0: a read of worker 0 for round 2 claims a slowest clock of 2; it "
               "is 1\n"),
      std::string::npos)
      << all;
}

TEST_F(VerifyTest, CatchesASpreadThatIsTooLarge) {
  logs_.clear();
  logs_.push_back(Empty(Role::kServer, 0));
  options_.servers = 1;
  for (std::uint64_t round = 0; round < 3; ++round) {
    // With prefetch the reads run ahead and are lawful; the pushes are not.
    Add(logs_[0], {Kind::kReadServed, 0, 0, round, 0, 0, 0});
  }
  options_.own_ahead = 2;
  options_.slack = 2;
  for (std::uint64_t round = 0; round < 3; ++round) {
    Add(logs_[0], {Kind::kPushApplied, 0, 0, round, round + 1, round, 1});
  }
  EXPECT_TRUE(Verify().ok()) << Verify().ToString();
  EXPECT_EQ(Verify().spread_max, 3u);

  Add(logs_[0], {Kind::kReadServed, 0, 0, 2, 3, 3, 0});
  Add(logs_[0], {Kind::kReadServed, 0, 0, 3, 3, 3, 0});
  Add(logs_[0], {Kind::kPushApplied, 0, 0, 3, 4, 0, 1});
  options_.slack = std::nullopt;
  EXPECT_TRUE(Verify().ok()) << Verify().ToString();

  options_.slack = 2;
  const Verification verification = Verify();
  EXPECT_EQ(verification.violations.back(),
            "slack: shard 0: finished rounds spread by 4 from 0 on; slack is 2");
}

TEST_F(VerifyTest, AWorkerThatLeftHoldsNobodyBack) {
  logs_.clear();
  logs_.push_back(Empty(Role::kServer, 0));
  options_.servers = 1;
  Add(logs_[0], {.kind = Kind::kWorkerLeft, .rank = 1, .seq = 0});
  for (std::uint64_t round = 0; round < 5; ++round) {
    Add(logs_[0], {Kind::kReadServed, 0, 0, round, round, round, round});
    Add(logs_[0], {Kind::kPushApplied, 0, 0, round, round + 1, 0, 1});
  }
  EXPECT_TRUE(Verify().ok()) << Verify().ToString();

  logs_[0].records.erase(logs_[0].records.begin());
  EXPECT_FALSE(Verify().ok());
}

TEST_F(VerifyTest, CatchesARoundWithoutARead) {
  Add(WorkerLog(1), {.kind = Kind::kRoundStarted, .rank = 1, .seq = kRounds});

  ExpectViolation("slack: worker 1 starts round 3, for which shard 0 served no read");
}

TEST_F(VerifyTest, CatchesAFalseSlowestClock) {
  Nth(Server(1), Kind::kReadServed, 2).extra = 7;

  ExpectViolation(
      "claims: shard 1: a read of worker 0 for round 1 claims a slowest clock of 7; it is 1");
}

TEST_F(VerifyTest, CatchesPushesOutOfOrder) {
  std::swap(Nth(Server(0), Kind::kPushApplied, 0).seq, Nth(Server(0), Kind::kPushApplied, 2).seq);

  ExpectViolation("order: shard 0: push 1 of worker 0 is decided where 0 comes next");
}

TEST_F(VerifyTest, CatchesAPushAppliedTwice) {
  Nth(Server(0), Kind::kPushApplied, 2).seq = 0;

  ExpectViolation("once: shard 0: push 0 of worker 0 is decided twice");
}

TEST_F(VerifyTest, CatchesAnAcknowledgementOfAPushThatWasNotApplied) {
  TraceEvent& push = Nth(Server(1), Kind::kPushApplied, 5);
  push.kind = Kind::kPushDiscarded;

  ExpectViolation("once: push 2 of worker 1 is acknowledged as applied; shard 1 did not apply it");
}

TEST_F(VerifyTest, CatchesAnAcknowledgementOfAPushThatNeverCame) {
  Add(WorkerLog(0), {.kind = Kind::kPushDone,
                     .rank = 0,
                     .seq = kRounds,
                     .value = static_cast<std::uint64_t>(PushOutcome::kApplied)});

  ExpectViolation("once: push 3 of worker 0 is acknowledged as applied; shard 0 never decided it");
}

TEST_F(VerifyTest, CatchesAReadWithoutTheReadersOwnPush) {
  options_.slack = std::nullopt;
  TraceEvent& read = Nth(Server(0), Kind::kReadServed, 0);
  read.seq = 1;

  ExpectViolation("own: shard 0: a read of worker 0 for round 1 holds 0 of its own pushes");

  options_.own_ahead = 1;
  for (const std::string& violation : Verify().violations) {
    EXPECT_EQ(violation.find("holds 0 of its own"), std::string::npos) << violation;
  }
}

TEST_F(VerifyTest, CatchesAFalseCountOfOwnPushes) {
  Nth(Server(0), Kind::kReadServed, 2).value = 4;

  ExpectViolation(
      "claims: shard 0: a read of worker 0 for round 1 claims to hold 4 of its own pushes; it "
      "holds 1");
}

TEST_F(VerifyTest, CatchesAPushThatWasNeverReadFor) {
  Erase(Server(0), Kind::kReadServed, 1);

  ExpectViolation("own: shard 0 applies push 0 of worker 1, which never read for that round");
}

TEST_F(VerifyTest, CatchesAFalseStaleness) {
  Nth(Server(0), Kind::kPushApplied, 1).value = 0;

  ExpectViolation(
      "claims: shard 0: push 0 of worker 1 claims a staleness of 0 at version 2; read for "
      "its round were versions 0");
}

TEST_F(VerifyTest, CatchesVersionsThatJump) {
  Nth(Server(0), Kind::kPushApplied, 0).version = 5;

  ExpectViolation("versions: shard 0 goes from version 0 to 5");
}

TEST_F(VerifyTest, CatchesAReadOfAnotherVersion) {
  Nth(Server(0), Kind::kReadServed, 2).version = 1;

  ExpectViolation("claims: shard 0: a read of worker 0 for round 1 claims version 1; it is 2");
}

TEST_F(VerifyTest, CatchesACutThatDiffersBetweenShards) {
  // Cut 1 of shard 1 is made before the last push of its round.
  auto& records = Server(1).records;
  const auto push =
      records.begin() + static_cast<std::ptrdiff_t>(IndexOf(Server(1), Kind::kPushApplied, 1));
  const auto cut =
      records.begin() + static_cast<std::ptrdiff_t>(IndexOf(Server(1), Kind::kCutMade, 0));
  std::rotate(push, cut, cut + 1);
  Nth(Server(1), Kind::kCutMade, 0).version = 1;

  ExpectViolation("versions: cut 1 has version 1 on shard 1 and 2 elsewhere");

  options_.by_tier = false;
  EXPECT_TRUE(Verify().ok()) << Verify().ToString();
}

TEST_F(VerifyTest, CatchesASessionThatForgets) {
  Add(Server(0), {.kind = Kind::kSessionOpened, .rank = 1, .shard = 0, .seq = 1});

  ExpectViolation(
      "shard 0 says that worker 1 has finished 1 rounds when it opens its session; it is 3");
}

TEST_F(VerifyTest, CatchesRanksThatAreNotThere) {
  Nth(Server(0), Kind::kSessionOpened, 0).rank = 9;
  ExpectViolation("shard 0 speaks of worker 9; there are 2 from 0 on");
  Nth(Server(0), Kind::kSessionOpened, 0).shard = 8;
  ExpectViolation("a server speaks of shard 8; there are 2");
  Nth(WorkerLog(0), Kind::kRoundStarted, 0).rank = 7;
  EXPECT_EQ(Verify().violations_total, 2u);
}

// --- Kills ---

TEST_F(VerifyTest, AKilledWorkersTailIsUnknown) {
  Kill(WorkerLog(0), IndexOf(WorkerLog(0), Kind::kPushDone, 2));

  const Verification verification = Verify();

  EXPECT_TRUE(verification.ok()) << verification.ToString();
  EXPECT_EQ(verification.killed, 1u);
  EXPECT_EQ(verification.unknown, 1u);  // Its last push.
}

TEST_F(VerifyTest, AKilledServersTailIsUnknown) {
  Kill(Server(1), IndexOf(Server(1), Kind::kReadServed, 4));

  const Verification verification = Verify();

  EXPECT_TRUE(verification.ok()) << verification.ToString();
  EXPECT_EQ(verification.unknown, 4u);  // Both workers' last round and push, at that shard.
}

TEST_F(VerifyTest, TheSecondLifeOfAServerIsUnknownAndThatOfAWorkerIsNot) {
  Kill(Server(1), IndexOf(Server(1), Kind::kReadServed, 2));
  EventLog second = Empty(Role::kServer, 1, 1);
  Add(second, {.kind = Kind::kSessionOpened, .rank = 0, .shard = 1, .seq = 2});
  logs_.insert(logs_.begin() + 2, second);

  EXPECT_TRUE(Verify().ok()) << Verify().ToString();

  EventLog worker = Empty(Role::kWorker, 1, 1);
  Add(worker, {.kind = Kind::kPushDone,
               .rank = 1,
               .seq = 99,
               .value = static_cast<std::uint64_t>(PushOutcome::kApplied)});
  logs_.push_back(worker);
  ExpectViolation("once: push 99 of worker 1 is acknowledged as applied; shard 0 never decided it");
}

TEST_F(VerifyTest, OnlyTheFirstViolationsAreNamedAndAllAreCounted) {
  for (int i = 0; i < 150; ++i) {
    Add(Server(0), {.kind = Kind::kPushApplied, .rank = 0, .seq = 0, .version = 6});
  }

  const Verification verification = Verify();

  EXPECT_EQ(verification.violations_total, 150u);
  EXPECT_EQ(verification.violations.size(), Verification::kNamedMax);
  EXPECT_NE(verification.ToString().find("and 50 more"), std::string::npos);
}

// --- The whole way ---

TEST_F(VerifyTest, ARunIsReadFromItsFolder) {
  const std::filesystem::path dir =
      std::filesystem::temp_directory_path() / "slackline_verify_test";
  std::filesystem::remove_all(dir);
  for (const EventLog& log : logs_) {
    auto writer = EventLogWriter::Create(dir.string(), log.header).value();
    for (const EventRecord& record : log.records) {
      Outbox out;
      out.traces.push_back(std::get<TraceRecord>(record).event);
      writer->OnInput(1ms, Input{}, out);
    }
    writer->OnEnd(2ms, 0);
  }

  const Result<Verification> verification = VerifyRun(dir.string(), options_);

  ASSERT_THAT(verification, IsOk());
  EXPECT_TRUE(verification->ok()) << verification->ToString();
  EXPECT_EQ(verification->applied, 12u);
  EXPECT_EQ(verification->inputs, Server(0).records.size() * 2 + WorkerLog(0).records.size() * 2);
  std::filesystem::remove_all(dir);
  EXPECT_THAT(VerifyRun(dir.string(), options_), StatusIs(StatusCode::kNotFound, dir.string()));
}

TEST(VerifyOptions, FollowTheRecipe) {
  Options options;
  options.recipe.gate = "ssp";
  options.recipe.slack = 5;
  options.cluster.workers = 7;
  EXPECT_EQ(VerifyOptionsFrom(options).slack, 5u);
  EXPECT_EQ(VerifyOptionsFrom(options).workers, 7u);
  EXPECT_EQ(VerifyOptionsFrom(options).own_ahead, 0u);
  EXPECT_FALSE(VerifyOptionsFrom(options).by_tier);

  options.recipe.gate = "bsp";
  options.cluster.prefetch = true;
  options.cluster.max_inflight_pushes = 3;
  EXPECT_EQ(VerifyOptionsFrom(options).slack, 0u);
  EXPECT_EQ(VerifyOptionsFrom(options).own_ahead, 2u);
  EXPECT_TRUE(VerifyOptionsFrom(options).by_tier);

  options.recipe.gate = "asp";
  EXPECT_FALSE(VerifyOptionsFrom(options).slack.has_value());
}

}  // namespace
}  // namespace slackline
