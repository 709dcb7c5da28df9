// SchedulerNode: who takes part, who owns which parameters, where the run is, and how it ends. The
// data path does not need it: workers and servers talk to one another directly.
#ifndef SLACKLINE_SCHEDULER_SCHEDULER_NODE_H_
#define SLACKLINE_SCHEDULER_SCHEDULER_NODE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/config/options.h"
#include "core/policy/topology.h"
#include "core/runtime/node.h"
#include "core/session/timeouts.h"

namespace slackline {

class SchedulerNode : public Node {
 public:
  // REQUIRES valid options.
  SchedulerNode(NodeId self, const Options& options);

  void OnStart(Time now, Outbox& out) override;
  void OnMessage(Time now, NodeId from, const Message& message, Outbox& out) override;
  void OnTimer(Time now, TimerId timer, Outbox& out) override;
  void OnJobDone(Time, JobId, Outbox&) override {}
  void OnInterrupt(Time now, Outbox& out) override;
  std::uint64_t StateDigest() const override;

 private:
  // One place in the run: a role's rank, taken or not.
  struct Member {
    Role role;
    std::uint32_t rank;
    NodeId node = kNoNode;  // Its present life.
    std::string address;
    MemberState state = MemberState::kJoining;
    Statistics statistics;
    Time heard{};
    std::optional<Time> lost;  // Since when it is missing, once it was here.

    bool present() const { return node != kNoNode && !lost.has_value(); }
  };

  void OnHello(Time now, NodeId from, const Hello& hello, Outbox& out);
  // Whether a newcomer without a wish for a rank may take this place.
  bool Suits(const Member& place, const Hello& hello) const;
  // Why this newcomer cannot take part, or Ok.
  Status Fits(const Hello& hello) const;
  Member* PlaceFor(Time now, NodeId from, const Hello& hello, Outbox& out);
  void OnHeartbeat(Time now, Member& member, const Heartbeat& heartbeat, Outbox& out);
  void OnEvaluation(Time now, const Evaluation& evaluation, Outbox& out);
  void OnBarrier(NodeId from, const BarrierEnter& enter, Outbox& out);
  StatusReply CurrentStatus(Time now) const;

  void StartIfComplete(Time now, Outbox& out);
  void Advance(Time now, Phase phase, Outbox& out);
  void AdvanceIfDone(Time now, Outbox& out);
  void Stop(Time now, bool failed, std::string reason, Outbox& out);
  void Finish(Time now, Outbox& out);
  void LookForLost(Time now, Outbox& out);
  void Broadcast(Outbox& out);
  void ReportMembership(Time now, const std::string& event, const Member& member, std::string text,
                        Outbox& out);
  void ReportProgress(Time now, Outbox& out);
  std::string Missing() const;
  Member* MemberOf(NodeId node);

  const Options options_;
  const Topology topology_;
  const Timeouts timeouts_;
  const std::string agreement_;
  std::vector<Member> members_;  // Servers, workers, evaluators; each by rank.
  std::map<NodeId, std::size_t> by_node_;
  Roster roster_;
  std::optional<Time> running_since_;
  std::optional<Time> trained_at_;  // When the last worker finished.
  std::optional<Time> stopping_since_;
  Time next_waiting_note_{};
  Time next_progress_{};
  std::vector<EvaluationReport> evaluations_;
  std::map<std::string, std::set<std::uint32_t>> barriers_;  // Ranks inside, by name.
};

}  // namespace slackline

#endif  // SLACKLINE_SCHEDULER_SCHEDULER_NODE_H_
