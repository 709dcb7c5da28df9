// LinkShaper: when a message over real sockets may leave, so that it arrives as the links between
// regions would have it. The sockets' own time comes on top. Clock-free: it is told the time.
//
// A link's key is the peer: each pair of processes has its own, each way, since a process cannot
// see what others send. So the bandwidth between two regions is not shared among processes, in
// either link model; LinkOptions' "shared" differs from "ideal" in that headers count.
//
// HeldMessages keeps what is not due yet.
#ifndef SLACKLINE_CORE_RUNTIME_LINK_SHAPER_H_
#define SLACKLINE_CORE_RUNTIME_LINK_SHAPER_H_

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/base/time.h"
#include "core/runtime/link_model.h"
#include "core/runtime/region_links.h"
#include "core/wire/messages.h"
#include "core/wire/types.h"

namespace slackline {

class LinkShaper {
 public:
  // `seed` names the draws of the jitter.
  LinkShaper(RegionLinks links, std::uint64_t seed) : links_(std::move(links)), seed_(seed) {}

  // Where this process, or a peer, is. May be told again. False, and nothing changes, for a region
  // that there is not.
  bool LocateSelf(std::uint32_t region);
  bool Locate(NodeId peer, std::uint32_t region);

  // Whether messages to the peer take the time of a link: there are such links, and both ends are
  // known.
  bool Shapes(NodeId peer) const;
  // When a message that is sent to the peer now is due there; not before those sent earlier. Now,
  // where Shapes(peer) is false. REQUIRES calls in the order of `now`.
  Time DueAt(Time now, NodeId peer, std::uint64_t payload_bytes, std::uint64_t header_bytes);

 private:
  struct Peer {
    std::uint32_t region = 0;
    LinkQueue queue;
    std::uint64_t messages = 0;
  };

  RegionLinks links_;
  std::uint64_t seed_;
  std::optional<std::uint32_t> self_;
  std::unordered_map<NodeId, Peer> peers_;  // Looked up, never walked.
};

class HeldMessages {
 public:
  struct Held {
    NodeId to;
    Message message;
    std::uint64_t number;  // Among all that the process sends.
  };

  bool empty() const { return heap_.empty(); }
  void Hold(Time due, Held held);
  // REQUIRES that it is not empty.
  Time next_due() const { return heap_.front().due; }
  // The next of those that are due, in the order of their due times and then of Hold.
  std::optional<Held> TakeDue(Time now);

 private:
  struct Entry {
    Time due;
    std::uint64_t order;
    Held held;
    bool operator>(const Entry& other) const {
      return due != other.due ? due > other.due : order > other.order;
    }
  };
  std::vector<Entry> heap_;
  std::uint64_t next_order_ = 0;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_RUNTIME_LINK_SHAPER_H_
