// RegionSites: a SimNetwork whose processes are in regions, joined by RegionLinks.
#ifndef SLACKLINE_CORE_RUNTIME_REGION_SITES_H_
#define SLACKLINE_CORE_RUNTIME_REGION_SITES_H_

#include <cstdint>
#include <map>
#include <utility>

#include "core/base/time.h"
#include "core/policy/topology.h"
#include "core/runtime/region_links.h"
#include "core/runtime/sim_network.h"
#include "core/wire/types.h"

namespace slackline {

class RegionSites {
 public:
  // REQUIRES links that exist, of as many regions as the topology has.
  RegionSites(RegionLinks links, const Topology& topology)
      : links_(std::move(links)), topology_(topology) {}

  // What all links have in common. Call it before anything is sent.
  void Prepare(SimNetwork& network) const;
  // Puts the process where it belongs. REQUIRES a rank that the role has.
  void Place(SimNetwork& network, SimNetwork::Endpoint endpoint, Role role, std::uint32_t rank);
  // Of a ring all-reduce over all workers; 30 years at most.
  Duration RingTime(std::uint64_t model_bytes) const;

 private:
  RegionLinks links_;
  Topology topology_;
  std::map<std::uint32_t, SimNetwork::Site> site_of_region_;  // Of those with a process so far.
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_RUNTIME_REGION_SITES_H_
