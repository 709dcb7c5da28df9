// Random numbers that are a pure function of (seed, stream, counter).
//
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011). Any number
// of a stream can be computed alone, in any order, on any device, with the same bits: there is no
// generator state to ship, to lock or to save, and a stream that is added shifts no other.
//
// Host and device code; C++17.
#ifndef SLACKLINE_RANDOM_H_
#define SLACKLINE_RANDOM_H_

#include <cstdint>

#if defined(__CUDACC__)
#define SLACKLINE_HD __host__ __device__
#else
#define SLACKLINE_HD
#endif

namespace slackline {

struct PhiloxBlock {
  std::uint32_t word[4];
};

// The Philox4x32-10 bijection of `counter` (4 words) under `key` (2 words).
SLACKLINE_HD inline PhiloxBlock Philox4x32(PhiloxBlock counter, std::uint32_t key0,
                                           std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53u} * counter.word[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57u} * counter.word[2];
    counter = PhiloxBlock{{static_cast<std::uint32_t>(product1 >> 32) ^ counter.word[1] ^ key0,
                           static_cast<std::uint32_t>(product1),
                           static_cast<std::uint32_t>(product0 >> 32) ^ counter.word[3] ^ key1,
                           static_cast<std::uint32_t>(product0)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

// What a stream of random numbers is for. Values are part of every recorded result: never reuse
// one.
enum class RandomPurpose : std::uint32_t {
  kInitialParameters = 1,  // index: tensor or table; counter: element
  kDataOrder = 2,          // index: epoch
  kComputeTime = 3,        // index: worker rank
  kNetwork = 4,            // index: link
  kIncarnation = 5,        // index: role and rank; counter: life
  kSyntheticData = 6,      // index: what is drawn
  kFault = 7,              // index: the fault plan's part
  kTest = 8,               // index: the test's own
};

// A named stream: numbers 0, 1, 2, ... that depend on nothing but (seed, purpose, index).
class RandomStream {
 public:
  SLACKLINE_HD RandomStream(std::uint64_t seed, RandomPurpose purpose, std::uint64_t index)
      : seed_(seed), purpose_(static_cast<std::uint32_t>(purpose)), index_(index) {}

  // The `counter`-th 64 bits of the stream.
  SLACKLINE_HD std::uint64_t Bits(std::uint64_t counter) const {
    const PhiloxBlock block = Philox4x32(
        PhiloxBlock{{static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32),
                     static_cast<std::uint32_t>(index_),
                     static_cast<std::uint32_t>(index_ >> 32) ^ (purpose_ << 16)}},
        static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32));
    return (std::uint64_t{block.word[1]} << 32) | block.word[0];
  }

  // Uniform in [0, 1), a multiple of 2^-53.
  SLACKLINE_HD double Uniform(std::uint64_t counter) const {
    return static_cast<double>(Bits(counter) >> 11) * 0x1.0p-53;
  }

  // Uniform in [-bound, bound), exact in every step, so equal bits on every device.
  SLACKLINE_HD float UniformFloat(std::uint64_t counter, float bound) const {
    const float unit = static_cast<float>(Bits(counter) >> 40) * 0x1.0p-24f;  // [0, 1)
    return (unit * 2.0f - 1.0f) * bound;
  }

  // Uniform in [0, limit); the bias is below limit / 2^64. REQUIRES limit > 0.
  SLACKLINE_HD std::uint64_t Below(std::uint64_t counter, std::uint64_t limit) const {
    const std::uint64_t bits = Bits(counter);
    // The high 64 bits of bits * limit, by halves: no 128-bit type on every device.
    const std::uint64_t a = bits >> 32, b = bits & 0xFFFFFFFFu;
    const std::uint64_t c = limit >> 32, d = limit & 0xFFFFFFFFu;
    const std::uint64_t middle =
        ((b * d) >> 32) + ((a * d) & 0xFFFFFFFFu) + ((b * c) & 0xFFFFFFFFu);
    return a * c + ((a * d) >> 32) + ((b * c) >> 32) + (middle >> 32);
  }

 private:
  std::uint64_t seed_;
  std::uint32_t purpose_;
  std::uint64_t index_;
};

// Draws one number after another from a RandomStream.
class RandomSequence {
 public:
  explicit RandomSequence(RandomStream stream) : stream_(stream) {}

  std::uint64_t Bits() { return stream_.Bits(counter_++); }
  double Uniform() { return stream_.Uniform(counter_++); }
  std::uint64_t Below(std::uint64_t limit) { return stream_.Below(counter_++, limit); }
  bool Chance(double probability) { return Uniform() < probability; }

 private:
  RandomStream stream_;
  std::uint64_t counter_ = 0;
};

}  // namespace slackline

#endif  // SLACKLINE_RANDOM_H_
