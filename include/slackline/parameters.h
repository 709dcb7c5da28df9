// What a model's parameters are: named dense tensors and sparse tables, and how they begin.
//
// A model describes itself with a ParameterSpec; servers create, place and initialise their part
// of it from the description alone and know nothing else of the model.
//
// C++17, as device code sees it.
#ifndef SLACKLINE_PARAMETERS_H_
#define SLACKLINE_PARAMETERS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "slackline/status.h"

namespace slackline {

// Initial values are `center` plus a number uniform in [-bound, bound) that is drawn from a stream
// named by the tensor's position and the element's index, so that any server computes any slice
// alone.
struct Initializer {
  float uniform_bound = 0.0f;  // 0: every value is `center`.
  float center = 0.0f;

  bool operator==(const Initializer& other) const {
    return uniform_bound == other.uniform_bound && center == other.center;
  }
};

// A dense tensor of fp32, row-major.
struct TensorSpec {
  std::string name;
  std::vector<std::uint64_t>
      shape;  // Empty: a scalar. A zero makes the tensor empty, which is fine.
  Initializer init;

  std::uint64_t elements() const {
    std::uint64_t count = 1;
    for (const std::uint64_t extent : shape) count *= extent;
    return count;
  }
  bool operator==(const TensorSpec& other) const {
    return name == other.name && shape == other.shape && init == other.init;
  }
};

// A sparse table: rows of `width` fp32, keyed by any 64-bit key, made when first touched.
struct TableSpec {
  std::string name;
  std::uint64_t width = 1;
  Initializer init;

  bool operator==(const TableSpec& other) const {
    return name == other.name && width == other.width && init == other.init;
  }
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
  bool operator==(const ParameterSpec& other) const {
    return tensors == other.tensors && tables == other.tables;
  }
};

// Limits on a description. They keep the sizes computed from it within 64 bits, and the messages
// that carry it within the limits of the wire (docs/PROTOCOL.md).
inline constexpr std::size_t kTensorsMax = 65536;
inline constexpr std::size_t kTablesMax = 1024;
inline constexpr std::size_t kExtentsMax = 8;                          // Of one shape.
inline constexpr std::size_t kNameBytesMax = 256;                      // Of a tensor or table.
inline constexpr std::uint64_t kElementsMax = std::uint64_t{1} << 60;  // Of all tensors together.
inline constexpr std::uint64_t kTableWidthMax = std::uint64_t{1} << 24;

// Whether a description keeps within the limits and its initial values are finite. Only then are
// elements() and dense_elements() to be believed.
// Errors: kInvalidArgument, naming the tensor or table and the value.
Status CheckParameterSpec(const ParameterSpec& spec);

// Rows of one table: keys without repetition, and their values.
struct Rows {
  std::uint32_t table = 0;
  std::vector<std::uint64_t> keys;
  std::vector<float> values;  // keys.size() x width, row by row; empty in a request.

  bool operator==(const Rows& other) const {
    return table == other.table && keys == other.keys && values == other.values;
  }
};

}  // namespace slackline

#endif  // SLACKLINE_PARAMETERS_H_
