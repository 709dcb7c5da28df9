// LearningRate: the learning rate as a function of the samples trained on so far by all workers
// together. Stamped by whoever decides an update, never counted by a worker's own steps. Where
// workers take local steps it shapes their rate, from the cursor that the lead gave the round.
#ifndef SLACKLINE_CORE_POLICY_SCHEDULE_H_
#define SLACKLINE_CORE_POLICY_SCHEDULE_H_

#include <cstdint>
#include <string>

#include "core/config/options.h"
#include "slackline/status.h"

namespace slackline {

class LearningRate {
 public:
  // `lr` is the rate that the schedule shapes; `total_samples` the run's budget, where cosine ends.
  // Errors: kInvalidArgument for an unknown schedule or a step of 0 samples.
  static Result<LearningRate> Create(double lr, const RecipeOptions& options,
                                     std::uint64_t total_samples);
  // The same rate for ever.
  static LearningRate Constant(double lr);

  // The rate of an update made after `samples`:
  //   warm-up:  lr (samples + batch) / warmup, while samples < warmup
  //   constant: lr
  //   step:     lr factor^floor(samples / step)
  //   cosine:   lr (f + (1 - f) (1 + cos(pi x)) / 2), x from the warm-up's end to the budget's,
  //             f the final factor (Loshchilov and Hutter, ICLR 2017, without restarts)
  double At(std::uint64_t samples) const;

 private:
  enum class Kind : std::uint8_t { kConstant, kStep, kCosine };
  Kind kind_ = Kind::kConstant;
  double lr_ = 0;
  std::uint64_t batch_ = 1;
  std::uint64_t warmup_ = 0;
  std::uint64_t step_ = 1;
  double step_factor_ = 1;
  double final_factor_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_POLICY_SCHEDULE_H_
