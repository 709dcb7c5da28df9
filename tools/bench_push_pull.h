// The bench of the data path: one server, one client, loopback; push and pull in one round trip.
#ifndef SLACKLINE_TOOLS_BENCH_PUSH_PULL_H_
#define SLACKLINE_TOOLS_BENCH_PUSH_PULL_H_

#include <cstdint>
#include <vector>

#include "core/base/time.h"
#include "slackline/status.h"

namespace slackline {

// Operations a second: the median of several repeats, and the least and the most.
struct Rate {
  double median = 0;
  double least = 0;
  double most = 0;
};
Rate RateOf(std::vector<double> repeats);

struct PushPullCase {
  std::uint64_t bytes = 0;   // Of a push, and of a pull.
  std::uint32_t window = 1;  // Operations in flight.
};

struct PushPullResult {
  Rate operations;
  Duration latency_p50{};  // Of one operation, from its push to its parameters.
  Duration latency_p99{};
};

// The server adds what it gets (sgd), checks every value and answers from a snapshot: nothing of a
// real run is left out but the gate and the model. Chunks are of `chunk_bytes`.
Result<PushPullResult> BenchPushPull(const PushPullCase& what, std::uint64_t chunk_bytes,
                                     Duration a_repeat, int repeats);

// The yardstick: messages of the same size echoed between two ZeroMQ sockets over TCP loopback.
Result<Rate> BenchRawEcho(const PushPullCase& what, Duration a_repeat, int repeats);

}  // namespace slackline

#endif  // SLACKLINE_TOOLS_BENCH_PUSH_PULL_H_
