// TraceEvent: what happened in the protocol's own terms. Written to a run's event logs, where
// `slackline verify` reads whether the promises held.
#ifndef SLACKLINE_CORE_RUNTIME_TRACE_H_
#define SLACKLINE_CORE_RUNTIME_TRACE_H_

#include <cstdint>

namespace slackline {

struct TraceEvent {
  enum class Kind : std::uint8_t {
    // Worker.
    kRoundStarted = 1,  // rank, seq = round, version = smallest read, value = data_begin
    kPushSent = 2,      // rank, seq
    kPushDone = 3,      // rank, seq, value = PushOutcome
    // Server, of its own shard.
    kSessionOpened = 16,  // rank, seq = next seq
    kReadServed =
        17,  // rank, seq = round, version, value = own pushes in it, extra = slowest clock
    kPushApplied = 18,    // rank, seq, version = after, value = staleness, extra = samples
    kPushDuplicate = 19,  // rank, seq
    kPushDiscarded = 20,  // rank, seq, version
    kPushRejected = 21,   // rank, seq
    kWorkerLeft = 22,     // rank, seq = its final clock
    kCutMade = 23,        // seq = cut, version, value = samples
    kExchangeBegun = 24,  // seq, version of the region, value = samples
    kMerged = 25,         // seq, version of the region, value = version of the global tier
  };

  Kind kind = Kind::kRoundStarted;
  std::uint32_t rank = 0;   // The worker, or region, it is about.
  std::uint32_t shard = 0;  // The server's rank; 0 for worker events.
  std::uint64_t seq = 0;
  std::uint64_t version = 0;
  std::uint64_t value = 0;
  std::uint64_t extra = 0;

  bool operator==(const TraceEvent&) const = default;
};

// "push applied", for logs that people and scripts read.
const char* TraceName(TraceEvent::Kind kind);

}  // namespace slackline

#endif  // SLACKLINE_CORE_RUNTIME_TRACE_H_
