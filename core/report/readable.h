// Numbers as people read them.
#ifndef SLACKLINE_CORE_REPORT_READABLE_H_
#define SLACKLINE_CORE_REPORT_READABLE_H_

#include <string>

namespace slackline {

// Four figures at most, with a suffix: "7", "950", "12.3k", "1.50M", "2.00G".
std::string ReadableCount(double count);
// "850 ms", "12.3 s", "4 min 10 s", "3 h 5 min".
std::string ReadableSeconds(double seconds);
// With so many digits behind the point; "-" for what is no number.
std::string Fixed(double value, int digits);

}  // namespace slackline

#endif  // SLACKLINE_CORE_REPORT_READABLE_H_
