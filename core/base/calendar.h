// The date, for names of folders. Nothing decides by it.
#ifndef SLACKLINE_CORE_BASE_CALENDAR_H_
#define SLACKLINE_CORE_BASE_CALENDAR_H_

#include <string>

namespace slackline {

// Now, in universal time: "20240131-235959".
std::string CalendarStamp();

}  // namespace slackline

#endif  // SLACKLINE_CORE_BASE_CALENDAR_H_
