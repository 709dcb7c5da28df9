// What a role counts of itself and reports to the scheduler with every heartbeat. Totals since the
// role's start, so a lost report loses nothing.
#ifndef SLACKLINE_CORE_WIRE_STATISTICS_H_
#define SLACKLINE_CORE_WIRE_STATISTICS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace slackline {

// Counts of small non-negative integers: exact below kBins - 1, the last bin holds the rest.
class Histogram {
 public:
  static constexpr std::size_t kBins = 256;

  void Add(std::uint64_t value);
  void Merge(const Histogram& other);

  std::uint64_t count() const { return count_; }
  std::uint64_t max() const { return max_; }
  double mean() const {
    return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }
  // The smallest value that at least `share` of the counts do not exceed. REQUIRES 0 < share <= 1.
  std::uint64_t Quantile(double share) const;
  // bins()[v] counts the value v; trailing zero bins are left out.
  const std::vector<std::uint64_t>& bins() const { return bins_; }

  // Whether some row of Add() calls could have led here. A decoded one need not: the codec refuses
  // it then. (The sum is checked only as far as the bins know it.)
  bool Valid() const;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(bins_, count_, sum_, max_);
  }
  bool operator==(const Histogram&) const = default;

 private:
  std::vector<std::uint64_t> bins_;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t max_ = 0;
};

// A wait that goes on: its name, since when, and whom it is for.
struct Wait {
  std::string what;            // "gate", "join", "push acknowledgement", ...
  std::string missing;         // Who or what has not come: "worker 3 (clock 17)".
  std::uint64_t since_ns = 0;  // Length of the wait when reported.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(what, missing, since_ns);
  }
  bool operator==(const Wait&) const = default;
};

struct Statistics {
  // Worker.
  std::uint64_t rounds = 0;          // Finished rounds: the worker's clock.
  std::uint64_t samples = 0;         // Samples whose push was acknowledged.
  double loss = 0;                   // Of the training batches, moving average over 16 rounds.
  std::uint64_t pushes_sent = 0;     // First transmissions; a push over seven shards is one.
  std::uint64_t pushes_retried = 0;  // Slices sent again.
  std::uint64_t pushes_applied = 0;  // As acknowledged to the worker.
  std::uint64_t pushes_discarded = 0;
  std::uint64_t pushes_rejected = 0;
  std::uint64_t gate_wait_ns = 0;  // Between asking for parameters and having them.
  std::uint64_t compute_ns = 0;
  std::uint64_t bytes_pushed = 0;  // Payload of first transmissions.
  std::uint64_t bytes_pulled = 0;  // Payload received once.
  // Server.
  std::uint64_t version = 0;           // Updates applied.
  std::uint64_t slices_applied = 0;    // Pushes of this shard that went into updates.
  std::uint64_t slices_duplicate = 0;  // Came again and were not applied again.
  std::uint64_t slices_discarded = 0;
  std::uint64_t slices_rejected = 0;
  std::uint64_t samples_applied = 0;
  std::uint64_t clock_spread_max = 0;  // Largest (fastest - slowest finished clock) seen.
  std::uint64_t frames_refused = 0;    // Malformed or foreign messages.
  double lr = 0;                       // Of the newest update.
  std::uint64_t exchanges = 0;         // A region's, merged. Its bytes pushed and pulled are above.
  Histogram staleness;                 // Of each applied push.
  std::vector<Wait> waits;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(rounds, samples, loss, pushes_sent, pushes_retried, pushes_applied, pushes_discarded,
            pushes_rejected, gate_wait_ns, compute_ns, bytes_pushed, bytes_pulled, version,
            slices_applied, slices_duplicate, slices_discarded, slices_rejected, samples_applied,
            clock_spread_max, frames_refused, lr, exchanges, staleness, waits);
  }
  bool operator==(const Statistics&) const = default;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_WIRE_STATISTICS_H_
