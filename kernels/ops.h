// Ops: the few operations that models and servers are written on. Plain pointers and sizes, so that
// a model knows no device and no matrix library. Matrices are dense and row-major.
//
// Deterministic: the same input gives the same bits, in every build of one instruction set.
// Element- wise ops are exact to the rounding of each step; sums say in which order they add.
//
// Threads: free of state; outputs must not overlap inputs unless said otherwise.
#ifndef SLACKLINE_KERNELS_OPS_H_
#define SLACKLINE_KERNELS_OPS_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace slackline {

// c (m x n) = a (m x k) b (k x n).
void MatMul(const float* a, const float* b, float* c, std::size_t m, std::size_t k, std::size_t n);
// c (m x n) = a^T b, with a (k x m), b (k x n): a weight's gradient from a batch of k.
void MatMulTransposedA(const float* a, const float* b, float* c, std::size_t m, std::size_t k,
                       std::size_t n);
// c (m x n) = a b^T, with a (m x k), b (n x k): a gradient on its way back through a weight.
void MatMulTransposedB(const float* a, const float* b, float* c, std::size_t m, std::size_t k,
                       std::size_t n);
// c (m x n) += a b^T and c (m x n) += a^T b, shapes as above: sums over parts of a batch.
void AddMatMulTransposedB(const float* a, const float* b, float* c, std::size_t m, std::size_t k,
                          std::size_t n);
void AddMatMulTransposedA(const float* a, const float* b, float* c, std::size_t m, std::size_t k,
                          std::size_t n);

// Adds `bias` (columns) to every row of `x` (rows x columns).
void AddBias(const float* bias, float* x, std::size_t rows, std::size_t columns);
// sums (columns) = the column sums of x (rows x columns), added row by row.
void SumColumns(const float* x, float* sums, std::size_t rows, std::size_t columns);
// The same, added to what `sums` holds.
void AddSumColumns(const float* x, float* sums, std::size_t rows, std::size_t columns);

// x <- max(x, 0). NaN stays NaN.
void Relu(float* x, std::size_t count);
// gradient <- gradient where the activation was positive, else 0.
void ReluBackward(const float* activation, float* gradient, std::size_t count);

// What SoftmaxCrossEntropy found over a batch.
struct Classified {
  double loss = 0;            // Sum over the rows, of -log p(label).
  std::uint64_t correct = 0;  // Rows whose largest logit (the first of equals) is the label's.
};
// Softmax cross-entropy of `logits` (rows x classes) against labels. Where `gradient` is not null
// it becomes the gradient of the *mean* loss; it may be `logits` itself. REQUIRES labels < classes.
Classified SoftmaxCrossEntropy(const float* logits, const std::uint32_t* labels, float* gradient,
                               std::size_t rows, std::size_t classes);

// y <- y + weight x, fused.
void AddScaled(float weight, const float* x, float* y, std::size_t count);
// difference <- a - b.
void Subtract(const float* a, const float* b, float* difference, std::size_t count);
// y <- weight x + (1 - weight) own: with weight 1 exactly x, with 0 exactly own. y may be own.
void Blend(float weight, const float* x, const float* own, float* y, std::size_t count);
// x <- factor x.
void Scale(float factor, float* x, std::size_t count);
// Sum of squares, in double, in eight interleaved partial sums.
double SumOfSquares(std::span<const float> x);
// True when no value is a NaN or an infinity.
bool AllFinite(std::span<const float> x);

}  // namespace slackline

#endif  // SLACKLINE_KERNELS_OPS_H_
