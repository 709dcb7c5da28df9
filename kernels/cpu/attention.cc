// Causal attention on the CPU: head by head, and of each head 64 queries at a time against the keys
// that they may see.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/cpu/lanes.h"
#include "kernels/math/exp.h"
#include "kernels/sequence_ops.h"

namespace slackline {
namespace {

using Eigen::Index;
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Strided = Eigen::Map<Matrix, Eigen::Unaligned, Eigen::OuterStride<>>;
using ConstStrided = Eigen::Map<const Matrix, Eigen::Unaligned, Eigen::OuterStride<>>;

constexpr std::size_t kQueries = 64;

// Query, key and value of one head of one sequence, a position a row, within a fused matrix.
template <typename Map, typename Float>
struct Head {
  Head(Float* fused, std::size_t sequence, std::size_t head, const AttentionShape& shape)
      : query(Part(fused, sequence, head, 0, shape)),
        key(Part(fused, sequence, head, 1, shape)),
        value(Part(fused, sequence, head, 2, shape)) {}

  static Map Part(Float* fused, std::size_t sequence, std::size_t head, std::size_t part,
                  const AttentionShape& shape) {
    const std::size_t row = 3 * shape.width();
    return Map(fused + sequence * shape.positions * row + (3 * head + part) * shape.head_size,
               static_cast<Index>(shape.positions), static_cast<Index>(shape.head_size),
               Eigen::OuterStride<>(static_cast<Index>(row)));
  }

  Map query, key, value;
};

// One head of one sequence in a matrix (tokens x width).
template <typename Map, typename Float>
Map HeadOf(Float* x, std::size_t sequence, std::size_t head, const AttentionShape& shape) {
  return Map(x + sequence * shape.positions * shape.width() + head * shape.head_size,
             static_cast<Index>(shape.positions), static_cast<Index>(shape.head_size),
             Eigen::OuterStride<>(static_cast<Index>(shape.width())));
}

// Calls for_block(sequence, head, first query, queries, keys) for every block of queries.
template <typename ForBlock>
void ForEachBlock(const AttentionShape& shape, ForBlock for_block) {
  for (std::size_t s = 0; s < shape.sequences; ++s) {
    for (std::size_t h = 0; h < shape.heads; ++h) {
      for (std::size_t q = 0; q < shape.positions; q += kQueries) {
        const std::size_t end = std::min(q + kQueries, shape.positions);
        for_block(s, h, static_cast<Index>(q), static_cast<Index>(end - q),
                  static_cast<Index>(end));
      }
    }
  }
}

// Row i of `scores` (queries x keys) belongs to query first + i, which sees the keys up to itself:
// these scores become exp(score - shift), the others 0.
void ExpVisible(float* row, std::size_t visible, std::size_t keys, float shift) {
  for (std::size_t k = 0; k < visible; ++k) row[k] = math::Exp(row[k] - shift);
  std::fill(row + visible, row + keys, 0.0f);
}

}  // namespace

void CausalAttention(const float* fused, float* out, float* logsum, const AttentionShape& shape) {
  const float scale = 1.0f / std::sqrt(static_cast<float>(shape.head_size));
  std::vector<float> scratch(kQueries * shape.positions);
  ForEachBlock(shape, [&](std::size_t s, std::size_t h, Index first, Index queries, Index keys) {
    const Head<ConstStrided, const float> head(fused, s, h, shape);
    Eigen::Map<Matrix> scores(scratch.data(), queries, keys);
    scores.noalias() =
        scale * head.query.middleRows(first, queries) * head.key.topRows(keys).transpose();
    float* logsums = logsum + h * shape.tokens() + s * shape.positions;
    Eigen::Array<float, kQueries, 1> shares;
    for (Index i = 0; i < queries; ++i) {
      float* row = scores.row(i).data();
      const auto visible = static_cast<std::size_t>(first + i + 1);
      const float largest = Max(row, visible);
      ExpVisible(row, visible, static_cast<std::size_t>(keys), largest);
      const float sum = Sum(row, visible);
      logsums[first + i] = largest + std::log(sum);
      shares[i] = 1.0f / sum;
    }
    auto result = HeadOf<Strided>(out, s, h, shape).middleRows(first, queries);
    result.noalias() = scores * head.value.topRows(keys);
    for (Index i = 0; i < queries; ++i) result.row(i) *= shares[i];
  });
}

// With weights p and their gradients dp = dout value^T, of one query: the scores' gradient is
// p (dp - sum(p dp)), and sum(p dp) = out . dout.
void CausalAttentionBackward(const float* fused, const float* out, const float* logsum,
                             const float* dout, float* dfused, const AttentionShape& shape) {
  const float scale = 1.0f / std::sqrt(static_cast<float>(shape.head_size));
  std::fill_n(dfused, shape.tokens() * 3 * shape.width(), 0.0f);
  std::vector<float> weights_scratch(kQueries * shape.positions);
  std::vector<float> slopes_scratch(kQueries * shape.positions);
  ForEachBlock(shape, [&](std::size_t s, std::size_t h, Index first, Index queries, Index keys) {
    const Head<ConstStrided, const float> head(fused, s, h, shape);
    Head<Strided, float> gradient(dfused, s, h, shape);
    const ConstStrided result = HeadOf<ConstStrided>(out, s, h, shape);
    const ConstStrided dresult = HeadOf<ConstStrided>(dout, s, h, shape);
    const auto query = head.query.middleRows(first, queries);
    const auto dblock = dresult.middleRows(first, queries);
    Eigen::Map<Matrix> weights(weights_scratch.data(), queries, keys);
    Eigen::Map<Matrix> slopes(slopes_scratch.data(), queries, keys);
    weights.noalias() = scale * query * head.key.topRows(keys).transpose();
    slopes.noalias() = dblock * head.value.topRows(keys).transpose();
    const float* logsums = logsum + h * shape.tokens() + s * shape.positions;
    for (Index i = 0; i < queries; ++i) {
      float* p = weights.row(i).data();
      float* dp = slopes.row(i).data();
      const auto visible = static_cast<std::size_t>(first + i + 1);
      ExpVisible(p, visible, static_cast<std::size_t>(keys), logsums[first + i]);
      const float mean =
          Dot(result.row(first + i).data(), dresult.row(first + i).data(), shape.head_size);
      for (Index k = 0; k < keys; ++k) dp[k] = p[k] * (dp[k] - mean) * scale;
    }
    gradient.query.middleRows(first, queries).noalias() = slopes * head.key.topRows(keys);
    gradient.key.topRows(keys).noalias() += slopes.transpose() * query;
    gradient.value.topRows(keys).noalias() += weights.transpose() * dblock;
  });
}

}  // namespace slackline
