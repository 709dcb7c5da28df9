// A StatusReply for people and for programs.
#ifndef SLACKLINE_TOOLS_STATUS_TABLE_H_
#define SLACKLINE_TOOLS_STATUS_TABLE_H_

#include <string>

#include "core/wire/messages.h"

namespace slackline {

// Phase, one row a member, its waits below it, and who is missing. Rates are means since training
// began.
std::string StatusTable(const StatusReply& reply);
std::string StatusJson(const StatusReply& reply);

}  // namespace slackline

#endif  // SLACKLINE_TOOLS_STATUS_TABLE_H_
