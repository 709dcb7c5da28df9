#include "core/wire/statistics.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace slackline {

void Histogram::Add(std::uint64_t value) {
  const std::size_t bin = std::min<std::uint64_t>(value, kBins - 1);
  if (bins_.size() <= bin) bins_.resize(bin + 1);
  ++bins_[bin];
  ++count_;
  sum_ += value;
  max_ = std::max(max_, value);
}

void Histogram::Merge(const Histogram& other) {
  if (bins_.size() < other.bins_.size()) bins_.resize(other.bins_.size());
  for (std::size_t i = 0; i < other.bins_.size(); ++i) bins_[i] += other.bins_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
}

std::uint64_t Histogram::Quantile(double share) const {
  SLACKLINE_CHECK(share > 0 && share <= 1);
  const double wanted = share * static_cast<double>(count_);
  std::uint64_t seen = 0;
  for (std::size_t value = 0; value < bins_.size(); ++value) {
    seen += bins_[value];
    if (static_cast<double>(seen) >= wanted) return value == kBins - 1 ? max_ : value;
  }
  return max_;
}

}  // namespace slackline
