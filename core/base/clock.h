// SteadyClock: the one place where real time is read. It never goes back and knows no calendar.
#ifndef SLACKLINE_CORE_BASE_CLOCK_H_
#define SLACKLINE_CORE_BASE_CLOCK_H_

#include <chrono>

#include "core/base/time.h"

namespace slackline {

class SteadyClock {
 public:
  SteadyClock();  // Shows zero now. Copies show the same time.

  Time Now() const;

 private:
  std::chrono::steady_clock::time_point start_;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_BASE_CLOCK_H_
