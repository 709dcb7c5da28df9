#include "core/runtime/link_shaper.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "slackline/random.h"

namespace slackline {

bool LinkShaper::LocateSelf(std::uint32_t region) {
  if (links_.exist() && region >= links_.regions()) return false;
  self_ = region;
  return true;
}

bool LinkShaper::Locate(NodeId peer, std::uint32_t region) {
  if (links_.exist() && region >= links_.regions()) return false;
  peers_[peer].region = region;
  return true;
}

bool LinkShaper::Shapes(NodeId peer) const {
  return links_.exist() && self_.has_value() && peers_.contains(peer);
}

Time LinkShaper::DueAt(Time now, NodeId peer, std::uint64_t payload_bytes,
                       std::uint64_t header_bytes) {
  if (!Shapes(peer)) return now;
  Peer& to = peers_[peer];
  const LinkModel model = links_.Between(*self_, to.region);
  const RandomStream stream(seed_, RandomPurpose::kNetwork, static_cast<std::uint64_t>(peer));
  const double jitter = model.jitter > 0ns ? stream.Uniform(to.messages) : 0.0;
  ++to.messages;
  return to.queue.Occupy(model, now, links_.BytesOnLink(payload_bytes, header_bytes), jitter);
}

void HeldMessages::Hold(Time due, Held held) {
  heap_.push_back({due, next_order_++, std::move(held)});
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

std::optional<HeldMessages::Held> HeldMessages::TakeDue(Time now) {
  if (heap_.empty() || heap_.front().due > now) return std::nullopt;
  std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
  Held held = std::move(heap_.back().held);
  heap_.pop_back();
  return held;
}

}  // namespace slackline
