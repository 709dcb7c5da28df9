// LinkModel: what one direction between two places does to messages, and LinkQueue: when each of
// them arrives. Virtual time (SimNetwork) and real sockets (LinkShaper) count by this same code.
// Pure: no clock, no random device.
#ifndef SLACKLINE_CORE_RUNTIME_LINK_MODEL_H_
#define SLACKLINE_CORE_RUNTIME_LINK_MODEL_H_

#include <cstdint>

#include "core/base/time.h"

namespace slackline {

struct LinkModel {
  double gbps = 0;  // 0: unlimited.
  Duration latency{};
  Duration jitter{};     // Uniform in [0, jitter), added to the latency; keeps the order.
  double loss = 0;       // Chance that a message occupies the link and does not arrive.
  double duplicate = 0;  // ... crosses twice.
  double reorder = 0;    // ... is held back, behind the link, by uniform [0, reorder_by).
  Duration reorder_by{};
};

// The part `draw`, in [0, 1), of a duration.
Duration Part(Duration whole, double draw);

// What crosses one link, one after another.
struct LinkQueue {
  Time free_at{};
  Time last_arrival{};

  // When `bytes` that are sent now arrive: they occupy the link for bytes * 8 / gbps nanoseconds,
  // rounded to one, from max(now, free_at) on, and take its latency and jitter from there. Never
  // before what was sent earlier. `jitter_draw` is in [0, 1).
  Time Occupy(const LinkModel& model, Time now, std::uint64_t bytes, double jitter_draw);
};

// Makes the links count a small model as a large one.
struct PayloadScale {
  std::uint64_t counted = 1;  // Bytes that links count for a whole model, which has ...
  std::uint64_t own = 1;      // ... so many. REQUIRES more than 0.

  // bytes * counted / own to the nearest byte; so what the parts of a model count as adds up to
  // `counted` to within half a byte a part.
  std::uint64_t Of(std::uint64_t bytes) const;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_RUNTIME_LINK_MODEL_H_
