#include "core/policy/topology.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/strings.h"

namespace slackline {

std::vector<std::uint32_t> WorkersByRegion(const ClusterOptions& cluster) {
  const std::vector<std::uint32_t>& given = cluster.workers_per_region;
  if (given.size() == cluster.regions) return given;
  const std::uint32_t each = given.size() == 1 ? given[0] : cluster.workers / cluster.regions;
  return std::vector<std::uint32_t>(cluster.regions, each);
}

Topology::Topology(const ClusterOptions& cluster)
    : regional_(cluster.topology == "regional"),
      servers_(cluster.servers),
      global_region_(cluster.global_region),
      first_worker_{0} {
  for (const std::uint32_t workers : WorkersByRegion(cluster))
    first_worker_.push_back(first_worker_.back() + workers);
  SLACKLINE_CHECK(workers() == cluster.workers);
}

Tier Topology::GlobalTier() const {
  return {.region = {},
          .first_server = 0,
          .servers = servers_,
          .of_regions = regional_,
          .first_client = 0,
          .clients = regional_ ? regions() : workers()};
}

Tier Topology::RegionTier(std::uint32_t region) const {
  SLACKLINE_CHECK(regional_ && region < regions());
  return {.region = region,
          .first_server = servers_ * (1 + region),
          .servers = servers_,
          .of_regions = false,
          .first_client = first_worker_[region],
          .clients = workers_in(region)};
}

Tier Topology::TierOfServer(std::uint32_t rank) const {
  return rank < servers_ ? GlobalTier() : RegionTier(rank / servers_ - 1);
}

Tier Topology::TierOfWorker(std::uint32_t rank) const {
  return regional_ ? RegionTier(RegionOfWorker(rank)) : GlobalTier();
}

std::uint32_t Topology::RegionOfWorker(std::uint32_t rank) const {
  const auto next = std::upper_bound(first_worker_.begin(), first_worker_.end(), rank);
  return static_cast<std::uint32_t>(next - first_worker_.begin()) - 1;
}

std::uint32_t Topology::RegionOf(Role role, std::uint32_t rank) const {
  if (role == Role::kWorker) return RegionOfWorker(rank);
  if (role == Role::kServer && rank >= servers_) return rank / servers_ - 1;
  return global_region_;
}

std::string Topology::NameOf(Role role, std::uint32_t rank) const {
  const std::string name = StrCat(RoleName(role), " ", rank);
  const bool in_region = regional_ && (role == Role::kWorker || role == Role::kServer);
  if (!in_region || (role == Role::kServer && rank < servers_)) return name;
  return StrCat(name, " (region ", RegionOf(role, rank), ")");
}

}  // namespace slackline
