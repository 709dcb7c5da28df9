#include "kernels/clip.h"

#include <cmath>

#include "kernels/ops.h"

namespace slackline {
namespace {

void ScaleDown(double sum_of_squares, float norm, std::span<float> values) {
  const double length = std::sqrt(sum_of_squares);
  if (!std::isfinite(length) || length <= static_cast<double>(norm)) return;
  Scale(static_cast<float>(static_cast<double>(norm) / length), values.data(), values.size());
}

}  // namespace

void ClipGradient(std::string_view how, float norm, const ParameterSpec& spec,
                  std::span<float> dense, std::vector<Rows>& rows) {
  if (how == "global") {
    double sum = SumOfSquares(dense);
    for (const Rows& set : rows) sum += SumOfSquares(set.values);
    ScaleDown(sum, norm, dense);
    for (Rows& set : rows) ScaleDown(sum, norm, set.values);
  } else if (how == "tensor") {
    std::size_t at = 0;
    for (const TensorSpec& tensor : spec.tensors) {
      const std::span<float> part = dense.subspan(at, tensor.elements());
      ScaleDown(SumOfSquares(part), norm, part);
      at += part.size();
    }
    for (Rows& set : rows) ScaleDown(SumOfSquares(set.values), norm, set.values);
  }
}

}  // namespace slackline
