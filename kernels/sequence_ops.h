// Ops of sequence models: embeddings, layer norm, GELU, rotary positions and causal attention. The
// rules of kernels/ops.h hold: plain pointers, row-major, deterministic, free of state. A *token*
// is a row; sequences of equal length lie one after another.
//
// Gradients of parameters, and of a value that feeds several ops, are sums: functions that are
// named Add... add to what is there.
#ifndef SLACKLINE_KERNELS_SEQUENCE_OPS_H_
#define SLACKLINE_KERNELS_SEQUENCE_OPS_H_

#include <cstddef>
#include <cstdint>

namespace slackline {

// out (count x width) = the rows `ids` of `table`. REQUIRES every id to be a row of it.
void GatherRows(const float* table, const std::uint32_t* ids, float* out, std::size_t count,
                std::size_t width);
// table (rows x width) += x (count x width), each row to row ids[i], in the order of i.
void AddToRows(const float* x, const std::uint32_t* ids, float* table, std::size_t count,
               std::size_t width);

// Added to a variance before its root is taken (Ba, Kiros, Hinton 2016; the value of GPT-NeoX).
inline constexpr float kLayerNormEpsilon = 1e-5f;

// What LayerNorm tells its gradient of each row.
struct RowMoments {
  float mean;
  float inverse_deviation;  // 1 / sqrt(variance + kLayerNormEpsilon)
};
// y = (x - mean) inverse_deviation weight + bias, row by row of x (rows x width); mean and variance
// (divided by width) over the row, in 16 interleaved partial sums. `moments` has one entry a row.
void LayerNorm(const float* x, const float* weight, const float* bias, float* y,
               RowMoments* moments, std::size_t rows, std::size_t width);
// From dy, the gradient of y: dx += that of x, dweight and dbias += theirs.
void AddLayerNormGradient(const float* x, const float* weight, const RowMoments* moments,
                          const float* dy, float* dx, float* dweight, float* dbias,
                          std::size_t rows, std::size_t width);

// y = x P(X < x) for a standard normal X: the exact form. Absolute error below 4e-7 (1 + |x|).
void Gelu(const float* x, float* y, std::size_t count);
// dy, the gradient of y, becomes that of x.
void GeluBackward(const float* x, float* dy, std::size_t count);

// What an attention is made of. `fused` matrices are (tokens x heads x 3 x head_size): of each head
// its query, key and value, as GPT-NeoX has them.
struct AttentionShape {
  std::size_t sequences;
  std::size_t positions;  // Of each sequence.
  std::size_t heads;
  std::size_t head_size;

  std::size_t tokens() const { return sequences * positions; }
  std::size_t width() const { return heads * head_size; }
};

// The angles of rotary positions (Su et al., RoFormer, 2021): pair i of `pairs` turns by
// position * 10000^(-i / pairs). cosines and sines (positions x pairs), rounded from double.
void RotaryAngles(std::size_t positions, std::size_t pairs, float* cosines, float* sines);

enum class Turn { kForth, kBack };
// Turns the first 2 pairs values of every query and key in `fused`, value i with value i + pairs.
// Turned back, a gradient becomes that of what was turned forth. REQUIRES 2 pairs <= head_size.
void Rotate(const float* cosines, const float* sines, std::size_t pairs, Turn turn,
            const AttentionShape& shape, float* fused);

// out (tokens x width) = softmax(query key^T / sqrt(head_size)) value for each head, where a
// position sees itself and those before it. `logsum` (heads x tokens) keeps each softmax's
// log-sum-exp for the gradient, which computes the weights again (Dao et al., FlashAttention, 2022)
// so that no more than 64 x positions of them are held at a time.
void CausalAttention(const float* fused, float* out, float* logsum, const AttentionShape& shape);
// dfused = the gradient of `fused` from that of `out`.
void CausalAttentionBackward(const float* fused, const float* out, const float* logsum,
                             const float* dout, float* dfused, const AttentionShape& shape);

}  // namespace slackline

#endif  // SLACKLINE_KERNELS_SEQUENCE_OPS_H_
