// ClockTable: how many rounds each worker has finished. A round is finished when its push has been
// decided. Workers that left do not count any more.
#ifndef SLACKLINE_CORE_POLICY_CLOCK_TABLE_H_
#define SLACKLINE_CORE_POLICY_CLOCK_TABLE_H_

#include <cstdint>
#include <map>
#include <vector>

namespace slackline {

class ClockTable {
 public:
  // All workers present, at clock 0.
  explicit ClockTable(std::uint32_t workers);

  std::uint32_t workers() const { return static_cast<std::uint32_t>(clocks_.size()); }
  std::uint32_t active() const { return active_; }
  bool IsActive(std::uint32_t rank) const { return !left_[rank]; }
  std::uint64_t clock(std::uint32_t rank) const { return clocks_[rank]; }

  // Of the workers that have not left; when all have, the largest clock there was.
  std::uint64_t slowest() const;
  std::uint64_t fastest() const;
  // The lowest rank at the slowest clock. REQUIRES active() > 0.
  std::uint32_t slowest_rank() const;

  // `rank` has finished one more round. Returns whether slowest() changed. REQUIRES IsActive(rank).
  bool Advance(std::uint32_t rank);
  // Returns whether slowest() changed. REQUIRES IsActive(rank).
  bool Leave(std::uint32_t rank);

 private:
  void Remove(std::uint64_t clock);

  std::vector<std::uint64_t> clocks_;  // By rank.
  std::vector<bool> left_;             // By rank.
  std::uint32_t active_;
  std::uint64_t final_ = 0;                    // The largest clock of those that left.
  std::map<std::uint64_t, std::uint32_t> at_;  // Active workers at each clock that has any.
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_POLICY_CLOCK_TABLE_H_
