#include "core/base/calendar.h"

#include <array>
#include <chrono>
#include <ctime>

namespace slackline {

std::string CalendarStamp() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text;
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &parts);
  return std::string(text.data(), size);
}

}  // namespace slackline
