#include "server/cut_shelf.h"

#include <algorithm>

#include "core/base/strings.h"

namespace slackline {

void CutShelf::Keep(Named cut) {
  cuts_.push_back(std::move(cut));
  if (cuts_.size() > kCuts) cuts_.pop_front();
}

bool CutShelf::Add(NodeId from, const Message& message, Outbox& out) {
  const auto& pull = std::get<Pull>(message.body);
  if (!readers_.contains(from) && readers_.size() >= kReadersMax) {
    out.SendTo(from, Refused{StatusCode::kResourceExhausted, true,
                             StrCat("more than ", kReadersMax, " readers of cuts")});
    return false;
  }
  Reader& reader = readers_[from];
  reader.wanted = pull.cut;
  reader.or_later = pull.or_later;
  return reader.read.Add(message);
}

void CutShelf::Serve(const Shard& shard, Outbox& out) {
  if (cuts_.empty()) return;
  for (auto it = readers_.begin(); it != readers_.end();) {
    const auto& [node, reader] = *it;
    const auto kept = std::find_if(cuts_.begin(), cuts_.end(), [&r = reader](const Named& cut) {
      return r.or_later ? cut.number >= r.wanted : cut.number == r.wanted;
    });
    const bool gone = kept == cuts_.end() && reader.wanted < cuts_.front().number;
    if (!reader.read.complete() || (kept == cuts_.end() && !gone)) {
      ++it;
      continue;
    }
    if (gone) {
      Answer(node, reader.read, shard, {}, nullptr, PullReply{.cut = reader.wanted, .gone = true},
             out);
    } else {
      Answer(node, reader.read, shard, kept->content.dense, &kept->content,
             PullReply{.version = kept->version,
                       .cut = kept->number,
                       .samples = kept->samples,
                       .last = kept->last},
             out);
    }
    it = readers_.erase(it);
  }
}

}  // namespace slackline
