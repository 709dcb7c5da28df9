// The ops of sequence models on the CPU, but for attention.
#include "kernels/sequence_ops.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/cpu/lanes.h"
#include "kernels/math/gelu.h"

namespace slackline {

void GatherRows(const float* table, const std::uint32_t* ids, float* out, std::size_t count,
                std::size_t width) {
  for (std::size_t i = 0; i < count; ++i)
    std::copy_n(table + ids[i] * width, width, out + i * width);
}

void AddToRows(const float* x, const std::uint32_t* ids, float* table, std::size_t count,
               std::size_t width) {
  for (std::size_t i = 0; i < count; ++i) {
    float* row = table + ids[i] * width;
    for (std::size_t c = 0; c < width; ++c) row[c] += x[i * width + c];
  }
}

void LayerNorm(const float* x, const float* weight, const float* bias, float* y,
               RowMoments* moments, std::size_t rows, std::size_t width) {
  const float share = 1.0f / static_cast<float>(width);
  for (std::size_t r = 0; r < rows; ++r, x += width, y += width) {
    const float mean = Sum(x, width) * share;
    for (std::size_t c = 0; c < width; ++c) y[c] = x[c] - mean;
    const float variance = Dot(y, y, width) * share;
    const float scale = 1.0f / std::sqrt(variance + kLayerNormEpsilon);
    for (std::size_t c = 0; c < width; ++c) y[c] = std::fma(y[c] * scale, weight[c], bias[c]);
    moments[r] = {mean, scale};
  }
}

// With u = (x - mean) s and g = dy weight, of one row: dx = s (g - mean(g) - u mean(g u)).
void AddLayerNormGradient(const float* x, const float* weight, const RowMoments* moments,
                          const float* dy, float* dx, float* dweight, float* dbias,
                          std::size_t rows, std::size_t width) {
  const float share = 1.0f / static_cast<float>(width);
  std::vector<float> u(width), g(width);
  for (std::size_t r = 0; r < rows; ++r, x += width, dy += width, dx += width) {
    const float mean = moments[r].mean, scale = moments[r].inverse_deviation;
    for (std::size_t c = 0; c < width; ++c) {
      u[c] = (x[c] - mean) * scale;
      g[c] = dy[c] * weight[c];
      dweight[c] = std::fma(dy[c], u[c], dweight[c]);
      dbias[c] += dy[c];
    }
    const float mean_g = Sum(g.data(), width) * share;
    const float mean_gu = Dot(g.data(), u.data(), width) * share;
    for (std::size_t c = 0; c < width; ++c) {
      dx[c] = std::fma(scale, std::fma(-mean_gu, u[c], g[c] - mean_g), dx[c]);
    }
  }
}

void Gelu(const float* x, float* y, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) y[i] = math::Gelu(x[i]);
}

void GeluBackward(const float* x, float* dy, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) dy[i] *= math::GeluSlope(x[i]);
}

void RotaryAngles(std::size_t positions, std::size_t pairs, float* cosines, float* sines) {
  for (std::size_t p = 0; p < positions; ++p) {
    for (std::size_t i = 0; i < pairs; ++i) {
      const double speed = std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(pairs));
      const double angle = static_cast<double>(p) * speed;
      cosines[p * pairs + i] = static_cast<float>(std::cos(angle));
      sines[p * pairs + i] = static_cast<float>(std::sin(angle));
    }
  }
}

void Rotate(const float* cosines, const float* sines, std::size_t pairs, Turn turn,
            const AttentionShape& shape, float* fused) {
  const float sign = turn == Turn::kForth ? 1.0f : -1.0f;
  const auto rotate_one = [&](std::size_t position, float* x) {
    const float* c = cosines + position * pairs;
    const float* s = sines + position * pairs;
    for (std::size_t i = 0; i < pairs; ++i) {
      const float first = x[i], second = x[i + pairs], sine = sign * s[i];
      x[i] = std::fma(-second, sine, first * c[i]);
      x[i + pairs] = std::fma(first, sine, second * c[i]);
    }
  };
  for (std::size_t t = 0; t < shape.tokens(); ++t) {
    for (std::size_t h = 0; h < shape.heads; ++h, fused += 3 * shape.head_size) {
      rotate_one(t % shape.positions, fused);
      rotate_one(t % shape.positions, fused + shape.head_size);
    }
  }
}

}  // namespace slackline
