#include "core/policy/placement.h"

#include <algorithm>

#include "core/base/check.h"

namespace slackline {

std::vector<ShardRange> PlaceDense(std::uint64_t elements, std::uint32_t servers) {
  SLACKLINE_CHECK(servers > 0);
  constexpr std::uint64_t kLine = 16;  // fp32 values in a cache line of 64 bytes.
  // Rounding a cut to a line moves it by less than a line; a range of 20 lines takes that as 5 %.
  const std::uint64_t grain = elements / servers >= 20 * kLine ? kLine : 1;
  const std::uint64_t grains = elements / grain;
  std::vector<ShardRange> ranges(servers);
  std::uint64_t begin = 0;
  for (std::uint32_t s = 0; s < servers; ++s) {
    // The first `grains % servers` servers take one grain more; the last takes the tail as well.
    const std::uint64_t share = grains / servers + (s < grains % servers ? 1 : 0);
    std::uint64_t end = begin + share * grain;
    if (s + 1 == servers) end = elements;
    ranges[s] = {begin, end};
    begin = end;
  }
  return ranges;
}

double Imbalance(const std::vector<ShardRange>& ranges) {
  std::uint64_t total = 0, largest = 0;
  for (const ShardRange& range : ranges) {
    total += range.size();
    largest = std::max(largest, range.size());
  }
  if (total == 0) return 1.0;
  return static_cast<double>(largest) * static_cast<double>(ranges.size()) /
         static_cast<double>(total);
}

std::uint32_t RowOwner(std::uint64_t key, std::uint32_t servers) {
  SLACKLINE_CHECK(servers > 0);
  // Keys are often consecutive or multiples of something: mix before dividing (a finaliser of the
  // multiply-xorshift family, a bijection of 64 bits).
  key = (key ^ (key >> 31)) * 0x7FB5D329728EA185u;
  key = (key ^ (key >> 27)) * 0x81DADEF4BC2DD44Du;
  key ^= key >> 33;
  // Which of `servers` equal ranges of the 64-bit hash it falls in.
  return static_cast<std::uint32_t>(((key >> 32) * servers) >> 32);
}

}  // namespace slackline
