#include "kernels/initialize.h"

#include <algorithm>

#include "core/base/check.h"
#include "slackline/random.h"

namespace slackline {
namespace {
// Rows draw from streams of their own, beyond those of the tensors.
constexpr std::uint64_t kRowStreams = std::uint64_t{1} << 32;

float Value(const Initializer& init, const RandomStream& stream, std::uint64_t counter) {
  if (init.uniform_bound == 0.0f) return init.center;
  return init.center + stream.UniformFloat(counter, init.uniform_bound);
}
}  // namespace

void InitializeDense(const ParameterSpec& spec, std::uint64_t seed, std::uint64_t begin,
                     std::span<float> out) {
  std::uint64_t tensor_begin = 0;
  std::size_t done = 0;
  for (std::size_t t = 0; t < spec.tensors.size() && done < out.size(); ++t) {
    const std::uint64_t tensor_end = tensor_begin + spec.tensors[t].elements();
    const std::uint64_t from = std::max(begin, tensor_begin);
    const std::uint64_t to = std::min(begin + out.size(), tensor_end);
    const Initializer init = spec.tensors[t].init;
    const RandomStream stream(seed, RandomPurpose::kInitialParameters, t);
    for (std::uint64_t i = from; i < to; ++i) {
      out[i - begin] = Value(init, stream, i - tensor_begin);
      ++done;
    }
    tensor_begin = tensor_end;
  }
  SLACKLINE_CHECK(done == out.size());
}

void InitializeRow(const TableSpec& table, std::uint32_t table_index, std::uint64_t seed,
                   std::uint64_t key, std::span<float> out) {
  // The key takes the counter's place, so that every one of the 2^64 keys has numbers of its own;
  // the place within the row picks the stream.
  for (std::size_t i = 0; i < out.size(); ++i) {
    const RandomStream stream(seed, RandomPurpose::kInitialParameters,
                              kRowStreams * (1 + table_index) + i);
    out[i] = Value(table.init, stream, key);
  }
}

}  // namespace slackline
