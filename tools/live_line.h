// LiveLine: one line of a terminal that is written over as a run goes on, below lines that stay. In
// a file or pipe every line just stays.
#ifndef SLACKLINE_TOOLS_LIVE_LINE_H_
#define SLACKLINE_TOOLS_LIVE_LINE_H_

#include <cstdio>
#include <string>

namespace slackline {

class LiveLine {
 public:
  // `out` outlives it.
  explicit LiveLine(std::FILE* out);
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;
  ~LiveLine();  // The last live line stays.

  // Replaces the live line; cut to the terminal's width.
  void Show(const std::string& line);
  // A line that stays.
  void Print(const std::string& line);

 private:
  std::size_t Width() const;

  std::FILE* out_;
  bool terminal_;
  std::string live_;
};

}  // namespace slackline

#endif  // SLACKLINE_TOOLS_LIVE_LINE_H_
