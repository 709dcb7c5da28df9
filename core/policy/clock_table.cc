#include "core/policy/clock_table.h"

#include <algorithm>

#include "core/base/check.h"

namespace slackline {

ClockTable::ClockTable(std::uint32_t workers)
    : clocks_(workers), left_(workers, false), active_(workers) {
  if (workers > 0) at_[0] = workers;
}

std::uint64_t ClockTable::slowest() const { return at_.empty() ? final_ : at_.begin()->first; }

std::uint64_t ClockTable::fastest() const { return at_.empty() ? final_ : at_.rbegin()->first; }

std::uint32_t ClockTable::slowest_rank() const {
  SLACKLINE_CHECK(active_ > 0);
  const std::uint64_t slow = slowest();
  for (std::uint32_t rank = 0;; ++rank) {
    if (!left_[rank] && clocks_[rank] == slow) return rank;
  }
}

bool ClockTable::Advance(std::uint32_t rank) {
  SLACKLINE_CHECK(IsActive(rank));
  const std::uint64_t before = slowest();
  ++at_[clocks_[rank] + 1];
  Remove(clocks_[rank]++);
  return slowest() != before;
}

bool ClockTable::Leave(std::uint32_t rank) {
  SLACKLINE_CHECK(IsActive(rank));
  const std::uint64_t before = slowest();
  left_[rank] = true;
  --active_;
  final_ = std::max(final_, clocks_[rank]);
  Remove(clocks_[rank]);
  return slowest() != before;
}

void ClockTable::Remove(std::uint64_t clock) {
  const auto it = at_.find(clock);
  if (--it->second == 0) at_.erase(it);
}

}  // namespace slackline
