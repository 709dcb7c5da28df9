// Every wait's length, derived from one number: --patience, the silence after which a peer is taken
// for lost. Their order is what makes the protocol quiet: several heartbeats, and several
// repetitions of a lost message, fit into one patience.
#ifndef SLACKLINE_CORE_SESSION_TIMEOUTS_H_
#define SLACKLINE_CORE_SESSION_TIMEOUTS_H_

#include <algorithm>

#include "core/base/time.h"

namespace slackline {

struct Timeouts {
  Duration patience;        // Silence that means lost.
  Duration heartbeat;       // Between two heartbeats.
  Duration join_retry;      // Between two attempts to be welcomed.
  Duration transfer_retry;  // Before an unanswered message is sent again.
  Duration rejoin;          // How long a lost worker is waited for.
  Duration farewell;        // How long the end waits for last reports.

  static constexpr Timeouts From(Duration patience) {
    return {.patience = patience,
            .heartbeat = patience / 20,
            .join_retry = std::min<Duration>(patience / 20, 200ms),
            .transfer_retry = patience / 10,
            .rejoin = 6 * patience,
            .farewell = patience / 4};
  }
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_SESSION_TIMEOUTS_H_
