// Topology: which tiers of servers there are, who belongs to which, and where everybody is. Pure
// functions of the options, so that all processes agree without a word.
//
// Ranks of servers run through the tiers: the global ones are 0 .. servers - 1, those of region r
// follow from servers * (1 + r) on. Workers are ranked region by region.
#ifndef SLACKLINE_CORE_POLICY_TOPOLOGY_H_
#define SLACKLINE_CORE_POLICY_TOPOLOGY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config/options.h"
#include "core/wire/types.h"

namespace slackline {

// Servers with one decision log, and who pushes to them: workers, or the regions.
struct Tier {
  std::optional<std::uint32_t> region;  // Nothing: the global tier.
  std::uint32_t first_server = 0;       // Rank of its lead; the others follow.
  std::uint32_t servers = 0;
  bool of_regions = false;         // Its clients are regions, not workers.
  std::uint32_t first_client = 0;  // Rank of the first one.
  std::uint32_t clients = 0;
};

class Topology {
 public:
  // REQUIRES valid options.
  explicit Topology(const ClusterOptions& cluster);

  bool regional() const { return regional_; }
  std::uint32_t regions() const { return static_cast<std::uint32_t>(first_worker_.size() - 1); }
  std::uint32_t workers() const { return first_worker_.back(); }
  // Of all tiers.
  std::uint32_t servers() const { return servers_ * (1 + (regional_ ? regions() : 0)); }
  std::uint32_t workers_in(std::uint32_t region) const {
    return first_worker_[region + 1] - first_worker_[region];
  }

  Tier GlobalTier() const;
  // REQUIRES regional().
  Tier RegionTier(std::uint32_t region) const;
  Tier TierOfServer(std::uint32_t rank) const;
  // The tier that a worker pushes to.
  Tier TierOfWorker(std::uint32_t rank) const;

  // Where a process is. REQUIRES a rank that the role has.
  std::uint32_t RegionOf(Role role, std::uint32_t rank) const;
  // For people: "server 5 (region 1)".
  std::string NameOf(Role role, std::uint32_t rank) const;

 private:
  std::uint32_t RegionOfWorker(std::uint32_t rank) const;

  bool regional_;
  std::uint32_t servers_;  // Of each tier.
  std::uint32_t global_region_;
  std::vector<std::uint32_t> first_worker_;  // By region, and one more.
};

// Workers of each region. REQUIRES valid options.
std::vector<std::uint32_t> WorkersByRegion(const ClusterOptions& cluster);

}  // namespace slackline

#endif  // SLACKLINE_CORE_POLICY_TOPOLOGY_H_
