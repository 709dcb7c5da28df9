// Stage: where a worker's pushes to one shard lie until they are decided. Chunks are checked as
// they arrive; a push is complete after its last chunk, and until then nothing of it counts.
//
// Threads: one at a time.
#ifndef SLACKLINE_SERVER_STAGE_H_
#define SLACKLINE_SERVER_STAGE_H_

#include <cstdint>
#include <map>
#include <vector>

#include "core/wire/messages.h"
#include "server/shard.h"
#include "slackline/parameters.h"
#include "slackline/status.h"

namespace slackline {

// One push of one worker at this shard.
struct StagedEntry {
  Contribution contribution;
  std::uint64_t version = 0;  // Computed from.
  std::uint64_t samples = 0;
  bool rejected = false;      // Unfit to be applied: by the worker's word or by our own check.
  std::vector<bool> seen;     // By chunk.
  std::uint32_t missing = 0;  // Chunks.

  bool complete() const { return missing == 0; }
};

class Stage {
 public:
  // For one worker. `window` pushes at most lie here: seqs [next, next + window).
  Stage(std::uint64_t shard_elements, std::vector<std::uint64_t> table_widths, std::uint32_t window,
        bool timing_only);

  // Takes one chunk of a push that has not been decided. `next` is the first such seq.
  // True: the chunk completed its push. False: more are to come, or it was here already.
  // Errors: kInvalidArgument with the values where the chunk fits no push of this shard;
  // kResourceExhausted beyond the window. Neither changes anything.
  Result<bool> Add(const Push& push, const Buffer& payload, std::uint64_t next);

  // nullptr when it is not here.
  const StagedEntry* Find(std::uint64_t seq) const;
  // Hands it out. REQUIRES Find(seq) != nullptr.
  StagedEntry Take(std::uint64_t seq);
  // Complete ones, by seq.
  const std::map<std::uint64_t, StagedEntry>& entries() const { return entries_; }
  // Drops pushes from this seq on: an older life's, which nobody will decide.
  void DropFrom(std::uint64_t seq) { entries_.erase(entries_.lower_bound(seq), entries_.end()); }

 private:
  Status Check(const Push& push, const Buffer& payload) const;
  void FinishDense(StagedEntry& entry) const;

  std::uint64_t shard_elements_;
  std::vector<std::uint64_t> table_widths_;
  std::uint32_t window_;
  bool timing_only_;
  std::map<std::uint64_t, StagedEntry> entries_;  // By seq.
};

}  // namespace slackline

#endif  // SLACKLINE_SERVER_STAGE_H_
