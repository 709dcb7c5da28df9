// The only place where true randomness enters: identities that must never repeat. Everything else
// is drawn from slackline/random.h under the run's seed.
#ifndef SLACKLINE_CORE_BASE_ENTROPY_H_
#define SLACKLINE_CORE_BASE_ENTROPY_H_

#include <cstdint>

#include "slackline/status.h"

namespace slackline {

// 64 random bits of the operating system. Errors: kInternal where it gives none.
Result<std::uint64_t> RandomBits();

}  // namespace slackline

#endif  // SLACKLINE_CORE_BASE_ENTROPY_H_
