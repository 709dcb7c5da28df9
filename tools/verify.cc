#include "tools/verify.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/base/strings.h"
#include "core/policy/decision_scope.h"
#include "core/policy/topology.h"

namespace slackline {
namespace {

using Kind = TraceEvent::Kind;

class Verifier {
 public:
  explicit Verifier(const VerifyOptions& options) : options_(options) {
    const auto add_tier = [&](std::optional<std::uint32_t> region, bool of_regions,
                              std::uint32_t first, std::uint32_t clients) {
      for (std::uint32_t i = 0; i < options.servers; ++i) {
        Shard& shard =
            shards_.emplace_back(static_cast<std::uint32_t>(shards_.size()), first, clients);
        shard.region = region;
        shard.of_regions = of_regions;
        shard.slack = of_regions ? options.region_slack : options.slack;
        if (!of_regions) continue;
        // A region begins with the initial parameters, which it need not read.
        for (Worker& client : shard.workers) client.served[0].push_back(0);
      }
    };
    const bool regional = !options.regions.empty();
    const auto regions = static_cast<std::uint32_t>(options.regions.size());
    add_tier(std::nullopt, regional, 0, regional ? regions : options.workers);
    std::uint32_t first = 0;
    for (std::uint32_t region = 0; region < regions; ++region) {
      add_tier(region, false, first, options.regions[region]);
      first += options.regions[region];
    }
  }

  Verification Run(const std::vector<EventLog>& logs) {
    result_.logs = logs.size();
    // Shards first: they are what workers' claims are held against.
    for (const EventLog& log : logs) {
      CountInputs(log);
      if (log.header.role == Role::kServer) TakeServer(log);
    }
    for (const EventLog& log : logs) {
      if (log.header.role == Role::kWorker) TakeWorker(log);
    }
    for (const Shard& shard : shards_) CheckExchangesWerePushed(shard);
    for (const Shard& shard : shards_) {
      if (!shard.seen && !there_.contains({Role::kServer, shard.rank})) {
        result_.missing.push_back(StrCat("server ", shard.rank));
      }
    }
    for (std::uint32_t rank = 0; rank < options_.workers; ++rank) {
      if (!there_.contains({Role::kWorker, rank}))
        result_.missing.push_back(StrCat("worker ", rank));
    }
    return std::move(result_);
  }

 private:
  enum class Fate : std::uint8_t { kUnknown, kApplied, kOther };
  // What one shard did for one worker.
  struct Worker {
    std::vector<Fate> fates;  // By seq. Their number is the worker's clock here.
    bool left = false;
    std::uint64_t rounds_read = 0;  // Rounds below it have been read for, or were before a restart.
    std::map<std::uint64_t, std::vector<std::uint64_t>>
        served;  // Round -> versions, until its push.

    std::uint64_t clock() const { return fates.size(); }
  };
  struct Shard {
    Shard(std::uint32_t own_rank, std::uint32_t first, std::uint32_t count)
        : rank(own_rank), first_client(first), workers(count) {
      if (count > 0) at_clock[0] = count;
    }
    // Whether a worker pushes to it.
    bool Serves(std::uint32_t worker) const {
      return !of_regions && worker >= first_client && worker - first_client < workers.size();
    }
    const Worker& Of(std::uint32_t worker) const { return workers[worker - first_client]; }

    std::uint32_t rank;
    std::uint32_t first_client;
    std::optional<std::uint32_t> region;  // Nothing: of the global tier, ...
    bool of_regions = false;              // ... whose clients are regions.
    std::optional<std::uint64_t> slack;
    std::uint64_t exchanges = 0;                      // Begun, and ...
    std::uint64_t merged = 0;                         // ... merged.
    std::vector<Worker> workers;                      // From the first client's rank on.
    std::map<std::uint64_t, std::uint32_t> at_clock;  // Clock -> workers there that have not left.
    std::uint64_t version = 0;
    bool seen = false;     // Some log tells of it.
    bool torn = false;     // Its newest log lacks its end ...
    bool unknown = false;  // ... and another life follows.
  };

  template <typename... Parts>
  void Violation(const Parts&... parts) {
    if (++result_.violations_total <= Verification::kNamedMax) {
      result_.violations.push_back(StrCat(parts...));
    }
  }

  void CountInputs(const EventLog& log) {
    there_.insert({log.header.role, log.header.rank});
    if (!log.end.has_value()) ++result_.killed;
    result_.inputs += static_cast<std::uint64_t>(std::count_if(
        log.records.begin(), log.records.end(),
        [](const EventRecord& record) { return std::holds_alternative<InputRecord>(record); }));
  }

  // --- Shards ---

  void TakeServer(const EventLog& log) {
    Shard* shard = nullptr;
    for (const EventRecord& record : log.records) {
      const auto* trace = std::get_if<TraceRecord>(&record);
      if (trace == nullptr) continue;
      const TraceEvent& event = trace->event;
      if (event.shard >= shards_.size()) {
        Violation("a server speaks of shard ", event.shard, "; there are ", shards_.size());
        continue;
      }
      if (shard != &shards_[event.shard]) {
        shard = &shards_[event.shard];
        shard->unknown = shard->unknown || shard->torn;
        shard->seen = true;
        shard->torn = !log.end.has_value();
      }
      if (shard->unknown) {
        ++result_.unknown;
      } else {
        TakeShardEvent(*shard, event);
      }
    }
  }

  void TakeShardEvent(Shard& shard, const TraceEvent& event) {
    if (event.kind == Kind::kCutMade) return TakeCut(shard, event);
    if (event.kind == Kind::kExchangeBegun || event.kind == Kind::kMerged)
      return TakeExchange(shard, event);
    const std::uint32_t index = event.rank - shard.first_client;
    if (event.rank < shard.first_client || index >= shard.workers.size()) {
      return Violation("shard ", shard.rank, " speaks of worker ", event.rank, "; there are ",
                       shard.workers.size(), " from ", shard.first_client, " on");
    }
    Worker& worker = shard.workers[index];
    switch (event.kind) {
      case Kind::kReadServed:
        return TakeRead(shard, worker, event);
      case Kind::kPushApplied:
        return TakeDecided(shard, worker, event, result_.applied);
      case Kind::kPushDiscarded:
        return TakeDecided(shard, worker, event, result_.discarded);
      case Kind::kPushRejected:
        return TakeDecided(shard, worker, event, result_.rejected);
      case Kind::kPushDuplicate:
        ++result_.duplicates;
        return;
      case Kind::kSessionOpened:
      case Kind::kWorkerLeft:
        if (event.seq != worker.clock()) {
          Violation("shard ", shard.rank, " says that worker ", event.rank, " has finished ",
                    event.seq, " rounds when it ",
                    event.kind == Kind::kWorkerLeft ? "leaves" : "opens its session", "; it is ",
                    worker.clock());
        }
        if (event.kind == Kind::kWorkerLeft && !worker.left) {
          worker.left = true;
          RemoveClock(shard, worker.clock());
        }
        return;
      default:
        return Violation("shard ", shard.rank, " has an event of unknown kind ",
                         static_cast<int>(event.kind));
    }
  }

  void TakeExchange(Shard& shard, const TraceEvent& event) {
    const auto exchange = [&] {
      return StrCat("exchange: shard ", shard.rank, " of region ", event.rank,
                    event.kind == Kind::kMerged ? " merges" : " begins", " exchange ", event.seq);
    };
    if (!shard.region.has_value() || *shard.region != event.rank) {
      return Violation(exchange(), ", which is not its region's");
    }
    std::uint64_t& count = event.kind == Kind::kMerged ? shard.merged : shard.exchanges;
    const std::uint64_t under_way = event.kind == Kind::kMerged ? 1 : 0;
    if (event.seq != count || shard.exchanges != shard.merged + under_way) {
      Violation(exchange(), " after ", shard.exchanges, " begun and ", shard.merged, " merged");
    }
    ++count;
    if (event.kind == Kind::kMerged) ++result_.exchanges;
  }

  // What a region's shard sent up is what the global shard of the same place decided.
  void CheckExchangesWerePushed(const Shard& shard) {
    if (!shard.region.has_value()) return;
    const Shard& above = shards_[shard.rank % options_.servers];
    const std::uint64_t decided = above.workers[*shard.region].clock();
    if (decided == shard.exchanges) return;
    if (TailUnknown(shard) || TailUnknown(above)) {
      ++result_.unknown;
    } else {
      Violation("exchange: shard ", shard.rank, " of region ", *shard.region, " began ",
                shard.exchanges, " exchanges; shard ", above.rank, " above it decided ", decided);
    }
  }

  void TakeRead(Shard& shard, Worker& worker, const TraceEvent& event) {
    ++result_.reads_served;
    const auto read = [&] {
      return StrCat("shard ", shard.rank, ": a read of worker ", event.rank, " for round ",
                    event.seq);
    };
    const std::uint64_t round = event.seq;
    if (!shard.at_clock.empty()) {
      const std::uint64_t slowest = shard.at_clock.begin()->first;
      if (shard.slack.has_value() && slowest + *shard.slack < round) {
        Violation("slack: ", read(), " is served while the slowest has finished ", slowest,
                  "; slack is ", *shard.slack);
      }
      if (event.extra != slowest) {
        Violation("claims: ", read(), " claims a slowest clock of ", event.extra, "; it is ",
                  slowest);
      }
    }
    if (worker.clock() + options_.own_ahead < round) {
      Violation("own: ", read(), " holds ", worker.clock(), " of its own pushes");
    }
    if (event.value != worker.clock()) {
      Violation("claims: ", read(), " claims to hold ", event.value,
                " of its own pushes; it holds ", worker.clock());
    }
    if (event.version != shard.version) {
      Violation("claims: ", read(), " claims version ", event.version, "; it is ", shard.version);
    }
    worker.rounds_read = std::max(worker.rounds_read, round + 1);
    worker.served[round].push_back(event.version);
  }

  void TakeDecided(Shard& shard, Worker& worker, const TraceEvent& event, std::uint64_t& count) {
    ++count;
    const auto push = [&] {
      return StrCat("shard ", shard.rank, ": push ", event.seq, " of worker ", event.rank);
    };
    TakeVersion(shard, event);
    if (event.seq < worker.clock()) return Violation("once: ", push(), " is decided twice");
    if (event.seq > worker.clock()) {
      return Violation("order: ", push(), " is decided where ", worker.clock(), " comes next");
    }
    const bool applied = event.kind == Kind::kPushApplied;
    if (applied) CheckStaleness(shard, worker, event);
    worker.served.erase(worker.served.begin(), worker.served.upper_bound(event.seq));
    if (!worker.left) {
      RemoveClock(shard, worker.clock());
      ++shard.at_clock[worker.clock() + 1];
    }
    worker.fates.push_back(applied ? Fate::kApplied : Fate::kOther);
    CheckSpread(shard);
  }

  void TakeVersion(Shard& shard, const TraceEvent& event) {
    if (event.version < shard.version || event.version > shard.version + 1) {
      Violation("versions: shard ", shard.rank, " goes from version ", shard.version, " to ",
                event.version);
    }
    shard.version = event.version;
  }

  // A read may have been answered more than once; the push was computed from one of the answers.
  void CheckStaleness(const Shard& shard, const Worker& worker, const TraceEvent& event) {
    result_.staleness_max = std::max(result_.staleness_max, event.value);
    const auto served = worker.served.find(event.seq);
    if (served == worker.served.end()) {
      return Violation("own: shard ", shard.rank, " applies push ", event.seq, " of worker ",
                       event.rank, ", which never read for that round");
    }
    const bool found = std::any_of(
        served->second.begin(), served->second.end(),
        [&](std::uint64_t version) { return event.version == version + 1 + event.value; });
    if (!found) {
      Violation("claims: shard ", shard.rank, ": push ", event.seq, " of worker ", event.rank,
                " claims a staleness of ", event.value, " at version ", event.version,
                "; read for its round were versions ", StrJoin(served->second));
    }
  }

  static void RemoveClock(Shard& shard, std::uint64_t clock) {
    const auto at = shard.at_clock.find(clock);
    if (--at->second == 0) shard.at_clock.erase(at);
  }

  void CheckSpread(const Shard& shard) {
    if (shard.at_clock.empty()) return;
    const std::uint64_t slowest = shard.at_clock.begin()->first;
    const std::uint64_t spread = shard.at_clock.rbegin()->first - slowest;
    result_.spread_max = std::max(result_.spread_max, spread);
    if (shard.slack.has_value() && spread > *shard.slack + 1) {
      Violation("slack: shard ", shard.rank, ": finished rounds spread by ", spread, " from ",
                slowest, " on; slack is ", *shard.slack);
    }
  }

  void TakeCut(Shard& shard, const TraceEvent& event) {
    ++result_.cuts;
    if (event.version != shard.version) {
      Violation("claims: shard ", shard.rank, " claims version ", event.version, " at cut ",
                event.seq, "; it is ", shard.version);
    }
    const auto [cut, is_new] = cut_versions_.emplace(event.seq, event.version);
    if (!is_new && options_.by_tier && cut->second != event.version) {
      Violation("versions: cut ", event.seq, " has version ", event.version, " on shard ",
                shard.rank, " and ", cut->second, " elsewhere");
    }
  }

  // --- Workers ---

  void TakeWorker(const EventLog& log) {
    std::map<std::uint64_t, bool> sent;  // Seq -> acknowledged in this life.
    for (const EventRecord& record : log.records) {
      const auto* trace = std::get_if<TraceRecord>(&record);
      if (trace == nullptr) continue;
      const TraceEvent& event = trace->event;
      if (event.rank >= options_.workers) {
        Violation("a worker says that it is worker ", event.rank, "; there are ", options_.workers);
        continue;
      }
      there_.insert({Role::kWorker, event.rank});
      if (event.kind == Kind::kRoundStarted) {
        ++result_.rounds_started;
        CheckRoundWasRead(event);
      } else if (event.kind == Kind::kPushSent) {
        ++result_.pushes_sent;
        sent.emplace(event.seq, false);
      } else if (event.kind == Kind::kPushDone) {
        ++result_.pushes_acknowledged;
        sent[event.seq] = true;
        if (PushOutcome{static_cast<std::uint8_t>(event.value)} == PushOutcome::kApplied) {
          CheckAcknowledged(event);
        }
      }
    }
    result_.unknown += static_cast<std::uint64_t>(
        std::count_if(sent.begin(), sent.end(), [](const auto& push) { return !push.second; }));
  }

  // True where the shard's own log does not tell all.
  static bool TailUnknown(const Shard& shard) { return !shard.seen || shard.torn || shard.unknown; }

  void CheckRoundWasRead(const TraceEvent& event) {
    for (const Shard& shard : shards_) {
      if (!shard.Serves(event.rank) || event.seq < shard.Of(event.rank).rounds_read) continue;
      if (TailUnknown(shard)) {
        ++result_.unknown;
      } else {
        Violation("slack: worker ", event.rank, " starts round ", event.seq, ", for which shard ",
                  shard.rank, " served no read");
      }
    }
  }

  void CheckAcknowledged(const TraceEvent& event) {
    for (const Shard& shard : shards_) {
      if (!shard.Serves(event.rank)) continue;
      const std::vector<Fate>& fates = shard.Of(event.rank).fates;
      if (event.seq < fates.size()) {
        if (fates[event.seq] != Fate::kApplied) {
          Violation("once: push ", event.seq, " of worker ", event.rank,
                    " is acknowledged as applied; shard ", shard.rank, " did not apply it");
        }
      } else if (TailUnknown(shard)) {
        ++result_.unknown;
      } else {
        Violation("once: push ", event.seq, " of worker ", event.rank,
                  " is acknowledged as applied; shard ", shard.rank, " never decided it");
      }
    }
  }

  const VerifyOptions options_;
  std::vector<Shard> shards_;
  std::map<std::uint64_t, std::uint64_t> cut_versions_;
  // Whose logs there are, by the rank asked for and by the rank their events name.
  std::set<std::pair<Role, std::int64_t>> there_;
  Verification result_;
};

}  // namespace

VerifyOptions VerifyOptionsFrom(const Options& options) {
  VerifyOptions verify;
  verify.workers = options.cluster.workers;
  verify.servers = options.cluster.servers;
  if (options.recipe.gate == "bsp") verify.slack = 0;
  if (options.recipe.gate == "ssp") verify.slack = options.recipe.slack;
  if (options.cluster.prefetch) verify.own_ahead = options.cluster.max_inflight_pushes - 1;
  verify.by_tier = DecidesByTier(options);
  if (options.cluster.topology == "regional") {
    verify.regions = WorkersByRegion(options.cluster);
    if (options.recipe.region_gate == "ssp") verify.region_slack = options.recipe.region_slack;
  }
  return verify;
}

std::string Verification::ToString() const {
  std::string text = StrCat(
      "logs: ", logs, " (", killed, " of killed processes), ", inputs, " inputs\n",
      "workers: ", rounds_started, " rounds started, ", pushes_sent, " pushes sent, ",
      pushes_acknowledged, " acknowledged\n", "shards: ", reads_served, " reads served, ", applied,
      " pushes applied, ", duplicates, " duplicate, ", discarded, " discarded, ", rejected,
      " rejected, ", cuts, " cuts, ", exchanges, " exchanges\n",
      "largest spread of finished rounds: ", spread_max, ", largest staleness: ", staleness_max,
      "\n", "unknown: ", unknown, "\nviolations: ", violations_total, "\n");
  for (const std::string& violation : violations) text += StrCat("  ", violation, "\n");
  if (violations.size() < violations_total) {
    text += StrCat("  and ", violations_total - violations.size(), " more\n");
  }
  return text;
}

Verification VerifyLogs(const std::vector<EventLog>& logs, const VerifyOptions& options) {
  return Verifier(options).Run(logs);
}

Result<Verification> VerifyRun(const std::string& run_dir, const VerifyOptions& options) {
  SLACKLINE_ASSIGN_OR_RETURN(const std::vector<EventLog> logs, ReadEventLogs(run_dir));
  Verification verification = VerifyLogs(logs, options);
  if (!verification.missing.empty()) {
    return NotFound(StrCat(run_dir, "/events has no log of ", StrJoin(verification.missing),
                           "; gather the logs of every role, from all machines, there"));
  }
  return verification;
}

}  // namespace slackline
