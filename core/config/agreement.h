// What every process of a run must have in common, as text that is compared when a process joins.
#ifndef SLACKLINE_CORE_CONFIG_AGREEMENT_H_
#define SLACKLINE_CORE_CONFIG_AGREEMENT_H_

#include <string>
#include <string_view>

#include "core/config/options.h"

namespace slackline {

// "name=value\n" for every agreed option, in the table's order. Equal options give equal text.
std::string Agreement(const Options& options);

// A sentence that names the first option in which `theirs` differs from `ours`, with both values;
// "" if they are the same. Either may be any text.
std::string FirstDifference(std::string_view ours, std::string_view theirs);

}  // namespace slackline

#endif  // SLACKLINE_CORE_CONFIG_AGREEMENT_H_
