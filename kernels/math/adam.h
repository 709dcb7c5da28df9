// One formula a function, for host and device. C++17.
#ifndef SLACKLINE_KERNELS_MATH_ADAM_H_
#define SLACKLINE_KERNELS_MATH_ADAM_H_

#include <cmath>

#include "slackline/random.h"

namespace slackline::math {

// s <- s + g^2;  w <- w - lr g / (sqrt(s) + eps)   (Duchi, Hazan, Singer, JMLR 2011)
SLACKLINE_HD inline float Adagrad(float w, float g, float& s, float lr, float epsilon) {
  s = std::fma(g, g, s);
  return std::fma(-lr, g / (std::sqrt(s) + epsilon), w);
}

// What is the same for every element of one update, computed once on the host.
struct AdamStep {
  float beta1;
  float beta2;
  float epsilon;
  float step_size;      // lr / (1 - beta1^t)
  float root_of_bias2;  // sqrt(1 - beta2^t)
  float keep;           // adamw: 1 - lr wd; adam: 1
};

// m <- b1 m + (1 - b1) g;  v <- b2 v + (1 - b2) g^2;
// w <- keep w - step_size m / (sqrt(v) / root_of_bias2 + eps)
// (Kingma and Ba, ICLR 2015; keep: Loshchilov and Hutter, ICLR 2019; arranged as torch.optim.AdamW)
SLACKLINE_HD inline float Adam(float w, float g, float& m, float& v, const AdamStep& s) {
  m = std::fma(s.beta1, m, (1.0f - s.beta1) * g);
  v = std::fma(s.beta2, v, (1.0f - s.beta2) * g * g);
  const float denominator = std::sqrt(v) / s.root_of_bias2 + s.epsilon;
  return std::fma(-s.step_size, m / denominator, s.keep * w);
}

}  // namespace slackline::math

#endif  // SLACKLINE_KERNELS_MATH_ADAM_H_
