#include "core/base/clock.h"

namespace slackline {

SteadyClock::SteadyClock() : start_(std::chrono::steady_clock::now()) {}

Time SteadyClock::Now() const { return std::chrono::steady_clock::now() - start_; }

}  // namespace slackline
