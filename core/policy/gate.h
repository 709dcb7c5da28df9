// Gate: may this worker go on? Pure policy; the lead asks it before a worker's read is granted.
//
// A worker may start round c (counted from 0) only when the gate is open for it. Whatever a gate
// allows, the read that starts the round holds every push decided by then.
#ifndef SLACKLINE_CORE_POLICY_GATE_H_
#define SLACKLINE_CORE_POLICY_GATE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/policy/clock_table.h"
#include "slackline/status.h"

namespace slackline {

class Gate {
 public:
  virtual ~Gate() = default;
  virtual std::string_view name() const = 0;
  virtual bool Open(const ClockTable& clocks, std::uint32_t rank, std::uint64_t round) const = 0;
  // Whom a worker at a closed gate waits for, in words: "worker 3 (clock 17)".
  virtual std::string WaitsFor(const ClockTable& clocks) const;
};

// bsp: ssp with slack 0. ssp: the slowest worker has finished round - slack rounds (Ho et al., NIPS
// 2013). asp: always open.
// Errors: kInvalidArgument for another name; the known ones are listed.
Result<std::unique_ptr<Gate>> MakeGate(std::string_view name, std::uint32_t slack);
std::vector<std::string_view> GateNames();

}  // namespace slackline

#endif  // SLACKLINE_CORE_POLICY_GATE_H_
