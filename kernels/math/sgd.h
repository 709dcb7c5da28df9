// One formula a function, for host and device. C++17.
#ifndef SLACKLINE_KERNELS_MATH_SGD_H_
#define SLACKLINE_KERNELS_MATH_SGD_H_

#include <cmath>

#include "slackline/random.h"

namespace slackline::math {

// g + wd w: weight decay as a gradient (L2), for every rule but adamw.
SLACKLINE_HD inline float Decayed(float g, float weight_decay, float w) {
  return weight_decay == 0.0f ? g : std::fma(weight_decay, w, g);
}

// w <- w - lr g
SLACKLINE_HD inline float Sgd(float w, float g, float lr) { return std::fma(-lr, g, w); }

// m <- mu m + g;  w <- w - lr m   (heavy ball, as torch.optim.SGD(momentum=mu))
SLACKLINE_HD inline float Momentum(float w, float g, float& m, float lr, float mu) {
  m = std::fma(mu, m, g);
  return std::fma(-lr, m, w);
}

// m <- mu m + g;  w <- w - lr (g + mu m)   (as torch.optim.SGD(nesterov=True))
SLACKLINE_HD inline float Nesterov(float w, float g, float& m, float lr, float mu) {
  m = std::fma(mu, m, g);
  return std::fma(-lr, std::fma(mu, m, g), w);
}

// Delayed Nesterov (Liu et al., "Asynchronous local-SGD training for language modeling",
// arXiv:2401.09135, 2024, algorithm 2), for buffer length N, momentum mu and spread c. `sum` is the
// gradients since the last momentum step.
// N - 1 times:  sum <- sum + g;  w <- w - lr (c mu m + g / N)
SLACKLINE_HD inline float DelayedNesterovBetween(float w, float g, float m, float& sum, float lr,
                                                 float c_mu, float one_over_n) {
  sum += g;
  return std::fma(-lr, std::fma(c_mu, m, g * one_over_n), w);
}
// ... and then:  sum <- sum + g;  m <- mu m + sum / N;  sum <- 0;
//                w <- w - lr ((1 - c N + c) mu m + g / N)
SLACKLINE_HD inline float DelayedNesterovKick(float w, float g, float& m, float& sum, float lr,
                                              float mu, float kick_mu, float one_over_n) {
  m = std::fma(mu, m, (sum + g) * one_over_n);
  sum = 0.0f;
  return std::fma(-lr, std::fma(kick_mu, m, g * one_over_n), w);
}

}  // namespace slackline::math

#endif  // SLACKLINE_KERNELS_MATH_SGD_H_
