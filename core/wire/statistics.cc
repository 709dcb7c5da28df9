#include "core/wire/statistics.h"

#include <algorithm>

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

bool Histogram::Valid() const {
  if (bins_.empty()) return count_ == 0 && sum_ == 0 && max_ == 0;
  if (bins_.size() > kBins || bins_.back() == 0) return false;
  std::uint64_t count = 0;
  std::uint64_t sum = 0;  // Both wrap, as in Add() and Merge().
  for (std::size_t value = 0; value < bins_.size(); ++value) {
    count += bins_[value];
    sum += value * bins_[value];
  }
  if (count != count_) return false;
  const bool exact = bins_.size() < kBins;
  return exact ? sum == sum_ && max_ == bins_.size() - 1 : max_ >= kBins - 1;
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
