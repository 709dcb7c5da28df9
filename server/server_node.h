// ServerNode: one shard's server. It stages pushes, executes the decision log on its shard and
// answers reads from it; the lead (and, under --decisions shard, every server) also decides.
//
// Whatever changes parameters, sessions or clocks is an entry of the log, executed in order. What a
// worker is told follows from entries executed, so it is the same on every shard.
#ifndef SLACKLINE_SERVER_SERVER_NODE_H_
#define SLACKLINE_SERVER_SERVER_NODE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/config/options.h"
#include "core/policy/clock_table.h"
#include "core/runtime/node.h"
#include "core/session/member.h"
#include "server/answer.h"
#include "server/cut_shelf.h"
#include "server/decider.h"
#include "server/decision_stream.h"
#include "server/shard.h"
#include "server/stage.h"

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
  // Which shards have a push complete: it exists once all have.
  struct Gathered {
    std::vector<bool> shards;
    std::size_t missing = 0;
    bool rejected = false;  // By any of them.
  };
  // What this shard knows of one worker.
  struct Worker {
    NodeId sender = kNoNode;  // Its present life; older ones are fenced.
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
    std::uint32_t rank = 0;
    std::vector<NodeId> servers;  // By rank.
    bool by_tier = false;
    std::unique_ptr<Shard> shard;            // Touched by nobody else while `applying`.
    std::unique_ptr<Decider> decider;        // The lead's, or each shard's own.
    std::unique_ptr<DecisionStream> stream;  // The lead's.
    DecisionReceiver receiver;               // A follower's.
    std::vector<Worker> workers;             // By rank.
    ClockTable clocks;                       // As executed.
    std::deque<Decision> log;  // To be executed; bounded by what workers have under way.
    bool applying = false;
    Decision applied;                   // The entry under way ...
    std::vector<StagedEntry> updating;  // ... and the pushes it is made of.
    std::uint64_t version = 0;
    CutShelf cuts;
    std::vector<std::pair<NodeId, PushAck>> acks;  // Not sent yet: an answer may carry them.
    std::vector<std::uint32_t> deferred_reads;     // Ranks whose read waits for an apply to end, or
                                                   // for older snapshots to be dropped.
    explicit Training(std::uint32_t worker_count) : clocks(worker_count) {}
  };

  void BeginTraining(Time now, Outbox& out);
  void OnOpen(NodeId from, const SessionOpen& message, Time now, Outbox& out);
  void OnClose(NodeId from, const SessionClose& message, Time now, Outbox& out);
  void OnPush(NodeId from, const Push& push, const Buffer& payload, Time now, Outbox& out);
  void OnPull(NodeId from, const Message& message, Time now, Outbox& out);
  void OnStaged(const Staged& message, Time now, Outbox& out);
  void OnDecisions(NodeId from, const Decisions& message, Time now, Outbox& out);
  // The worker of this rank if `from` is its present life; else refuses and returns nullptr.
  Worker* WorkerOf(NodeId from, std::uint32_t rank, Outbox& out);
  void NoteStaged(std::uint32_t shard, const StagedPush& push, Decider::Log& log);
  void ReportStaged(Outbox& out);

  // Puts freshly made entries into effect: here, and on their way to followers.
  void Commit(Decider::Log log, Time now, Outbox& out);
  void Execute(Time now, Outbox& out);
  // Whether this shard can do what an entry says. A follower trusts the lead's bytes no more than
  // anybody's.
  Status Executable(const Decision& decision) const;
  void StartApply(const Decision& decision, Outbox& out);
  void FinishApply(Outbox& out);
  void Decided(const PushShare& share, const StagedEntry& entry, PushOutcome outcome, Outbox& out);
  void ExecuteDiscard(const Decision& decision, Outbox& out);
  void ExecuteGrant(const Decision& decision, Outbox& out);
  void ExecuteOpen(const Decision& decision, Outbox& out);
  void ExecuteLeave(const Decision& decision, Outbox& out);
  void ExecuteCut(const Decision& decision, Outbox& out);
  void ServeRead(std::uint32_t rank, Outbox& out);
  void SendAcks(Outbox& out);
  void ServeDeferred(Time now, Outbox& out);
  void ServeCuts(Outbox& out);
  Statistics CurrentStatistics(Time now) const;

  const Options options_;
  Member member_;
  std::unique_ptr<Training> training_;
  Statistics statistics_;
  std::uint64_t next_job_ = 1;
};

}  // namespace slackline

#endif  // SLACKLINE_SERVER_SERVER_NODE_H_
