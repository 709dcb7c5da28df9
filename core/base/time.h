// Time as Nodes know it: a duration since the runtime's own start. Nodes never read a clock; they
// are told. Virtual and real time are of one type, so nothing can tell which it lives in.
#ifndef SLACKLINE_CORE_BASE_TIME_H_
#define SLACKLINE_CORE_BASE_TIME_H_

#include <chrono>

namespace slackline {

using Duration = std::chrono::nanoseconds;
using Time = std::chrono::nanoseconds;  // Since the runtime's start.

using namespace std::chrono_literals;  // NOLINT: 10ms is how durations are written here.

inline double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// Rounds to the nearest nanosecond.
inline Duration FromSeconds(double seconds) {
  return Duration(static_cast<Duration::rep>(seconds * 1e9 + (seconds < 0 ? -0.5 : 0.5)));
}

}  // namespace slackline

#endif  // SLACKLINE_CORE_BASE_TIME_H_
