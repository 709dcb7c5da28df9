// CutShelf: the newest named cuts of one shard, and the readers who wait for one. Readers of cuts
// hold no clock up: a cut that nobody fetched in time is gone.
#ifndef SLACKLINE_SERVER_CUT_SHELF_H_
#define SLACKLINE_SERVER_CUT_SHELF_H_

#include <cstdint>
#include <deque>
#include <map>

#include "core/runtime/node.h"
#include "server/answer.h"
#include "server/shard.h"

namespace slackline {

class CutShelf {
 public:
  static constexpr std::size_t kCuts = 2;
  static constexpr std::size_t kReadersMax = 64;

  struct Named {
    std::uint64_t number = 0;
    std::uint64_t version = 0;
    std::uint64_t samples = 0;
    bool last = false;
    Shard::Cut content;
  };
  // The oldest goes when there are too many.
  void Keep(Named cut);

  // Takes one part of a read of a cut. True when the read is complete: Serve may answer it.
  // Refuses, by a message, more than kReadersMax readers.
  bool Add(NodeId from, const Message& pull, Outbox& out);
  // Answers every complete read whose cut is here, or gone. REQUIRES that nobody changes the shard.
  void Serve(const Shard& shard, Outbox& out);

 private:
  struct Reader {
    std::uint64_t wanted = 0;
    bool or_later = false;
    PendingRead read;
  };
  std::deque<Named> cuts_;  // Oldest first.
  std::map<NodeId, Reader> readers_;
};

}  // namespace slackline

#endif  // SLACKLINE_SERVER_CUT_SHELF_H_
