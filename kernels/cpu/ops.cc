#include "kernels/ops.h"

#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>
#include <bit>
#include <cmath>

namespace slackline {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstMap = Eigen::Map<const Matrix>;
using Map = Eigen::Map<Matrix>;

ConstMap In(const float* data, std::size_t rows, std::size_t columns) {
  return {data, static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns)};
}
Map Out(float* data, std::size_t rows, std::size_t columns) {
  return {data, static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns)};
}

}  // namespace

void MatMul(const float* a, const float* b, float* c, std::size_t m, std::size_t k, std::size_t n) {
  Out(c, m, n).noalias() = In(a, m, k) * In(b, k, n);
}

void MatMulTransposedA(const float* a, const float* b, float* c, std::size_t m, std::size_t k,
                       std::size_t n) {
  Out(c, m, n).noalias() = In(a, k, m).transpose() * In(b, k, n);
}

void MatMulTransposedB(const float* a, const float* b, float* c, std::size_t m, std::size_t k,
                       std::size_t n) {
  Out(c, m, n).noalias() = In(a, m, k) * In(b, n, k).transpose();
}

void AddMatMulTransposedB(const float* a, const float* b, float* c, std::size_t m, std::size_t k,
                          std::size_t n) {
  Out(c, m, n).noalias() += In(a, m, k) * In(b, n, k).transpose();
}

void AddMatMulTransposedA(const float* a, const float* b, float* c, std::size_t m, std::size_t k,
                          std::size_t n) {
  Out(c, m, n).noalias() += In(a, k, m).transpose() * In(b, k, n);
}

void AddBias(const float* bias, float* x, std::size_t rows, std::size_t columns) {
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) x[r * columns + c] += bias[c];
  }
}

void SumColumns(const float* x, float* sums, std::size_t rows, std::size_t columns) {
  for (std::size_t c = 0; c < columns; ++c) sums[c] = 0.0f;
  AddSumColumns(x, sums, rows, columns);
}

void AddSumColumns(const float* x, float* sums, std::size_t rows, std::size_t columns) {
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) sums[c] += x[r * columns + c];
  }
}

void Relu(float* x, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) x[i] = x[i] < 0.0f ? 0.0f : x[i];
}

void ReluBackward(const float* activation, float* gradient, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) gradient[i] = activation[i] > 0.0f ? gradient[i] : 0.0f;
}

Classified SoftmaxCrossEntropy(const float* logits, const std::uint32_t* labels, float* gradient,
                               std::size_t rows, std::size_t classes) {
  Classified found;
  const float share = 1.0f / static_cast<float>(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    const float* row = logits + r * classes;
    std::size_t best = 0;
    for (std::size_t c = 1; c < classes; ++c) {
      if (row[c] > row[best]) best = c;
    }
    const float largest = row[best];
    const float label = row[labels[r]];
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c)
      sum += static_cast<double>(std::exp(row[c] - largest));
    found.loss += std::log(sum) - static_cast<double>(label - largest);
    found.correct += best == labels[r] ? 1 : 0;
    if (gradient == nullptr) continue;
    float* out = gradient + r * classes;
    const float scale = share / static_cast<float>(sum);
    for (std::size_t c = 0; c < classes; ++c) out[c] = std::exp(row[c] - largest) * scale;
    out[labels[r]] -= share;
  }
  return found;
}

void AddScaled(float weight, const float* x, float* y, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) y[i] = std::fma(weight, x[i], y[i]);
}

void Subtract(const float* a, const float* b, float* difference, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) difference[i] = a[i] - b[i];
}

void Blend(float weight, const float* x, const float* own, float* y, std::size_t count) {
  const float kept = 1.0f - weight;
  for (std::size_t i = 0; i < count; ++i) y[i] = std::fma(weight, x[i], kept * own[i]);
}

void Scale(float factor, float* x, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) x[i] *= factor;
}

double SumOfSquares(std::span<const float> x) {
  constexpr std::size_t kLanes = 8;
  double sums[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= x.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double value = static_cast<double>(x[i + lane]);
      sums[lane] = std::fma(value, value, sums[lane]);
    }
  }
  double total = 0;
  for (const double sum : sums) total += sum;
  for (; i < x.size(); ++i)
    total = std::fma(static_cast<double>(x[i]), static_cast<double>(x[i]), total);
  return total;
}

bool AllFinite(std::span<const float> x) {
  // An exponent of all ones marks them both. Without a branch in the loop it runs at memory speed.
  std::uint32_t bad = 0;
  for (const float value : x) {
    const std::uint32_t exponent = std::bit_cast<std::uint32_t>(value) & 0x7F800000u;
    bad |= exponent == 0x7F800000u ? 1u : 0u;
  }
  return bad == 0;
}

}  // namespace slackline
