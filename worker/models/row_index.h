// RowIndex: finds a key's row within Rows whose keys are sorted.
#ifndef SLACKLINE_WORKER_MODELS_ROW_INDEX_H_
#define SLACKLINE_WORKER_MODELS_ROW_INDEX_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/check.h"
#include "slackline/parameters.h"

namespace slackline {

// The place of `key` among sorted unique keys. REQUIRES it to be there.
inline std::size_t RowOf(const std::vector<std::uint64_t>& keys, std::uint64_t key) {
  const auto it = std::lower_bound(keys.begin(), keys.end(), key);
  SLACKLINE_CHECK(it != keys.end() && *it == key);
  return static_cast<std::size_t>(it - keys.begin());
}

inline void SortUnique(std::vector<std::uint64_t>& keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

}  // namespace slackline

#endif  // SLACKLINE_WORKER_MODELS_ROW_INDEX_H_
