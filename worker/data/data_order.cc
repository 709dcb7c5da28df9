#include "worker/data/data_order.h"

#include "core/base/check.h"
#include "worker/data/permutation.h"

namespace slackline {
namespace {
// Streams of kDataOrder: the deal of examples to workers, the epochs of all, the epochs of each.
constexpr std::uint64_t kDeal = std::uint64_t{1} << 63;

RandomStream GlobalEpoch(std::uint64_t seed, std::uint64_t epoch) {
  return {seed, RandomPurpose::kDataOrder, epoch};
}
RandomStream ShardEpoch(std::uint64_t seed, std::uint32_t rank, std::uint64_t epoch) {
  return {seed, RandomPurpose::kDataOrder, (std::uint64_t{1} + rank) << 32 | (epoch & 0xFFFFFFFFu)};
}
}  // namespace

DataOrder::DataOrder(std::uint64_t seed, std::uint64_t examples, std::uint32_t rank,
                     std::uint32_t workers)
    : seed_(seed), examples_(examples), rank_(rank), workers_(workers) {
  SLACKLINE_CHECK(examples > 0 && rank < workers);
}

std::vector<std::uint64_t> DataOrder::ShardBatch(std::uint64_t round, std::uint32_t batch) const {
  // Its own are the places rank, rank + workers, ... of the deal. With more workers than examples
  // those beyond share the examples of those before.
  const std::uint64_t first = rank_ % examples_;
  const std::uint64_t share = (examples_ - first + workers_ - 1) / workers_;
  const Permutation deal(examples_, {seed_, RandomPurpose::kDataOrder, kDeal});
  std::vector<std::uint64_t> batch_examples;
  batch_examples.reserve(batch);
  for (std::uint64_t i = round * batch; i < (round + 1) * batch; ++i) {
    const Permutation epoch(share, ShardEpoch(seed_, rank_, i / share));
    batch_examples.push_back(deal.At(first + epoch.At(i % share) * workers_));
  }
  return batch_examples;
}

std::vector<std::uint64_t> DataOrder::GlobalBatch(std::uint64_t begin, std::uint32_t batch) const {
  std::vector<std::uint64_t> batch_examples;
  batch_examples.reserve(batch);
  for (std::uint64_t i = begin; i < begin + batch; ++i) {
    batch_examples.push_back(
        Permutation(examples_, GlobalEpoch(seed_, i / examples_)).At(i % examples_));
  }
  return batch_examples;
}

}  // namespace slackline
