// Shard: one server's part of the parameters, with the rule's state, and how updates change it.
//
// Dense parameters lie in reference-counted segments. A snapshot is a row of references; an update
// writes in place where nobody else holds the segment and beside it where somebody does, so a
// reader always keeps the whole version it was given, and publishing costs what changed while
// somebody read.
//
// Threads: one at a time. Snapshots may be read and dropped anywhere.
#ifndef SLACKLINE_SERVER_SHARD_H_
#define SLACKLINE_SERVER_SHARD_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "core/base/buffer.h"
#include "core/base/digest.h"
#include "core/wire/types.h"
#include "kernels/rule.h"
#include "server/row_table.h"
#include "slackline/parameters.h"

namespace slackline {

// A worker's push as it lies staged at a shard: chunks as they came.
struct DensePiece {
  std::uint64_t offset = 0;  // In elements from the shard's beginning.
  std::uint64_t count = 0;
  Buffer values;
};
struct RowPiece {
  std::uint32_t table = 0;
  std::uint64_t count = 0;
  Buffer keys_and_values;  // `count` keys of 64 bits, then `count` rows.
};
struct Contribution {
  float weight = 1.0f;
  std::vector<DensePiece> dense;  // In the order of offsets, covering the shard without overlap.
  std::vector<RowPiece> rows;
};

// What one entry of the decision log does to the parameters.
struct Update {
  std::vector<Contribution> contributions;  // Summed in this order.
  float lr = 0;
  std::uint64_t step = 1;  // From 1.
};

class Shard {
 public:
  struct Settings {
    ShardRange range;
    std::uint64_t seed = 0;
    std::uint64_t segment_elements = 1;
    std::uint64_t max_snapshots = 1;
    bool timing_only = false;  // No storage: updates take time and change nothing.
  };
  Shard(Settings settings, const ParameterSpec& spec, std::unique_ptr<UpdateRule> rule);

  const ShardRange& range() const { return settings_.range; }
  const UpdateRule& rule() const { return *rule_; }
  const std::deque<RowTable>& tables() const { return tables_; }

  void Apply(const Update& update);

  // A region's exchange with the global tier (HALoS, Kim et al., ICML 2025).
  //
  // What updates have done since the reference, negated as a gradient is: reference - parameters.
  // `lossless`: the reference moves up to the parameters, so that nothing is reported twice or
  // never; else it stays until the merge. REQUIRES a reference.
  Buffer TakeDifference(bool lossless);
  // parameters <- weight pulled + (1 - weight) parameters. The reference becomes the outcome or,
  // `lossless`, moves by as much as the parameters did. `pulled` has range().size() values.
  void Merge(const Buffer& pulled, float weight, bool lossless);
  // The reference becomes the parameters as they are.
  void TakeReference() { reference_ = segments_; }

  struct Segment {
    std::uint64_t offset = 0;  // In elements from the shard's beginning.
    std::uint64_t count = 0;
    Buffer values;
  };
  // A whole version. Lives as long as its Buffers do.
  std::vector<Segment> Snapshot() const;

  // Everything at this point, rows included.
  struct Cut {
    std::vector<Segment> dense;
    std::vector<std::shared_ptr<RowTable::Cut>> rows;  // By table.
  };
  Cut MakeCut();

  // False while readers hold so many replaced versions that a further snapshot could take more
  // than max_snapshots times the shard's own memory.
  bool SnapshotAllowed();
  // Bytes that are kept for readers alone.
  std::uint64_t held_bytes() const { return held_bytes_; }

  void AddTo(Digest& digest) const;

 private:
  // Calls rewrite(before, after) on the segment's values: in place where nobody else holds them,
  // else into a copy, while the old values are kept for those who do.
  template <typename Rewrite>
  void RewriteSegment(Segment& segment, const Rewrite& rewrite);
  void ApplyDense(const Update& update, Segment& segment);
  void ApplyRows(const Update& update);
  void DropReleased();

  const Settings settings_;
  const std::unique_ptr<UpdateRule> rule_;
  std::vector<Segment> segments_;
  std::vector<Segment> reference_;         // A region's; shares segments that no update changed.
  std::vector<std::vector<float>> state_;  // By slot, the whole shard each.
  std::deque<RowTable> tables_;            // Tables never move.
  std::vector<Buffer> held_;               // Replaced segments that some reader still holds.
  std::uint64_t held_bytes_ = 0;
  std::vector<float> sum_;  // Scratch of one segment.
};

}  // namespace slackline

#endif  // SLACKLINE_SERVER_SHARD_H_
