// RegionLinks: what the options say of the links between regions and inside them. Pure; the two
// runtimes carry it out, each in its own time.
//
// Region links take the place of SimOptions' link_gbps, link_latency_ms and link_jitter_ms.
#ifndef SLACKLINE_CORE_RUNTIME_REGION_LINKS_H_
#define SLACKLINE_CORE_RUNTIME_REGION_LINKS_H_

#include <cstdint>
#include <vector>

#include "core/base/time.h"
#include "core/config/options.h"
#include "core/runtime/link_model.h"
#include "slackline/status.h"

namespace slackline {

class RegionLinks {
 public:
  // No region links.
  RegionLinks() = default;

  // `own_model_bytes`: size of the model whose parts are sent; 0: unknown, nothing is scaled.
  // Errors: kInvalidArgument for matrices that do not fit `regions`, numbers that are no bandwidth
  // or time, and a link model that is neither shared nor ideal.
  static Result<RegionLinks> Create(const LinkOptions& options, std::uint32_t regions,
                                    std::uint64_t own_model_bytes);

  // False: regions are names only, and nothing below is to be used.
  bool exist() const { return exist_; }
  std::uint32_t regions() const { return regions_; }
  // Every pair of processes has all of its regions' bandwidth, and only payloads take it up.
  bool ideal() const { return ideal_; }

  // From one region to another, or inside one (without jitter). Faults are none of its business.
  // REQUIRES regions that there are.
  LinkModel Between(std::uint32_t from, std::uint32_t to) const;

  // What links count for payloads. A message counts Of(payload) and, unless ideal, its header.
  const PayloadScale& scale() const { return scale_; }
  std::uint64_t BytesOnLink(std::uint64_t payload_bytes, std::uint64_t header_bytes) const {
    return scale_.Of(payload_bytes) + (ideal_ ? 0 : header_bytes);
  }

  // Seconds that a ring all-reduce of `bytes` over all n workers takes: each passes on a part of
  // bytes / n to the next, 2 (n - 1) times, at the pace of the ring's slowest link. Latency does
  // not count (HALoS, arXiv 2506.04531, times it so).
  // `members_by_region`: workers of each region; those of one region stand side by side.
  double RingAllReduce(std::uint64_t bytes,
                       const std::vector<std::uint32_t>& members_by_region) const;

 private:
  double GbpsOf(std::uint32_t from, std::uint32_t to) const;
  // The slowest link of the best ring, in Gbit/s; infinity where there is no limit.
  double BestRingGbps(const std::vector<std::uint32_t>& members_by_region) const;
  double BestOrderGbps(std::vector<std::uint32_t> order) const;
  double SpanningGbps(const std::vector<std::uint32_t>& places) const;

  bool exist_ = false;
  bool ideal_ = false;
  std::uint32_t regions_ = 0;
  std::vector<double> gbps_;  // regions x regions, or empty; so are ...
  std::vector<Duration> latency_;
  Duration jitter_{};
  PayloadScale scale_;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_RUNTIME_REGION_LINKS_H_
