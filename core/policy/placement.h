// Placement: which server owns which parameters. Pure functions.
#ifndef SLACKLINE_CORE_POLICY_PLACEMENT_H_
#define SLACKLINE_CORE_POLICY_PLACEMENT_H_

#include <cstdint>
#include <vector>

#include "core/wire/types.h"

namespace slackline {

// Cuts the flat order [0, elements) into `servers` contiguous ranges of equal size, whatever the
// tensors' sizes: tensors are split where a cut falls. Cuts lie on cache lines where that costs no
// more than 5 % of balance, so max/mean <= 1.05 or the ranges differ by one element. Servers beyond
// the elements own nothing. REQUIRES servers > 0.
std::vector<ShardRange> PlaceDense(std::uint64_t elements, std::uint32_t servers);

// max / mean size of the ranges; 1 when there is nothing to own.
double Imbalance(const std::vector<ShardRange>& ranges);

// The server that owns a sparse row. Every key has exactly one. REQUIRES servers > 0.
std::uint32_t RowOwner(std::uint64_t key, std::uint32_t servers);

}  // namespace slackline

#endif  // SLACKLINE_CORE_POLICY_PLACEMENT_H_
