// Sums and maxima over a row in sixteen interleaved lanes. Fixed-size blocks, so that the order of
// the additions depends on nothing but the length, least of all on where the row lies in memory.
#ifndef SLACKLINE_KERNELS_CPU_LANES_H_
#define SLACKLINE_KERNELS_CPU_LANES_H_

#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>
#include <algorithm>
#include <cstddef>

namespace slackline {

inline constexpr std::size_t kLanes = 16;
using Lanes = Eigen::Array<float, kLanes, 1>;
using ConstLanesAt = Eigen::Map<const Lanes>;
using LanesAt = Eigen::Map<Lanes>;

// The sum of term(at), which gives kLanes values of the row from `at` on, and of rest(i) beyond the
// last whole block.
template <typename Term, typename Rest>
float SumInLanes(std::size_t count, Term term, Rest rest) {
  Lanes sums = Lanes::Zero();
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) sums += term(i);
  for (std::size_t lane = 0; i < count; ++i, ++lane) {
    sums[static_cast<Eigen::Index>(lane)] += rest(i);
  }
  float total = 0;
  for (const float sum : sums) total += sum;
  return total;
}

inline float Sum(const float* x, std::size_t count) {
  return SumInLanes(
      count, [x](std::size_t i) { return ConstLanesAt(x + i); },
      [x](std::size_t i) { return x[i]; });
}

inline float Dot(const float* x, const float* y, std::size_t count) {
  return SumInLanes(
      count, [x, y](std::size_t i) { return ConstLanesAt(x + i) * ConstLanesAt(y + i); },
      [x, y](std::size_t i) { return x[i] * y[i]; });
}

// REQUIRES count > 0. A NaN may or may not come through.
inline float Max(const float* x, std::size_t count) {
  Lanes largest = Lanes::Constant(x[0]);
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) largest = largest.max(ConstLanesAt(x + i));
  float max = largest.maxCoeff();
  for (; i < count; ++i) max = std::max(max, x[i]);
  return max;
}

}  // namespace slackline

#endif  // SLACKLINE_KERNELS_CPU_LANES_H_
