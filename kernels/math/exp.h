// One formula a function, for host and device. C++17.
#ifndef SLACKLINE_KERNELS_MATH_EXP_H_
#define SLACKLINE_KERNELS_MATH_EXP_H_

#include <cmath>
#include <cstdint>
#include <cstring>

#include "slackline/random.h"

namespace slackline::math {

// e^x for sums of many: the same bits in a vector loop as alone, which libm does not promise, and
// the same on every device. Relative error below 2e-7; 0 below -87, infinity above 88; NaN stays.
//
// x = n ln 2 + r with |r| <= ln 2 / 2 (Cody and Waite's two-part ln 2), and e^r = 1 + r + r^2 p(r)
// with p of degree 4, fitted here to a relative error of 3e-9.
SLACKLINE_HD inline float Exp(float x) {
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it leaves n in the low bits.
  const float shifted = std::fma(x, 1.44269504f, kRound);
  const float n = shifted - kRound;
  const float r = std::fma(n, -0x1.7f7d1cp-20f, std::fma(n, -0x1.62e400p-1f, x));
  float p = 0x1.6a242cp-10f;
  p = std::fma(p, r, 0x1.1239e4p-7f);
  p = std::fma(p, r, 0x1.5558f2p-5f);
  p = std::fma(p, r, 0x1.555492p-3f);
  p = std::fma(p, r, 0x1.fffffcp-2f);
  const float power_of_r = std::fma(r * r, p, r) + 1.0f;
  std::uint32_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits << 23) + 0x3F800000u;  // 2^n
  float power_of_2;
  std::memcpy(&power_of_2, &bits, sizeof bits);
  const float value = x < -87.0f ? 0.0f : power_of_r * power_of_2;
  return x > 88.0f ? HUGE_VALF : value;
}

}  // namespace slackline::math

#endif  // SLACKLINE_KERNELS_MATH_EXP_H_
