// Initial values: a pure function of (seed, tensor or table, element), so that any server computes
// any slice alone and the number of servers changes no bit.
#ifndef SLACKLINE_KERNELS_INITIALIZE_H_
#define SLACKLINE_KERNELS_INITIALIZE_H_

#include <cstdint>
#include <span>

#include "slackline/parameters.h"

namespace slackline {

// The values of the flat order [begin, begin + out.size()). REQUIRES the range to lie within it.
void InitializeDense(const ParameterSpec& spec, std::uint64_t seed, std::uint64_t begin,
                     std::span<float> out);

// The values of one row. REQUIRES out.size() == table.width.
void InitializeRow(const TableSpec& table, std::uint32_t table_index, std::uint64_t seed,
                   std::uint64_t key, std::span<float> out);

}  // namespace slackline

#endif  // SLACKLINE_KERNELS_INITIALIZE_H_
