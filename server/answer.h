// How a shard answers reads: the parts of a request gathered until all are there, and then answered
// together, chunk by chunk, from one version.
#ifndef SLACKLINE_SERVER_ANSWER_H_
#define SLACKLINE_SERVER_ANSWER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/runtime/node.h"
#include "core/wire/messages.h"
#include "server/shard.h"

namespace slackline {

// A request whose parts are coming in.
struct PendingRead {
  std::uint64_t request = 0;  // 0: none yet.
  std::uint64_t round = 0;
  std::vector<std::optional<Message>> parts;
  std::size_t parts_missing = 0;

  // Takes one part; a part of another request begins anew. True when all are there.
  bool Add(const Message& pull);
  bool complete() const { return request != 0 && parts_missing == 0; }
};

// Sends every part of the answer to a complete read. `dense` is what its dense part shows; rows
// come from `cut` as they were then or, without one, from `shard` as they are. `reply` holds what
// is said of the version as a whole.
void Answer(NodeId to, const PendingRead& read, const Shard& shard,
            const std::vector<Shard::Segment>& dense, const Shard::Cut* cut, PullReply reply,
            Outbox& out);

}  // namespace slackline

#endif  // SLACKLINE_SERVER_ANSWER_H_
