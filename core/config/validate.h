// Whether options make sense, each by itself and all together.
#ifndef SLACKLINE_CORE_CONFIG_VALIDATE_H_
#define SLACKLINE_CORE_CONFIG_VALIDATE_H_

#include "core/config/options.h"
#include "slackline/status.h"

namespace slackline {

// Errors: kInvalidArgument, naming the options, their values and what would do.
Status Validate(const Options& options);

}  // namespace slackline

#endif  // SLACKLINE_CORE_CONFIG_VALIDATE_H_
