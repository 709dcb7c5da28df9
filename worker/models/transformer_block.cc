#include "worker/models/transformer_block.h"

#include <algorithm>

#include "kernels/ops.h"

namespace slackline {
namespace {

void Linear(const LinearAt& at, const float* parameters, const float* x, float* y,
            std::size_t tokens) {
  MatMulTransposedB(x, parameters + at.weight, y, tokens, at.in, at.out);
  AddBias(parameters + at.bias, y, tokens, at.out);
}

// y += the layer's output.
void AddLinear(const LinearAt& at, const float* parameters, const float* x, float* y,
               std::size_t tokens) {
  AddMatMulTransposedB(x, parameters + at.weight, y, tokens, at.in, at.out);
  AddBias(parameters + at.bias, y, tokens, at.out);
}

// dx = the input's gradient from dy, that of the output.
void LinearBackward(const LinearAt& at, const float* parameters, const float* x, const float* dy,
                    float* dx, float* gradient, std::size_t tokens) {
  AddMatMulTransposedA(dy, x, gradient + at.weight, at.out, tokens, at.in);
  AddSumColumns(dy, gradient + at.bias, tokens, at.out);
  MatMul(dy, parameters + at.weight, dx, tokens, at.out, at.in);
}

}  // namespace

RotaryTables::RotaryTables(std::size_t positions, std::size_t pairs_of_head)
    : pairs(pairs_of_head), cosines(positions * pairs), sines(positions * pairs) {
  RotaryAngles(positions, pairs, cosines.data(), sines.data());
}

BlockState::BlockState(std::size_t tokens, std::size_t width, std::size_t heads)
    : input(tokens * width),
      normed1(tokens * width),
      fused(tokens * 3 * width),
      logsum(tokens * heads),
      attended(tokens * width),
      normed2(tokens * width),
      inner(tokens * 4 * width),
      active(tokens * 4 * width),
      moments1(tokens),
      moments2(tokens) {}

BlockScratch::BlockScratch(std::size_t tokens, std::size_t width)
    : inner(tokens * 4 * width),
      attended(tokens * width),
      fused(tokens * 3 * width),
      normed1(tokens * width),
      normed2(tokens * width) {}

void BlockForward(const BlockAt& at, const AttentionShape& shape, const RotaryTables& rotary,
                  const float* parameters, float* x, BlockState& state) {
  const std::size_t tokens = shape.tokens(), width = shape.width();
  std::copy_n(x, tokens * width, state.input.data());

  LayerNorm(x, parameters + at.norm1.weight, parameters + at.norm1.bias, state.normed1.data(),
            state.moments1.data(), tokens, width);
  Linear(at.fused, parameters, state.normed1.data(), state.fused.data(), tokens);
  Rotate(rotary.cosines.data(), rotary.sines.data(), rotary.pairs, Turn::kForth, shape,
         state.fused.data());
  CausalAttention(state.fused.data(), state.attended.data(), state.logsum.data(), shape);

  LayerNorm(x, parameters + at.norm2.weight, parameters + at.norm2.bias, state.normed2.data(),
            state.moments2.data(), tokens, width);
  Linear(at.up, parameters, state.normed2.data(), state.inner.data(), tokens);
  Gelu(state.inner.data(), state.active.data(), tokens * at.up.out);

  AddLinear(at.dense, parameters, state.attended.data(), x, tokens);
  AddLinear(at.down, parameters, state.active.data(), x, tokens);
}

void BlockBackward(const BlockAt& at, const AttentionShape& shape, const RotaryTables& rotary,
                   const float* parameters, const BlockState& state, float* dx, float* gradient,
                   BlockScratch& scratch) {
  const std::size_t tokens = shape.tokens(), width = shape.width();
  LinearBackward(at.down, parameters, state.active.data(), dx, scratch.inner.data(), gradient,
                 tokens);
  GeluBackward(state.inner.data(), scratch.inner.data(), tokens * at.up.out);
  LinearBackward(at.up, parameters, state.normed2.data(), scratch.inner.data(),
                 scratch.normed2.data(), gradient, tokens);

  LinearBackward(at.dense, parameters, state.attended.data(), dx, scratch.attended.data(), gradient,
                 tokens);
  CausalAttentionBackward(state.fused.data(), state.attended.data(), state.logsum.data(),
                          scratch.attended.data(), scratch.fused.data(), shape);
  Rotate(rotary.cosines.data(), rotary.sines.data(), rotary.pairs, Turn::kBack, shape,
         scratch.fused.data());
  LinearBackward(at.fused, parameters, state.normed1.data(), scratch.fused.data(),
                 scratch.normed1.data(), gradient, tokens);

  // Only now may dx change: both branches began from it.
  AddLayerNormGradient(state.input.data(), parameters + at.norm2.weight, state.moments2.data(),
                       scratch.normed2.data(), dx, gradient + at.norm2.weight,
                       gradient + at.norm2.bias, tokens, width);
  AddLayerNormGradient(state.input.data(), parameters + at.norm1.weight, state.moments1.data(),
                       scratch.normed1.data(), dx, gradient + at.norm1.weight,
                       gradient + at.norm1.bias, tokens, width);
}

}  // namespace slackline
