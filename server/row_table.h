// RowTable: one sparse table's rows at one shard. A row is made, with its initial values, when it
// is first touched by an update; reading an untouched row computes the same values and stores
// nothing.
//
// Threads: one at a time.
#ifndef SLACKLINE_SERVER_ROW_TABLE_H_
#define SLACKLINE_SERVER_ROW_TABLE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/base/digest.h"
#include "kernels/rule.h"
#include "slackline/parameters.h"

namespace slackline {

class RowTable {
 public:
  RowTable(TableSpec spec, std::uint32_t table, std::uint64_t seed, const UpdateRule& rule);

  std::uint64_t width() const { return spec_.width; }
  std::size_t rows() const { return slots_.size(); }

  // Copies the row's values. REQUIRES out.size() == width().
  void Read(std::uint64_t key, std::span<float> out) const;
  // One update of one row.
  void Apply(std::uint64_t key, const float* gradient, float lr, std::uint64_t step);

  // A read-only view of the table as it is now. Rows that change afterwards are saved for it first;
  // it costs what changes while it lives.
  class Cut {
   public:
    void Read(const RowTable& table, std::uint64_t key, std::span<float> out) const;

   private:
    friend class RowTable;
    std::unordered_map<std::uint64_t, std::vector<float>> saved_;
  };
  std::shared_ptr<Cut> MakeCut();

  void AddTo(Digest& digest) const;  // In the order of keys.

 private:
  float* FindOrMake(std::uint64_t key);

  const TableSpec spec_;
  const std::uint32_t table_;
  const std::uint64_t seed_;
  const UpdateRule& rule_;
  const std::size_t stride_;  // Values of a row, then its state, slot by slot.
  std::unordered_map<std::uint64_t, std::uint64_t> slots_;  // Looked up, never walked to decide.
  std::vector<std::unique_ptr<float[]>> blocks_;            // Rows never move.
  std::vector<std::weak_ptr<Cut>> cuts_;
};

}  // namespace slackline

#endif  // SLACKLINE_SERVER_ROW_TABLE_H_
