#include "server/row_table.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/check.h"
#include "kernels/initialize.h"

namespace slackline {
namespace {
constexpr std::size_t kRowsPerBlock = 1024;
constexpr std::size_t kStateSlotsMax = 4;
}  // namespace

RowTable::RowTable(TableSpec spec, std::uint32_t table, std::uint64_t seed, const UpdateRule& rule)
    : spec_(std::move(spec)),
      table_(table),
      seed_(seed),
      rule_(rule),
      stride_(static_cast<std::size_t>(spec_.width) * (1 + rule.state_slots())) {
  SLACKLINE_CHECK(rule.state_slots() <= kStateSlotsMax);
}

void RowTable::Read(std::uint64_t key, std::span<float> out) const {
  const auto it = slots_.find(key);
  if (it == slots_.end()) {
    InitializeRow(spec_, table_, seed_, key, out);
    return;
  }
  const float* row =
      blocks_[it->second / kRowsPerBlock].get() + it->second % kRowsPerBlock * stride_;
  std::copy_n(row, spec_.width, out.begin());
}

void RowTable::Apply(std::uint64_t key, const float* gradient, float lr, std::uint64_t step) {
  for (const std::weak_ptr<Cut>& weak : cuts_) {
    const std::shared_ptr<Cut> cut = weak.lock();
    if (cut == nullptr || cut->saved_.contains(key)) continue;
    std::vector<float>& saved = cut->saved_[key];
    saved.resize(spec_.width);
    Read(key, saved);
  }
  float* row = FindOrMake(key);
  std::array<float*, kStateSlotsMax> state{};
  for (std::size_t slot = 0; slot < rule_.state_slots(); ++slot)
    state[slot] = row + (1 + slot) * spec_.width;
  rule_.Apply(row, row, gradient, state.data(), spec_.width, lr, step);
}

void RowTable::Cut::Read(const RowTable& table, std::uint64_t key, std::span<float> out) const {
  const auto it = saved_.find(key);
  if (it == saved_.end()) {
    table.Read(key, out);
  } else {
    std::copy(it->second.begin(), it->second.end(), out.begin());
  }
}

std::shared_ptr<RowTable::Cut> RowTable::MakeCut() {
  std::erase_if(cuts_, [](const std::weak_ptr<Cut>& cut) { return cut.expired(); });
  auto cut = std::make_shared<Cut>();
  cuts_.push_back(cut);
  return cut;
}

float* RowTable::FindOrMake(std::uint64_t key) {
  const auto [it, made] = slots_.try_emplace(key, slots_.size());
  if (made && it->second % kRowsPerBlock == 0) {
    blocks_.push_back(std::make_unique<float[]>(kRowsPerBlock * stride_));  // Zeros.
  }
  float* row = blocks_[it->second / kRowsPerBlock].get() + it->second % kRowsPerBlock * stride_;
  if (made) InitializeRow(spec_, table_, seed_, key, {row, static_cast<std::size_t>(spec_.width)});
  return row;
}

void RowTable::AddTo(Digest& digest) const {
  std::vector<std::uint64_t> keys;
  keys.reserve(slots_.size());
  for (const auto& [key, slot] : slots_) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  for (const std::uint64_t key : keys) {
    const std::uint64_t slot = slots_.at(key);
    digest.Add(key);
    digest.Add(std::span<const float>(
        blocks_[slot / kRowsPerBlock].get() + slot % kRowsPerBlock * stride_, stride_));
  }
}

}  // namespace slackline
