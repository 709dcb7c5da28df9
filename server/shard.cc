#include "server/shard.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "core/base/check.h"
#include "kernels/initialize.h"
#include "kernels/ops.h"

namespace slackline {
namespace {

// Calls use(gradient values, offset within the segment, count) for the pieces of a contribution
// that fall into [begin, begin + count).
template <typename Use>
void ForEachOverlap(const Contribution& contribution, std::uint64_t begin, std::uint64_t count,
                    Use use) {
  for (const DensePiece& piece : contribution.dense) {
    const std::uint64_t from = std::max(begin, piece.offset);
    const std::uint64_t to = std::min(begin + count, piece.offset + piece.count);
    if (from >= to) continue;
    use(piece.values.floats().data() + (from - piece.offset), from - begin, to - from);
  }
}

}  // namespace

Shard::Shard(Settings settings, const ParameterSpec& spec, std::unique_ptr<UpdateRule> rule)
    : settings_(settings), rule_(std::move(rule)) {
  const std::uint64_t size = settings_.range.size();
  for (std::uint64_t at = 0; at < size; at += settings_.segment_elements) {
    const std::uint64_t count = std::min(settings_.segment_elements, size - at);
    Segment segment{.offset = at, .count = count, .values = {}};
    if (settings_.timing_only) {
      segment.values = Buffer::TimingOnly(count * sizeof(float));
    } else {
      segment.values = Buffer::Allocate(count * sizeof(float));
      InitializeDense(spec, settings_.seed, settings_.range.begin + at,
                      segment.values.mutable_floats());
    }
    segments_.push_back(std::move(segment));
  }
  if (!settings_.timing_only) state_.assign(rule_->state_slots(), std::vector<float>(size, 0.0f));
  for (std::uint32_t t = 0; t < spec.tables.size(); ++t) {
    tables_.emplace_back(spec.tables[t], t, settings_.seed, *rule_);
  }
}

void Shard::Apply(const Update& update) {
  if (settings_.timing_only) return;
  DropReleased();
  for (Segment& segment : segments_) ApplyDense(update, segment);
  if (!tables_.empty()) ApplyRows(update);
}

template <typename Rewrite>
void Shard::RewriteSegment(Segment& segment, const Rewrite& rewrite) {
  Buffer target = segment.values.unique() ? std::move(segment.values)
                                          : Buffer::Allocate(segment.count * sizeof(float));
  const bool in_place = segment.values.empty();
  float* after = target.mutable_floats().data();
  rewrite(in_place ? after : segment.values.floats().data(), after);
  if (!in_place) {
    held_bytes_ += segment.values.size();
    held_.push_back(std::move(segment.values));
  }
  segment.values = std::move(target);
}

void Shard::ApplyDense(const Update& update, Segment& segment) {
  RewriteSegment(segment, [&](const float* before, float* after) {
    std::vector<float*> state(state_.size());
    const auto apply = [&](const float* gradient, std::uint64_t at, std::uint64_t count) {
      for (std::size_t slot = 0; slot < state.size(); ++slot)
        state[slot] = state_[slot].data() + segment.offset + at;
      rule_->Apply(before + at, after + at, gradient, state.data(), count, update.lr, update.step);
    };
    if (update.contributions.size() == 1 && update.contributions[0].weight == 1.0f) {
      ForEachOverlap(update.contributions[0], segment.offset, segment.count, apply);
      return;
    }
    sum_.assign(segment.count, 0.0f);
    for (const Contribution& contribution : update.contributions) {
      ForEachOverlap(contribution, segment.offset, segment.count,
                     [&](const float* gradient, std::uint64_t at, std::uint64_t count) {
                       AddScaled(contribution.weight, gradient, sum_.data() + at, count);
                     });
    }
    apply(sum_.data(), 0, segment.count);
  });
}

Buffer Shard::TakeDifference(bool lossless) {
  const std::size_t bytes = settings_.range.size() * sizeof(float);
  if (settings_.timing_only) return Buffer::TimingOnly(bytes);
  SLACKLINE_CHECK(reference_.size() == segments_.size());
  Buffer difference = Buffer::Allocate(bytes);
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    Subtract(reference_[s].values.floats().data(), segments_[s].values.floats().data(),
             difference.mutable_floats().data() + segments_[s].offset, segments_[s].count);
  }
  if (lossless) TakeReference();
  return difference;
}

void Shard::Merge(const Buffer& pulled, float weight, bool lossless) {
  if (settings_.timing_only) return;
  DropReleased();
  std::vector<float> before;
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    Segment& segment = segments_[s];
    const std::span<const float> own = segment.values.floats();
    if (lossless) before.assign(own.begin(), own.end());
    RewriteSegment(segment, [&](const float* from, float* to) {
      Blend(weight, pulled.floats().data() + segment.offset, from, to, segment.count);
    });
    if (!lossless) continue;
    const std::span<const float> reference = reference_[s].values.floats();
    const std::span<const float> now = segment.values.floats();
    Buffer moved = Buffer::Allocate(segment.count * sizeof(float));
    const std::span<float> out = moved.mutable_floats();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = reference[i] + (now[i] - before[i]);
    reference_[s].values = std::move(moved);
  }
  if (!lossless) TakeReference();
}

void Shard::ApplyRows(const Update& update) {
  for (std::uint32_t t = 0; t < tables_.size(); ++t) {
    const std::size_t width = tables_[t].width();
    std::map<std::uint64_t, std::vector<float>> sums;  // By key, so that rows change in one order.
    for (const Contribution& contribution : update.contributions) {
      for (const RowPiece& piece : contribution.rows) {
        if (piece.table != t) continue;
        const std::byte* keys = piece.keys_and_values.bytes().data();
        const auto* values =
            reinterpret_cast<const float*>(keys + piece.count * sizeof(std::uint64_t));
        for (std::uint64_t i = 0; i < piece.count; ++i) {
          std::uint64_t key;
          std::memcpy(&key, keys + i * sizeof key, sizeof key);
          std::vector<float>& sum = sums[key];
          sum.resize(width, 0.0f);
          AddScaled(contribution.weight, values + i * width, sum.data(), width);
        }
      }
    }
    for (const auto& [key, sum] : sums) tables_[t].Apply(key, sum.data(), update.lr, update.step);
  }
}

std::vector<Shard::Segment> Shard::Snapshot() const { return segments_; }

Shard::Cut Shard::MakeCut() {
  Cut cut{.dense = segments_, .rows = {}};
  for (RowTable& table : tables_) cut.rows.push_back(table.MakeCut());
  return cut;
}

void Shard::DropReleased() {
  std::erase_if(held_, [&](const Buffer& buffer) {
    if (!buffer.unique()) return false;
    held_bytes_ -= buffer.size();
    return true;
  });
}

bool Shard::SnapshotAllowed() {
  DropReleased();
  const std::uint64_t allowed = settings_.max_snapshots + (reference_.empty() ? 0 : 1);
  return held_bytes_ < allowed * settings_.range.size() * sizeof(float) || held_.empty();
}

void Shard::AddTo(Digest& digest) const {
  for (const Segment& segment : segments_) digest.Add(segment.values.floats());
  for (const Segment& segment : reference_) digest.Add(segment.values.floats());
  for (const std::vector<float>& slot : state_) digest.Add(std::span<const float>(slot));
  for (const RowTable& table : tables_) table.AddTo(digest);
}

}  // namespace slackline
