// UpdateRule: how an update changes parameters. Element-wise, with every bit of state explicit, so
// that splitting parameters over shards, or saving and restoring them, changes nothing.
//
// docs/ALGORITHMS.md has each rule's equation, source and test. The formulas themselves are in
// kernels/math, one function each, for host and device; the loops over them in kernels/cpu.
#ifndef SLACKLINE_KERNELS_RULE_H_
#define SLACKLINE_KERNELS_RULE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "slackline/rule_options.h"
#include "slackline/status.h"

namespace slackline {

class UpdateRule {
 public:
  virtual ~UpdateRule() = default;

  virtual std::string_view name() const = 0;
  // How many state values each parameter has (adam: 2). All begin at zero.
  virtual std::size_t state_slots() const = 0;

  // One update of `count` parameters.
  //   before, after: the parameters; may be the same memory, else must not overlap.
  //   gradient:      `count` values.
  //   state:         state_slots() arrays of `count` values, changed in place.
  //   step:          this update's number, from 1 (bias correction, momentum delay).
  virtual void Apply(const float* before, float* after, const float* gradient, float* const* state,
                     std::size_t count, float lr, std::uint64_t step) const = 0;
};

// The rule that the options name; its constants are rounded to fp32. The learning rate is not part
// of it: each update brings its own.
// Errors: kInvalidArgument for another name (the known ones are listed) or values out of bounds.
Result<std::unique_ptr<UpdateRule>> MakeRule(const RuleOptions& options);
std::vector<std::string_view> RuleNames();

}  // namespace slackline

#endif  // SLACKLINE_KERNELS_RULE_H_
