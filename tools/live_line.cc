#include "tools/live_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace slackline {
namespace {
constexpr const char* kClear = "\r\x1b[K";  // To the line's beginning, and erase it.
}  // namespace

LiveLine::LiveLine(std::FILE* out) : out_(out), terminal_(isatty(fileno(out)) == 1) {}

LiveLine::~LiveLine() {
  if (!live_.empty()) std::fputc('\n', out_);
  std::fflush(out_);
}

void LiveLine::Show(const std::string& line) {
  if (!terminal_) return Print(line);
  live_ = line;
  std::fprintf(out_, "%s%s", kClear, line.substr(0, Width()).c_str());
  std::fflush(out_);
}

void LiveLine::Print(const std::string& line) {
  if (!live_.empty()) std::fputs(kClear, out_);
  std::fprintf(out_, "%s\n", line.c_str());
  if (!live_.empty()) std::fputs(live_.substr(0, Width()).c_str(), out_);
  std::fflush(out_);
}

std::size_t LiveLine::Width() const {
  constexpr std::size_t kUnknown = 80;
  winsize size{};
  const bool known = ioctl(fileno(out_), TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  // One column less: a full line would wrap on some terminals.
  return known ? size.ws_col - std::size_t{1} : kUnknown - 1;
}

}  // namespace slackline
