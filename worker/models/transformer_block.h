// One block of a GPT-NeoX transformer, forward and backward over the ops of kernels/:
//
//   x <- x + attention(norm1(x)) + mlp(norm2(x))
//
// (parallel residuals, Wang and Komatsuzaki, GPT-J, 2021; Black et al., GPT-NeoX-20B, 2022), with
// rotary positions on a quarter of each head and GELU between the two layers of the mlp.
#ifndef SLACKLINE_WORKER_MODELS_TRANSFORMER_BLOCK_H_
#define SLACKLINE_WORKER_MODELS_TRANSFORMER_BLOCK_H_

#include <cstddef>
#include <vector>

#include "kernels/sequence_ops.h"

namespace slackline {

// Where tensors begin in the flat order.
struct NormAt {
  std::size_t weight, bias;  // (width)
};
struct LinearAt {
  std::size_t weight, bias;  // (out x in), (out): y = x weight^T + bias
  std::size_t in, out;
};
struct BlockAt {
  NormAt norm1, norm2;
  LinearAt fused;     // query_key_value: width to 3 width
  LinearAt dense;     // What was attended to, back to the stream.
  LinearAt up, down;  // dense_h_to_4h and dense_4h_to_h
};

struct RotaryTables {
  RotaryTables(std::size_t positions, std::size_t pairs);

  std::size_t pairs;
  std::vector<float> cosines, sines;
};

// What a block's forward pass keeps for its backward pass; a row a token.
struct BlockState {
  BlockState(std::size_t tokens, std::size_t width, std::size_t heads);

  std::vector<float> input, normed1, fused, logsum, attended, normed2, inner, active;
  std::vector<RowMoments> moments1, moments2;
};

// What a backward pass writes and forgets; one for all blocks.
struct BlockScratch {
  BlockScratch(std::size_t tokens, std::size_t width);

  std::vector<float> inner, attended, fused, normed1, normed2;
};

// x (tokens x width) becomes the block's output. REQUIRES `state` to have room for the tokens.
void BlockForward(const BlockAt& at, const AttentionShape& shape, const RotaryTables& rotary,
                  const float* parameters, float* x, BlockState& state);

// dx, the gradient of the block's output, becomes that of its input; `gradient`, in the flat order,
// gains that of the parameters.
void BlockBackward(const BlockAt& at, const AttentionShape& shape, const RotaryTables& rotary,
                   const float* parameters, const BlockState& state, float* dx, float* gradient,
                   BlockScratch& scratch);

}  // namespace slackline

#endif  // SLACKLINE_WORKER_MODELS_TRANSFORMER_BLOCK_H_
