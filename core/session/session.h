// Session: a client's exactly-once transfers to all shards of one tier. It slices what is pushed,
// keeps several pushes in flight within a bound, sends stored bytes again until acknowledged, and
// puts what is pulled together again.
//
// It covers what its servers own together: all parameters for a worker, one shard for a region's
// uplink. It knows nothing of ranks' clocks, models or rules. Part of a Node: driven by the Node's
// inputs, used on its thread; performs effects only through the Outbox. It never waits for ever:
// whoever owns it reads Waits().
#ifndef SLACKLINE_CORE_SESSION_SESSION_H_
#define SLACKLINE_CORE_SESSION_SESSION_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <variant>
#include <vector>

#include "core/base/buffer.h"
#include "core/base/digest.h"
#include "core/runtime/node.h"
#include "core/wire/messages.h"

namespace slackline {

inline constexpr TimerId kSessionTimer{2};

// What one push carries. The Buffer is shared, never copied: it must not change afterwards.
struct PushContent {
  std::uint64_t seq = 0;
  Buffer dense;  // All that the session covers, in flat order; empty with `rejected`.
  std::vector<Rows> rows;
  std::vector<std::uint64_t> versions;  // Of each shard, as read by the round that computed this.
  std::uint64_t samples = 0;
  bool rejected = false;  // The round counts, but there is nothing fit to apply.
};

// What one pull brought.
struct PullContent {
  std::uint64_t round = 0;
  std::uint64_t cut = 0;
  Buffer dense;                         // All that the session covers, in flat order.
  std::vector<Rows> rows;               // As requested, values filled.
  std::vector<std::uint64_t> versions;  // Of each shard.
  std::uint64_t samples = 0;
  std::uint64_t data_begin = 0;
  bool last = false;
};

// What Session tells its owner.
struct SessionOpenedEvent {
  std::uint64_t next_seq;  // The smallest over the shards.
};
struct PushDoneEvent {
  std::uint64_t seq;
  PushOutcome outcome;  // The worst over the shards.
};
struct PullDoneEvent {
  PullContent content;
};
struct SessionClosedEvent {};
struct SessionFencedEvent {
  Status status;  // A newer life has this rank, or a shard refused for good.
};
using SessionEvent = std::variant<SessionOpenedEvent, PushDoneEvent, PullDoneEvent,
                                  SessionClosedEvent, SessionFencedEvent>;

class Session {
 public:
  struct Settings {
    std::uint32_t rank = 0;
    Duration retry{};                  // Before an unanswered message is sent again, at least.
    std::uint64_t chunk_elements = 1;  // Dense parameters in one message, at most.
    std::uint32_t max_inflight_pushes = 1;
    bool one_version = false;          // The shards decide together: a read must show one version.
    bool timing_only = false;          // Buffers are sizes without bytes.
    std::vector<NodeId> senders = {};  // As SessionOpen's.
  };
  // `servers`: of one tier, with ranges that follow one another.
  Session(Settings settings, const ParameterSpec& spec, const std::vector<ServerEntry>& servers);

  // A worker's new life. Answered by SessionOpenedEvent.
  void Open(Time now, Outbox& out);
  // REQUIRES no push in flight. Answered by SessionClosedEvent.
  void Close(Time now, Outbox& out);

  bool CanPush() const { return pushes_.size() < settings_.max_inflight_pushes; }
  std::size_t pushes_in_flight() const { return pushes_.size(); }
  // REQUIRES CanPush() and, save for the first, seq == the previous one + 1.
  void StartPush(Time now, PushContent content, Outbox& out);
  // Both at once, in one message a shard: for models without tables.
  // REQUIRES what StartPush and StartPull require.
  void StartPushAndPull(Time now, PushContent content, std::uint64_t round, std::uint64_t own,
                        Outbox& out);

  bool pulling() const { return pull_.has_value(); }
  // Asks for a round's parameters: all dense ones, and the rows named. The answer holds at least
  // `own` pushes of this rank. REQUIRES !pulling().
  void StartPull(Time now, std::uint64_t round, std::uint64_t own, std::vector<Rows> rows,
                 Outbox& out);
  // Asks for the first cut from `cut` on that still exists. REQUIRES !pulling().
  void StartPullCut(Time now, std::uint64_t cut, std::vector<Rows> rows, Outbox& out);

  // True where the message was for this Session; what follows from it is appended to `events`.
  bool OnMessage(Time now, NodeId from, const Message& message, Outbox& out,
                 std::vector<SessionEvent>& events);
  // REQUIRES timer == kSessionTimer.
  void OnTimer(Time now, Outbox& out);

  std::vector<Wait> Waits(Time now) const;
  std::uint64_t bytes_pushed() const { return bytes_pushed_; }
  std::uint64_t bytes_pulled() const { return bytes_pulled_; }
  std::uint64_t retried() const { return retried_; }
  void AddTo(Digest& digest) const;

 private:
  enum class Life : std::uint8_t { kNew, kOpening, kOpen, kClosing, kClosed };

  struct Shard {
    NodeId node;
    std::uint32_t rank;
    ShardRange range;
    bool answered = false;  // To the SessionOpen or SessionClose under way.
    std::uint64_t next_seq = 0;
  };
  // One push to one shard: stored until acknowledged.
  struct PushSlice {
    std::vector<Message> chunks;
    bool done = false;
  };
  struct InflightPush {
    std::uint64_t seq;
    Time since{};     // First sent.
    Time sent;        // Last sent.
    Duration wait{};  // Before it is sent again; twice as long each time.
    PushOutcome outcome = PushOutcome::kApplied;
    std::size_t left;               // Shards that have not acknowledged.
    std::vector<PushSlice> slices;  // By shard.
  };
  // One part of a pull from one shard.
  struct PullPart {
    Message request;
    std::uint32_t rows = 0;             // Index into the content's rows; unused for dense.
    std::vector<std::uint32_t> places;  // Rows: where each key stands in its Rows.
    std::vector<bool> chunks_seen;
    std::size_t chunks_left = 1;
    std::uint64_t values_left = 0;  // Dense: how many have not come.
    bool done = false;
  };
  struct ShardPull {
    std::vector<PullPart> parts;
    std::size_t parts_left = 0;
    std::uint64_t version = 0;
    bool asked = false;
  };
  struct InflightPull {
    std::uint64_t request = 0;
    Time since{};     // First asked.
    Time sent;        // Last asked.
    Duration wait{};  // Before it is asked again; twice as long each time.
    bool by_cut = false;
    std::uint64_t wanted_cut = 0;
    std::uint64_t own = 0;
    PullContent content;
    std::size_t shards_left = 0;
    std::vector<ShardPull> shards;
  };

  // Tells every shard that has not answered yet that this rank opens, or closes.
  void SendLife(Outbox& out) const;
  void BeginLife(Time now, Life life, Outbox& out);
  // `with`: a pull that travels with it, or nullptr.
  void AddPush(Time now, PushContent content, const InflightPull* with, Outbox& out);
  // Makes it the pull under way; sends nothing yet.
  void PreparePull(Time now, InflightPull pull);
  void BeginPull(Time now, InflightPull pull, Outbox& out);
  std::vector<PullPart> PartsFor(const InflightPull& pull, std::size_t shard) const;
  void PrepareShard(std::size_t shard);
  void AskShard(std::size_t shard, Outbox& out);
  void OnPullReply(Time now, std::size_t shard, const PullReply& reply, const Buffer& payload,
                   Outbox& out, std::vector<SessionEvent>& events);
  // Copies a reply's values to their places; false where they do not fit what was asked.
  bool Place(std::size_t shard, PullPart& part, const PullReply& reply, const Buffer& payload);
  void FinishPull(Time now, Outbox& out, std::vector<SessionEvent>& events);
  void OnPushAck(Time now, std::size_t shard, const PushAck& ack,
                 std::vector<SessionEvent>& events);
  void SendSlice(const InflightPush& push, std::size_t shard, Outbox& out) const;
  std::optional<std::size_t> ShardOf(NodeId node) const;
  // An answer took so long: the next one is given twice that before it is asked for again. On a
  // slow link, repeating what is still under way would only make it slower.
  void NoteAnswerTime(Duration took);
  void ArmTimer(Time now, Outbox& out);

  const Settings settings_;
  const std::uint64_t first_element_;   // Of the flat order, and ...
  const std::uint64_t dense_elements_;  // ... how many from there on.
  const std::vector<TableSpec> tables_;
  std::vector<Shard> shards_;
  Life life_ = Life::kNew;
  Time life_asked_{};
  std::deque<InflightPush> pushes_;  // Oldest first; at most max_inflight_pushes.
  std::optional<InflightPull> pull_;
  std::uint64_t next_request_ = 1;
  Duration retry_;  // Of the next push or pull.
  bool timer_armed_ = false;
  std::uint64_t bytes_pushed_ = 0;
  std::uint64_t bytes_pulled_ = 0;
  std::uint64_t retried_ = 0;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_SESSION_SESSION_H_
