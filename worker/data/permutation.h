// Permutation: a random order of 0 .. n - 1 that is computed place by place, without a table.
#ifndef SLACKLINE_WORKER_DATA_PERMUTATION_H_
#define SLACKLINE_WORKER_DATA_PERMUTATION_H_

#include <cstdint>

#include "slackline/random.h"

namespace slackline {

class Permutation {
 public:
  // REQUIRES n > 0. The order is a function of n and the stream.
  Permutation(std::uint64_t n, RandomStream stream) : n_(n), stream_(stream) {
    while ((std::uint64_t{1} << (2 * half_bits_)) < n_) ++half_bits_;
  }

  // What stands at `place`. REQUIRES place < n.
  //
  // A Feistel network of six rounds permutes the smallest square power of two that holds n; walking
  // its cycle until a value below n comes up makes that a permutation of n (Black and Rogaway,
  // "Ciphers with arbitrary finite domains", CT-RSA 2002). On average below four steps.
  std::uint64_t At(std::uint64_t place) const {
    do {
      place = Encrypt(place);
    } while (place >= n_);
    return place;
  }

 private:
  static constexpr std::uint64_t kRounds = 6;

  std::uint64_t Encrypt(std::uint64_t value) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
    std::uint64_t left = value >> half_bits_;
    std::uint64_t right = value & mask;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const std::uint64_t mixed = left ^ (stream_.Bits(right * kRounds + round) & mask);
      left = right;
      right = mixed;
    }
    return left << half_bits_ | right;
  }

  std::uint64_t n_;
  RandomStream stream_;
  unsigned half_bits_ = 1;
};

}  // namespace slackline

#endif  // SLACKLINE_WORKER_DATA_PERMUTATION_H_
