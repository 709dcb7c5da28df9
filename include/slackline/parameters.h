// What a model's parameters are: named dense tensors and sparse tables, and how they begin.
//
// A model describes itself with a ParameterSpec; servers create, place and initialise their part
// of it from the description alone and know nothing else of the model.
#ifndef SLACKLINE_PARAMETERS_H_
#define SLACKLINE_PARAMETERS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace slackline {

// Initial values are zero, or uniform in [-bound, bound) drawn from a stream named by the tensor's
// position and the element's index, so that any server computes any slice alone.
struct Initializer {
  float uniform_bound = 0.0f;  // 0: all zeros.

  bool operator==(const Initializer&) const = default;
};

// A dense tensor of fp32, row-major.
struct TensorSpec {
  std::string name;
  std::vector<std::uint64_t> shape;  // Empty: a scalar. A zero makes the tensor empty, which is fine.
  Initializer init;

  std::uint64_t elements() const {
    std::uint64_t count = 1;
    for (const std::uint64_t extent : shape) count *= extent;
    return count;
  }
  bool operator==(const TensorSpec&) const = default;
};

// A sparse table: rows of `width` fp32, keyed by any 64-bit key, made when first touched.
struct TableSpec {
  std::string name;
  std::uint64_t width = 1;
  Initializer init;

  bool operator==(const TableSpec&) const = default;
};

struct ParameterSpec {
  std::vector<TensorSpec> tensors;  // In this order they form the flat order.
  std::vector<TableSpec> tables;

  // Elements of all tensors: the length of the flat order.
  std::uint64_t dense_elements() const {
    std::uint64_t count = 0;
    for (const TensorSpec& tensor : tensors) count += tensor.elements();
    return count;
  }
  bool operator==(const ParameterSpec&) const = default;
};

}  // namespace slackline

#endif  // SLACKLINE_PARAMETERS_H_
