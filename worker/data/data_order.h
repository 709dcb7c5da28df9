// DataOrder: which examples a round computes on. A pure function of seed, rank and round, so a
// restarted worker takes up exactly where it was.
//
//   shard:  worker r owns the examples that a seeded permutation deals to it (r, r + n, ...), and
//           walks through a fresh permutation of them every epoch.
//   global: one cursor for all; the lead hands round after round the next `batch` places of one
//           endless sequence of permuted epochs.
#ifndef SLACKLINE_WORKER_DATA_DATA_ORDER_H_
#define SLACKLINE_WORKER_DATA_DATA_ORDER_H_

#include <cstdint>
#include <vector>

namespace slackline {

class DataOrder {
 public:
  // REQUIRES examples > 0 and rank < workers.
  DataOrder(std::uint64_t seed, std::uint64_t examples, std::uint32_t rank, std::uint32_t workers);

  // Shard order: the examples of this worker's `round`.
  std::vector<std::uint64_t> ShardBatch(std::uint64_t round, std::uint32_t batch) const;
  // Global order: the examples at places [begin, begin + batch) of the endless sequence.
  std::vector<std::uint64_t> GlobalBatch(std::uint64_t begin, std::uint32_t batch) const;

 private:
  std::uint64_t seed_;
  std::uint64_t examples_;
  std::uint32_t rank_;
  std::uint32_t workers_;
};

}  // namespace slackline

#endif  // SLACKLINE_WORKER_DATA_DATA_ORDER_H_
