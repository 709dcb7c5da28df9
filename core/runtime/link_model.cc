#include "core/runtime/link_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace slackline {
namespace {

// 127 years. Later than any deadline; sums of two such times and of latencies stay in range.
constexpr double kFarNs = 4e18;
constexpr Time kFar{static_cast<Time::rep>(kFarNs)};

}  // namespace

Duration Part(Duration whole, double draw) {
  return Duration(static_cast<Duration::rep>(static_cast<double>(whole.count()) * draw));
}

Time LinkQueue::Occupy(const LinkModel& model, Time now, std::uint64_t bytes, double jitter_draw) {
  free_at = std::max(now, free_at);
  if (model.gbps > 0) {
    // 1 Gbit/s is 1 bit a nanosecond.
    const double transfer_ns = std::min(static_cast<double>(bytes) * 8 / model.gbps, kFarNs);
    free_at = std::min(free_at + Duration(std::llround(transfer_ns)), kFar);
  }
  last_arrival = std::max(last_arrival, free_at + model.latency + Part(model.jitter, jitter_draw));
  return last_arrival;
}

std::uint64_t PayloadScale::Of(std::uint64_t bytes) const {
  if (counted == own) return bytes;
  __extension__ using Wide = unsigned __int128;
  const Wide scaled = (Wide{bytes} * counted + own / 2) / own;
  return static_cast<std::uint64_t>(
      std::min<Wide>(scaled, std::numeric_limits<std::uint64_t>::max()));
}

}  // namespace slackline
