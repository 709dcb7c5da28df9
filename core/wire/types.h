// The small types that every role and every message shares.
#ifndef SLACKLINE_CORE_WIRE_TYPES_H_
#define SLACKLINE_CORE_WIRE_TYPES_H_

#include <cstdint>
#include <ostream>

namespace slackline {

// One life of one process (an incarnation), named by 64 random bits. Nodes send to NodeIds; where
// a NodeId lives is the runtime's business.
enum class NodeId : std::uint64_t {};
inline constexpr NodeId kNoNode{0};
// Aliases name a peer by its place: whoever listens at the address speaks under them. No life has
// a name this small. The scheduler is known by its address before anything else is known of it.
inline constexpr NodeId kSchedulerNode{1};
inline constexpr NodeId kLastAlias{2};

inline constexpr bool IsAlias(NodeId id) { return id != kNoNode && id <= kLastAlias; }

inline std::ostream& operator<<(std::ostream& out, NodeId id) {
  return out << static_cast<std::uint64_t>(id);
}

enum class Role : std::uint8_t {
  kScheduler = 1,
  kServer = 2,
  kWorker = 3,
  kEvaluator = 4,
  kObserver = 5,  // `slackline status`: asks, and takes no part.
};

const char* RoleName(Role role);
inline std::ostream& operator<<(std::ostream& out, Role role) { return out << RoleName(role); }

// Where a run is. Phases only ever advance.
enum class Phase : std::uint8_t {
  kForming = 1,    // Not everybody has joined.
  kRunning = 2,    // Workers train.
  kFinishing = 3,  // Every worker has finished; the last evaluation is under way.
  kStopping = 4,   // Everyone reports for the last time and ends.
};

const char* PhaseName(Phase phase);

// What became of a push.
enum class PushOutcome : std::uint8_t {
  kApplied = 1,
  kDiscarded = 2,  // The recipe chose not to use it; the sender keeps what it held.
  kRejected = 3,   // It was not fit to be used (not finite, wrong size); see the reason.
};

const char* PushOutcomeName(PushOutcome outcome);

// The dense parameters of a shard: [begin, end) of the flat order, in elements.
struct ShardRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t size() const { return end - begin; }
  bool operator==(const ShardRange&) const = default;
};

// The `table` of a push or pull that is about dense parameters.
inline constexpr std::uint32_t kDense = 0xFFFFFFFFu;

}  // namespace slackline

#endif  // SLACKLINE_CORE_WIRE_TYPES_H_
