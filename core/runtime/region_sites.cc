#include "core/runtime/region_sites.h"

#include <algorithm>
#include <vector>

#include "core/base/strings.h"

namespace slackline {

void RegionSites::Prepare(SimNetwork& network) const {
  network.SetOwnLinks(links_.ideal());
  network.SetHeadersTakeTime(!links_.ideal());
  network.SetPayloadScale(links_.scale());
}

// The first process of a region brings its site and the links to the regions that are there.
void RegionSites::Place(SimNetwork& network, SimNetwork::Endpoint endpoint, Role role,
                        std::uint32_t rank) {
  const std::uint32_t region = topology_.RegionOf(role, rank);
  const auto [found, is_new] = site_of_region_.try_emplace(region);
  if (is_new) {
    const SimNetwork::Site here = network.AddSite(StrCat("region", region));
    found->second = here;
    const auto link = [&](std::uint32_t from, std::uint32_t to) {
      return network.WithFaults(links_.Between(from, to));
    };
    network.SetInside(here, link(region, region));
    for (const auto& [other, there] : site_of_region_) {
      if (other == region) continue;
      network.SetLink(here, there, link(region, other));
      network.SetLink(there, here, link(other, region));
    }
  }
  network.PlaceAt(endpoint, found->second);
}

Duration RegionSites::RingTime(std::uint64_t model_bytes) const {
  constexpr double kSecondsMax = 1e9;
  std::vector<std::uint32_t> workers;
  for (std::uint32_t region = 0; region < topology_.regions(); ++region)
    workers.push_back(topology_.workers_in(region));
  return FromSeconds(std::min(links_.RingAllReduce(model_bytes, workers), kSecondsMax));
}

}  // namespace slackline
