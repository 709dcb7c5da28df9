// ServerNode: one shard's server, of the global tier or a region's. It stages pushes, executes the
// decision log on its shard and answers reads from it; the lead (and, under --decisions shard,
// every server) also decides. A region's server has an uplink besides.
//
// Whatever changes parameters, sessions or clocks is an entry of the log, executed in order. What a
// client is told follows from entries executed, so it is the same on every shard.
//
// Clients, workers or regions, are numbered from 0 within the tier; messages and traces bear their
// ranks, which begin at the tier's first client.
#ifndef SLACKLINE_SERVER_SERVER_NODE_H_
#define SLACKLINE_SERVER_SERVER_NODE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/config/options.h"
#include "core/policy/clock_table.h"
#include "core/policy/topology.h"
#include "core/runtime/node.h"
#include "core/session/member.h"
#include "server/answer.h"
#include "server/cut_shelf.h"
#include "server/decider.h"
#include "server/decision_stream.h"
#include "server/shard.h"
#include "server/stage.h"
#include "server/uplink.h"

namespace slackline {

class ServerNode : public Node {
 public:
  // `address`: where workers reach this process. REQUIRES valid options.
  ServerNode(NodeId self, const Options& options, std::string address);

  void OnStart(Time now, Outbox& out) override;
  void OnMessage(Time now, NodeId from, const Message& message, Outbox& out) override;
  void OnTimer(Time now, TimerId timer, Outbox& out) override;
  void OnJobDone(Time now, JobId job, Outbox& out) override;
  void OnInterrupt(Time now, Outbox& out) override;
  std::uint64_t StateDigest() const override;

  // For tests and benches; nullptr before training begins.
  const Shard* shard() const { return training_ ? training_->shard.get() : nullptr; }
  std::uint64_t version() const { return training_ ? training_->version : 0; }

 private:
  static constexpr TimerId kRetryTimer{3};
  static constexpr TimerId kSnapshotTimer{4};
  static constexpr Duration kSnapshotRetry = 5ms;

  // Which shards have a push complete: it exists once all have.
  struct Gathered {
    std::vector<bool> shards;
    std::size_t missing = 0;
    bool rejected = false;  // By any of them.
  };
  // What this shard knows of one client.
  struct Client {
    NodeId life = kNoNode;  // Its present one; older ones are fenced.
    NodeId sender =
        kNoNode;  // Who speaks for it here: the life itself, or its uplink to this shard.
    bool opened = false;
    std::uint64_t next_seq = 0;  // As told when it was opened.
    Stage stage;
    std::vector<PushOutcome> outcomes;  // Of the newest decided pushes, by seq modulo its size.
    PendingRead read;                   // The newest.
    Decision grant;                     // Of the newest read granted; request 0: none in this life.
    std::map<std::uint64_t, Gathered> gathered;  // The lead's, by seq: where a push lies complete.
  };
  // All that exists only once the run has formed.
  struct Training {
    Tier tier;
    std::uint32_t rank = 0;       // This server's, ...
    std::uint32_t place = 0;      // ... and its place in the tier; the lead's is 0.
    std::vector<NodeId> servers;  // Of the tier, by place.
    bool by_tier = false;
    std::unique_ptr<Shard> shard;            // Touched by nobody else while `applying`.
    std::unique_ptr<Decider> decider;        // The lead's, or each shard's own.
    std::unique_ptr<DecisionStream> stream;  // The lead's.
    DecisionReceiver receiver;               // A follower's.
    std::vector<Client> clients;
    std::optional<Uplink> uplink;         // A region's.
    std::vector<std::uint64_t> answered;  // The lead's: exchanges answered, by shard.
    std::uint64_t merged = 0;             // Exchanges merged.
    ClockTable clocks;                    // As executed.
    std::deque<Decision> log;             // To be executed; bounded by what workers have under way.
    bool applying = false;
    Decision applied;                    // The entry under way ...
    std::vector<StagedEntry> updating;   // ... and the pushes it is made of, or ...
    std::shared_ptr<Buffer> difference;  // ... what an exchange sends.
    std::uint64_t version = 0;
    CutShelf cuts;
    std::vector<std::pair<NodeId, PushAck>> acks;  // Not sent yet: an answer may carry them.
    std::vector<std::uint32_t> deferred_reads;  // Clients whose read waits for an apply to end, or
                                                // for older snapshots to be dropped.
    explicit Training(const Tier& own_tier) : tier(own_tier), clocks(own_tier.clients) {}
    std::uint32_t RankOf(std::uint32_t client) const { return tier.first_client + client; }
  };

  void BeginTraining(Time now, Outbox& out);
  // Of a client that heard before this server that the run goes. Keeps what BeginTraining answers:
  // one a sender, and at most as many as there are clients. More than that ask again.
  void KeepEarlyOpen(NodeId from, const SessionOpen& message);
  void OnOpen(NodeId from, const SessionOpen& message, Time now, Outbox& out);
  void OnClose(NodeId from, const SessionClose& message, Time now, Outbox& out);
  void OnPush(NodeId from, const Push& push, const Buffer& payload, Time now, Outbox& out);
  void OnPull(NodeId from, const Message& message, Time now, Outbox& out);
  void OnStaged(const Staged& message, Time now, Outbox& out);
  void OnDecisions(NodeId from, const Decisions& message, Time now, Outbox& out);
  // The client of this rank if `from` speaks for its present life; else refuses and returns
  // nothing.
  std::optional<std::uint32_t> ClientOf(NodeId from, std::uint32_t rank, Outbox& out);
  void NoteStaged(std::uint32_t shard, const StagedPush& push, Decider::Log& log);
  // A follower's: tells the lead again what it has and the lead has not decided.
  void ReportStaged(Outbox& out);
  void OnUplink(Time now, Outbox& out);
  void NoteAnswered(std::uint32_t shard, std::uint64_t answered, Decider::Log& log);

  // Puts freshly made entries into effect: here, and on their way to followers.
  void Commit(Decider::Log log, Time now, Outbox& out);
  void Execute(Time now, Outbox& out);
  // Whether this shard can do what an entry says. A follower trusts the lead's bytes no more than
  // anybody's.
  Status Executable(const Decision& decision) const;
  void StartApply(const Decision& decision, Outbox& out);
  void StartExchange(const Decision& decision, Outbox& out);
  void StartMerge(const Decision& decision, Outbox& out);
  void StartJob(const Decision& decision, std::function<void()> run, Outbox& out);
  void FinishApply(Outbox& out);
  void Decided(const PushShare& share, const StagedEntry& entry, PushOutcome outcome, Outbox& out);
  void ExecuteDiscard(const Decision& decision, Outbox& out);
  void ExecuteGrant(const Decision& decision, Outbox& out);
  void ExecuteOpen(const Decision& decision, Outbox& out);
  void ExecuteLeave(const Decision& decision, Outbox& out);
  void ExecuteCut(const Decision& decision, Outbox& out);
  void ServeRead(std::uint32_t client, Outbox& out);
  void SendAcks(Outbox& out);
  void ServeDeferred(Time now, Outbox& out);
  void ServeCuts(Outbox& out);
  Statistics CurrentStatistics(Time now) const;

  const Options options_;
  Member member_;
  std::vector<std::pair<NodeId, SessionOpen>> early_opens_;  // In the order they came in.
  std::unique_ptr<Training> training_;
  Statistics statistics_;
  std::uint64_t next_job_ = 1;
};

}  // namespace slackline

#endif  // SLACKLINE_SERVER_SERVER_NODE_H_
