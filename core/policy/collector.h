// Collector: which pushes make one update? Pure policy, asked by the lead.
//
// Each worker's pushes are offered in the order of their seq, once they lie complete at every
// shard. A collector holds what it was offered until it decides on it.
#ifndef SLACKLINE_CORE_POLICY_COLLECTOR_H_
#define SLACKLINE_CORE_POLICY_COLLECTOR_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/policy/clock_table.h"
#include "slackline/status.h"

namespace slackline {

struct OfferedPush {
  std::uint32_t rank = 0;
  std::uint64_t seq = 0;
  std::uint64_t samples = 0;
  bool rejected = false;  // Unfit: it must be decided on, but cannot be applied.
};

// What a collector decides: either one update of these pushes in this order, or that they are not
// used. Rejected pushes may stand among those of an update; their weight is nothing.
struct Verdict {
  bool apply = true;
  std::vector<OfferedPush> pushes;
};

class Collector {
 public:
  virtual ~Collector() = default;
  virtual std::string_view name() const = 0;
  virtual void Offer(const ClockTable& clocks, const OfferedPush& push,
                     std::vector<Verdict>& out) = 0;
  // `clocks` has just lost a worker: what waited for it may go on.
  virtual void OnLeave(const ClockTable& clocks, std::vector<Verdict>& out) = 0;
};

// each: every push makes an update by itself.
// all:  one push of every active worker, in rank order, makes one update.
// Errors: kInvalidArgument for another name; the known ones are listed.
Result<std::unique_ptr<Collector>> MakeCollector(std::string_view name, std::uint32_t workers);
std::vector<std::string_view> CollectorNames();

}  // namespace slackline

#endif  // SLACKLINE_CORE_POLICY_COLLECTOR_H_
