// The messages of the protocol: one struct each. docs/PROTOCOL.md says what they mean and when they
// are sent; codec.h turns them into bytes and back.
//
// `Fields` lists a message's fields once, in wire order, for the encoder and the decoder alike.
// Types are numbered in MessageType; a number is never reused and fields are never reordered.
#ifndef SLACKLINE_CORE_WIRE_MESSAGES_H_
#define SLACKLINE_CORE_WIRE_MESSAGES_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/base/buffer.h"
#include "core/wire/statistics.h"
#include "core/wire/types.h"
#include "slackline/parameters.h"
#include "slackline/status.h"

namespace slackline {

enum class MessageType : std::uint16_t {
  kHello = 1,
  kWelcome = 2,
  kRefused = 3,
  kRoster = 4,
  kHeartbeat = 5,
  kHeartbeatAck = 6,
  kStatusRequest = 7,
  kStatusReply = 8,
  kBarrierEnter = 9,
  kBarrierRelease = 10,
  kSessionOpen = 16,
  kSessionOpened = 17,
  kSessionClose = 18,
  kSessionClosed = 19,
  kPush = 20,
  kPushAck = 21,
  kPull = 22,
  kPullReply = 23,
  kStaged = 24,
  kDecisions = 25,
  kDecisionsAck = 26,
  kEvaluation = 27,
  kEvaluationAck = 28,
};

// --- Membership: everybody <-> scheduler ---

// A process asks to take part. Repeated until answered.
struct Hello {
  static constexpr MessageType kType = MessageType::kHello;
  Role role = Role::kWorker;
  std::int64_t preferred_rank = -1;  // -1: any.
  std::string address;               // Where others reach it, "tcp://host:port"; "" if nobody must.
  std::string agreement;             // "name=value" lines: what the whole cluster must agree on.
  ParameterSpec parameters;          // Workers and evaluators: the model. Servers: empty.
  std::uint64_t rounds = 0;          // Workers: how many each will do.
  std::int64_t region = -1;          // Wanted, where no rank is; -1: any, or the global tier.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(role, preferred_rank, address, agreement, parameters, rounds, region);
  }
  bool operator==(const Hello&) const = default;
};

struct Welcome {
  static constexpr MessageType kType = MessageType::kWelcome;
  Role role = Role::kWorker;
  std::uint32_t rank = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(role, rank);
  }
  bool operator==(const Welcome&) const = default;
};

// The one way to say no, to any request.
struct Refused {
  static constexpr MessageType kType = MessageType::kRefused;
  StatusCode code = StatusCode::kInvalidArgument;
  bool retry = false;  // Asking again later may succeed.
  std::string message;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(code, retry, message);
  }
  bool operator==(const Refused&) const = default;
};

struct ServerEntry {
  std::uint32_t rank = 0;
  NodeId node = kNoNode;
  std::string address;
  ShardRange range;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(rank, node, address, range.begin, range.end);
  }
  bool operator==(const ServerEntry&) const = default;
};

// Who takes part and where the run is. Sent at every change, and again to whoever's heartbeat
// shows an older epoch.
struct Roster {
  static constexpr MessageType kType = MessageType::kRoster;
  std::uint64_t epoch = 0;
  Phase phase = Phase::kForming;
  std::uint32_t workers = 0;  // Expected in all.
  std::uint32_t evaluators = 0;
  std::uint64_t rounds = 0;  // Of each worker.
  ParameterSpec parameters;
  std::vector<ServerEntry> servers;  // By rank, tier after tier; each tier's first is its lead.
  bool failed = false;               // kStopping only: the run did not end well.
  std::string reason;                // Why it stops, for people.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(epoch, phase, workers, evaluators, rounds, parameters, servers, failed, reason);
  }
  bool operator==(const Roster&) const = default;
};

enum class MemberState : std::uint8_t {
  kJoining = 1,
  kWorking = 2,
  kFinished = 3,  // Workers: all rounds done and acknowledged. Evaluator: the last cut evaluated.
  kStopped = 4,   // The last report of this process.
};

struct Heartbeat {
  static constexpr MessageType kType = MessageType::kHeartbeat;
  std::uint64_t epoch = 0;  // Of the newest roster known.
  MemberState state = MemberState::kJoining;
  std::string reason;  // kStopped: why it ends, when that is not a good end.
  Statistics statistics;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(epoch, state, reason, statistics);
  }
  bool operator==(const Heartbeat&) const = default;
};

struct HeartbeatAck {
  static constexpr MessageType kType = MessageType::kHeartbeatAck;
  std::uint64_t epoch = 0;
  MemberState state = MemberState::kJoining;  // The state it acknowledges.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(epoch, state);
  }
  bool operator==(const HeartbeatAck&) const = default;
};

struct StatusRequest {
  static constexpr MessageType kType = MessageType::kStatusRequest;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive();
  }
  bool operator==(const StatusRequest&) const = default;
};

struct MemberStatus {
  Role role = Role::kWorker;
  std::uint32_t rank = 0;
  bool present = false;
  std::string address;
  MemberState state = MemberState::kJoining;
  std::uint64_t silent_ns = 0;  // Since it was last heard.
  Statistics statistics;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(role, rank, present, address, state, silent_ns, statistics);
  }
  bool operator==(const MemberStatus&) const = default;
};

struct StatusReply {
  static constexpr MessageType kType = MessageType::kStatusReply;
  Phase phase = Phase::kForming;
  std::uint64_t running_ns = 0;       // Since training began; 0 before.
  std::vector<MemberStatus> members;  // Present or missing, by role and rank.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(phase, running_ns, members);
  }
  bool operator==(const StatusReply&) const = default;
};

// A named barrier among all workers: everyone enters, then everyone is released. Repeated until
// released.
struct BarrierEnter {
  static constexpr MessageType kType = MessageType::kBarrierEnter;
  std::string name;
  std::uint32_t rank = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(name, rank);
  }
  bool operator==(const BarrierEnter&) const = default;
};

struct BarrierRelease {
  static constexpr MessageType kType = MessageType::kBarrierRelease;
  std::string name;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(name);
  }
  bool operator==(const BarrierRelease&) const = default;
};

// The evaluator's finding on one cut. Repeated until acknowledged.
struct Evaluation {
  static constexpr MessageType kType = MessageType::kEvaluation;
  std::uint64_t cut = 0;
  std::uint64_t version = 0;
  std::uint64_t samples = 0;   // Trained on before the cut.
  std::uint64_t examples = 0;  // Held-out examples looked at.
  double loss = 0;
  double metric = 0;  // Accuracy, or the model's own measure.
  bool last = false;  // Of the parameters when every worker had finished.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(cut, version, samples, examples, loss, metric, last);
  }
  bool operator==(const Evaluation&) const = default;
};

struct EvaluationAck {
  static constexpr MessageType kType = MessageType::kEvaluationAck;
  std::uint64_t cut = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(cut);
  }
  bool operator==(const EvaluationAck&) const = default;
};

// --- Training: worker or evaluator <-> server ---

// A worker's new life begins: older lives of its rank are fenced, and the reply says which push
// comes next.
struct SessionOpen {
  static constexpr MessageType kType = MessageType::kSessionOpen;
  std::uint32_t rank = 0;
  // A region's uplink: its servers, each of which talks to the shard of its own place; the first
  // one names the life. A worker: empty, it talks to all shards itself.
  std::vector<NodeId> senders;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(rank, senders);
  }
  bool operator==(const SessionOpen&) const = default;
};

struct SessionOpened {
  static constexpr MessageType kType = MessageType::kSessionOpened;
  std::uint32_t rank = 0;
  std::uint64_t next_seq = 0;  // Every push below it has been decided at this shard.
  std::uint64_t version = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(rank, next_seq, version);
  }
  bool operator==(const SessionOpened&) const = default;
};

// A worker has finished all its rounds and leaves the clock.
struct SessionClose {
  static constexpr MessageType kType = MessageType::kSessionClose;
  std::uint32_t rank = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(rank);
  }
  bool operator==(const SessionClose&) const = default;
};

struct SessionClosed {
  static constexpr MessageType kType = MessageType::kSessionClosed;
  std::uint32_t rank = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(rank);
  }
  bool operator==(const SessionClosed&) const = default;
};

// One chunk of one push to one shard. Payload: dense, `count` fp32; a table, `count` keys of 64
// bits and then their rows.
struct Push {
  static constexpr MessageType kType = MessageType::kPush;
  std::uint32_t rank = 0;
  std::uint64_t seq = 0;  // Equal to the worker's round.
  std::uint32_t chunk = 0;
  std::uint32_t chunks = 1;  // Of this push to this shard.
  std::uint32_t table = kDense;
  std::uint64_t offset = 0;   // Dense: in elements from the shard's beginning.
  std::uint64_t count = 0;    // Elements, or rows.
  std::uint64_t version = 0;  // Of this shard, when read by the round that computed this.
  std::uint64_t samples = 0;  // Behind the whole push.
  bool rejected = false;      // The worker found it unfit; nothing to apply, but the round counts.
  // The last chunk may ask for the next round's dense parameters in the same breath, as a Pull of
  // one part with these fields would. 0: it does not.
  std::uint64_t pull_request = 0;
  std::uint64_t pull_round = 0;
  std::uint64_t pull_own = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(rank, seq, chunk, chunks, table, offset, count, version, samples, rejected,
            pull_request, pull_round, pull_own);
  }
  bool operator==(const Push&) const = default;
};

struct PushAck {
  static constexpr MessageType kType = MessageType::kPushAck;
  std::uint32_t rank = 0;
  std::uint64_t seq = 0;
  PushOutcome outcome = PushOutcome::kApplied;
  std::uint64_t version = 0;  // Of the shard after it.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(rank, seq, outcome, version);
  }
  bool operator==(const PushAck&) const = default;
};

// Asks for parameters: a shard's whole dense part, or the rows of the payload's `count` keys. All
// `parts` of one request are answered from one version.
//   cut == 0: by a worker, for `round`, when the gate opens and `own` of its pushes are in.
//   cut > 0:  by anyone, of the named cut; with `or_later`, of the first cut from there on.
struct Pull {
  static constexpr MessageType kType = MessageType::kPull;
  std::uint64_t request = 0;  // Chosen by the asker, repeated in the reply.
  std::uint32_t rank = 0;
  std::uint64_t round = 0;
  std::uint64_t own = 0;
  std::uint64_t cut = 0;
  bool or_later = false;
  std::uint32_t part = 0;
  std::uint32_t parts = 1;
  std::uint32_t table = kDense;
  std::uint64_t count = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(request, rank, round, own, cut, or_later, part, parts, table, count);
  }
  bool operator==(const Pull&) const = default;
};

// One chunk of the answer to one part. Payload: `count` fp32, or `count` rows in the keys' order.
struct PullReply {
  static constexpr MessageType kType = MessageType::kPullReply;
  std::uint32_t rank = 0;  // As asked.
  std::uint64_t request = 0;
  std::uint32_t part = 0;
  std::uint32_t chunk = 0;
  std::uint32_t chunks = 1;  // Of this part.
  std::uint32_t table = kDense;
  std::uint64_t offset = 0;  // Dense: in elements from the shard's beginning.
  std::uint64_t count = 0;
  std::uint64_t version = 0;
  std::uint64_t cut = 0;         // Which cut it is; 0 for a gated read.
  std::uint64_t samples = 0;     // Trained on before this version.
  std::uint64_t data_begin = 0;  // Samples begun by all before this round.
  bool gone = false;             // That cut is no longer held; ask for a later one.
  bool last = false;             // No worker pushes after this cut; or: there is no such round.
  // Also acknowledges the push of this seq, less one, as applied. 0: it does not.
  std::uint64_t acknowledged = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(rank, request, part, chunk, chunks, table, offset, count, version, cut, samples,
            data_begin, gone, last, acknowledged);
  }
  bool operator==(const PullReply&) const = default;
};

// --- Decisions: lead <-> the tier's other shards ---

// A push that lies complete and checked at a shard, waiting to be decided.
struct StagedPush {
  std::uint32_t rank = 0;
  NodeId sender = kNoNode;
  std::uint64_t seq = 0;
  bool rejected = false;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(rank, sender, seq, rejected);
  }
  bool operator==(const StagedPush&) const = default;
};

// Follower -> lead. Repeated until decided: a push exists once every shard has staged it.
struct Staged {
  static constexpr MessageType kType = MessageType::kStaged;
  std::uint32_t shard = 0;
  std::vector<StagedPush> pushes;
  std::uint64_t answered = 0;  // A region's: exchanges whose answer has come to this shard.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(shard, pushes, answered);
  }
  bool operator==(const Staged&) const = default;
};

struct PushShare {
  std::uint32_t rank = 0;
  std::uint64_t seq = 0;
  float weight = 1.0f;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(rank, seq, weight);
  }
  bool operator==(const PushShare&) const = default;
};

// One entry of a tier's decision log. Every shard executes the same entries in the same order.
struct Decision {
  enum class Kind : std::uint8_t {
    kApply = 1,    // `pushes`, weighted and summed in this order, make one update with `lr`.
    kDiscard = 2,  // `pushes` are not used.
    kGrant = 3,    // `rank` may read for `round`: its pull is answered from this point of the log.
    kOpen = 4,     // `rank` begins a new life, `sender`; its next push is `seq`.
    kLeave = 5,    // `rank` leaves the clock.
    kCut = 6,      // The parameters here are kept under the name `cut`.
    // A region's tier alone.
    kExchange = 7,  // The difference gathered up to here is pushed to the global tier as `seq`.
    kMerge = 8,     // The global parameters that answered exchange `seq` are merged in.
    kDetach = 9,    // The region leaves the global tier: nothing more will be applied.
  };
  Kind kind = Kind::kApply;
  std::uint32_t rank = 0;
  NodeId sender = kNoNode;
  std::uint64_t seq = 0;
  std::uint64_t round = 0;
  std::uint64_t request = 0;  // kGrant: of the pull it answers.
  std::uint64_t cut = 0;
  std::uint64_t samples = 0;     // kApply: trained on after this update. kExchange: it reports.
  std::uint64_t data_begin = 0;  // kGrant: samples begun by all before this round.
  double lr = 0;
  bool last = false;  // kCut: nothing will be applied after it. kGrant: there is no further round.
  std::vector<PushShare> pushes;
  std::vector<NodeId> senders;  // kOpen: as SessionOpen's.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(kind, rank, sender, seq, round, request, cut, samples, data_begin, lr, last, pushes,
            senders);
  }
  bool operator==(const Decision&) const = default;
};

// Lead -> follower: entries first, first + 1, ... of the log. Repeated until acknowledged.
struct Decisions {
  static constexpr MessageType kType = MessageType::kDecisions;
  std::uint64_t first = 0;
  std::vector<Decision> entries;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(first, entries);
  }
  bool operator==(const Decisions&) const = default;
};

struct DecisionsAck {
  static constexpr MessageType kType = MessageType::kDecisionsAck;
  std::uint32_t shard = 0;
  std::uint64_t next = 0;  // The first entry not yet received.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(shard, next);
  }
  bool operator==(const DecisionsAck&) const = default;
};

using MessageBody =
    std::variant<Hello, Welcome, Refused, Roster, Heartbeat, HeartbeatAck, StatusRequest,
                 StatusReply, BarrierEnter, BarrierRelease, Evaluation, EvaluationAck, SessionOpen,
                 SessionOpened, SessionClose, SessionClosed, Push, PushAck, Pull, PullReply, Staged,
                 Decisions, DecisionsAck>;

// A message as Nodes see it.
struct Message {
  MessageBody body;
  Buffer payload;

  Message() = default;
  template <typename Body>
  Message(Body message_body, Buffer message_payload = {})  // NOLINT: implicit by design.
      : body(std::move(message_body)), payload(std::move(message_payload)) {}

  MessageType type() const {
    return std::visit([](const auto& b) { return std::decay_t<decltype(b)>::kType; }, body);
  }
};

const char* MessageTypeName(MessageType type);

}  // namespace slackline

#endif  // SLACKLINE_CORE_WIRE_MESSAGES_H_
