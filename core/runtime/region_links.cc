#include "core/runtime/region_links.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/check.h"
#include "core/base/strings.h"

namespace slackline {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
constexpr double kMillisecondsMax = 1e12;

Status CheckNumbers(const char* flag, const std::vector<double>& matrix, std::uint32_t regions,
                    double max) {
  const std::uint64_t needed = std::uint64_t{regions} * regions;
  if (!matrix.empty() && matrix.size() != needed) {
    return InvalidArgument(StrCat("--", flag, " has ", matrix.size(), " numbers; ", regions,
                                  " regions need ", needed, ", a row a region"));
  }
  for (const double value : matrix) {
    if (value >= 0 && value <= max) continue;
    return InvalidArgument(
        StrCat("--", flag, ": ", value, " is not in [0, ", max, "]; correct it"));
  }
  return Status::Ok();
}

}  // namespace

Result<RegionLinks> RegionLinks::Create(const LinkOptions& options, std::uint32_t regions,
                                        std::uint64_t own_model_bytes) {
  constexpr double kGbpsMax = 1e6;
  RegionLinks links;
  links.exist_ = !options.region_gbps.empty() || !options.region_latency_ms.empty();
  if (!links.exist_) return links;
  SLACKLINE_RETURN_IF_ERROR(CheckNumbers("region-gbps", options.region_gbps, regions, kGbpsMax));
  SLACKLINE_RETURN_IF_ERROR(
      CheckNumbers("region-latency-ms", options.region_latency_ms, regions, kMillisecondsMax));
  SLACKLINE_RETURN_IF_ERROR(
      CheckNumbers("region-jitter-ms", {options.region_jitter_ms}, 1, kMillisecondsMax));
  if (options.link_model != "shared" && options.link_model != "ideal") {
    return InvalidArgument(
        StrCat("--link-model '", options.link_model, "' is neither shared nor ideal"));
  }
  links.ideal_ = options.link_model == "ideal";
  links.regions_ = regions;
  links.gbps_ = options.region_gbps;
  for (const double ms : options.region_latency_ms)
    links.latency_.push_back(FromSeconds(ms * 1e-3));
  links.jitter_ = FromSeconds(options.region_jitter_ms * 1e-3);
  if (options.model_bytes > 0 && own_model_bytes > 0)
    links.scale_ = {.counted = options.model_bytes, .own = own_model_bytes};
  return links;
}

LinkModel RegionLinks::Between(std::uint32_t from, std::uint32_t to) const {
  SLACKLINE_CHECK(from < regions_ && to < regions_);
  const std::size_t at = std::size_t{from} * regions_ + to;
  LinkModel model;
  if (!gbps_.empty()) model.gbps = gbps_[at];
  if (!latency_.empty()) model.latency = latency_[at];
  if (from != to) model.jitter = jitter_;
  return model;
}

double RegionLinks::GbpsOf(std::uint32_t from, std::uint32_t to) const {
  const double gbps = Between(from, to).gbps;
  return gbps > 0 ? gbps : kUnlimited;
}

double RegionLinks::RingAllReduce(std::uint64_t bytes,
                                  const std::vector<std::uint32_t>& members_by_region) const {
  SLACKLINE_CHECK(members_by_region.size() == regions_);
  const double n = std::accumulate(members_by_region.begin(), members_by_region.end(), 0.0);
  if (n < 2) return 0;
  const double bits_per_second = BestRingGbps(members_by_region) * 1e9;
  return 2 * (n - 1) * (static_cast<double>(bytes) * 8 / n) / bits_per_second;
}

double RegionLinks::BestRingGbps(const std::vector<std::uint32_t>& members_by_region) const {
  constexpr std::size_t kOrdersTriedMax = 8;  // 7! orders.
  std::vector<std::uint32_t> places;
  double inside = kUnlimited;
  for (std::uint32_t region = 0; region < regions_; ++region) {
    if (members_by_region[region] > 0) places.push_back(region);
    if (members_by_region[region] > 1) inside = std::min(inside, GbpsOf(region, region));
  }
  if (places.size() < 2) return inside;
  const double between =
      places.size() <= kOrdersTriedMax ? BestOrderGbps(places) : SpanningGbps(places);
  return std::min(inside, between);
}

// Tries every order; the first place stays, since a ring has no beginning. REQUIRES two places, in
// ascending order.
double RegionLinks::BestOrderGbps(std::vector<std::uint32_t> order) const {
  double best = 0;
  do {
    double slowest = GbpsOf(order.back(), order.front());
    for (std::size_t i = 1; i < order.size(); ++i)
      slowest = std::min(slowest, GbpsOf(order[i - 1], order[i]));
    best = std::max(best, slowest);
  } while (std::next_permutation(order.begin() + 1, order.end()));
  return best;
}

// The slowest link of the maximum spanning tree (Prim), each link as wide as its narrower
// direction. A heuristic: with symmetric links no ring is wider, and the best one may be narrower,
// so that an all-reduce takes at least what this makes of it.
double RegionLinks::SpanningGbps(const std::vector<std::uint32_t>& places) const {
  std::vector<double> widest(places.size(), 0.0);  // From the tree to each place; -1 once in it.
  std::size_t added = 0;
  double slowest = kUnlimited;
  for (std::size_t left = places.size() - 1; left > 0; --left) {
    widest[added] = -1;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (widest[i] < 0) continue;
      const double both_ways =
          std::min(GbpsOf(places[added], places[i]), GbpsOf(places[i], places[added]));
      widest[i] = std::max(widest[i], both_ways);
    }
    added =
        static_cast<std::size_t>(std::max_element(widest.begin(), widest.end()) - widest.begin());
    slowest = std::min(slowest, widest[added]);
  }
  return slowest;
}

}  // namespace slackline
