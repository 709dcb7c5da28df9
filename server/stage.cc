#include "server/stage.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/strings.h"
#include "kernels/ops.h"

namespace slackline {

Stage::Stage(std::uint64_t shard_elements, std::vector<std::uint64_t> table_widths,
             std::uint32_t window, bool timing_only)
    : shard_elements_(shard_elements),
      table_widths_(std::move(table_widths)),
      window_(window),
      timing_only_(timing_only) {}

Status Stage::Check(const Push& push, const Buffer& payload) const {
  const auto misfit = [&](const auto&... parts) {
    return InvalidArgument(StrCat("push ", push.seq, " of worker ", push.rank, ": ", parts...));
  };
  if (push.rejected) return Status::Ok();
  if (push.table == kDense) {
    if (push.offset > shard_elements_ || push.count > shard_elements_ - push.offset) {
      return misfit(push.count, " values at ", push.offset, "; this shard has ", shard_elements_);
    }
    if (payload.size() != push.count * sizeof(float)) {
      return misfit(push.count, " values need ", push.count * sizeof(float), " bytes; got ",
                    payload.size());
    }
    return Status::Ok();
  }
  if (push.table >= table_widths_.size()) {
    return misfit("table ", push.table, "; the model has ", table_widths_.size());
  }
  const std::uint64_t row_bytes = sizeof(std::uint64_t) + table_widths_[push.table] * sizeof(float);
  if (payload.size() / row_bytes != push.count || payload.size() % row_bytes != 0) {
    return misfit(push.count, " rows of ", row_bytes, " bytes; got ", payload.size(), " bytes");
  }
  return Status::Ok();
}

Result<bool> Stage::Add(const Push& push, const Buffer& payload, std::uint64_t next) {
  if (push.seq - next >= window_) {
    return ResourceExhausted(StrCat(
        "push ", push.seq, " of worker ", push.rank, " is beyond the window: ", "push ", next,
        " is still to come, and ", window_, " may be in flight (--max-inflight-pushes)"));
  }
  SLACKLINE_RETURN_IF_ERROR(Check(push, payload));
  auto it = entries_.find(push.seq);
  if (it == entries_.end()) {
    StagedEntry entry;
    entry.version = push.version;
    entry.samples = push.samples;
    entry.seen.assign(push.chunks, false);
    entry.missing = push.chunks;
    it = entries_.emplace(push.seq, std::move(entry)).first;
  }
  StagedEntry& entry = it->second;
  if (push.chunks != entry.seen.size()) {
    return InvalidArgument(StrCat("push ", push.seq, " of worker ", push.rank, " had ",
                                  entry.seen.size(), " chunks and now has ", push.chunks));
  }
  if (entry.complete() || entry.seen[push.chunk]) return false;

  entry.rejected |= push.rejected;
  if (!push.rejected && push.count > 0) {
    // What the rule reads must lie aligned; a payload from inside a frame may not.
    Buffer aligned = payload.timing_only() || payload.AlignedFor<std::uint64_t>() ||
                             (push.table == kDense && payload.AlignedFor<float>())
                         ? payload
                         : Buffer::CopyOf(payload.bytes());
    const std::size_t keys_bytes = push.table == kDense ? 0 : push.count * sizeof(std::uint64_t);
    if (!timing_only_ &&
        !AllFinite(aligned.Slice(keys_bytes, aligned.size() - keys_bytes).floats())) {
      entry.rejected = true;
    }
    if (push.table == kDense) {
      entry.contribution.dense.push_back({push.offset, push.count, std::move(aligned)});
    } else {
      entry.contribution.rows.push_back({push.table, push.count, std::move(aligned)});
    }
  }
  entry.seen[push.chunk] = true;
  if (--entry.missing > 0) return false;
  FinishDense(entry);
  return true;
}

void Stage::FinishDense(StagedEntry& entry) const {
  std::vector<DensePiece>& dense = entry.contribution.dense;
  std::sort(dense.begin(), dense.end(),
            [](const DensePiece& a, const DensePiece& b) { return a.offset < b.offset; });
  std::uint64_t covered = 0;
  for (const DensePiece& piece : dense) {
    if (piece.offset != covered) entry.rejected = true;  // A gap or an overlap.
    covered = piece.offset + piece.count;
  }
  if (covered != shard_elements_) entry.rejected = true;
  if (entry.rejected) entry.contribution = {};
}

const StagedEntry* Stage::Find(std::uint64_t seq) const {
  const auto it = entries_.find(seq);
  return it == entries_.end() ? nullptr : &it->second;
}

StagedEntry Stage::Take(std::uint64_t seq) {
  auto node = entries_.extract(seq);
  SLACKLINE_CHECK(!node.empty());
  return std::move(node.mapped());
}

}  // namespace slackline
