#include "server/answer.h"

#include <cstring>
#include <span>

namespace slackline {
namespace {

Buffer RowValues(const Pull& pull, const Buffer& keys, const RowTable& table,
                 const RowTable::Cut* cut) {
  const std::size_t width = table.width();
  Buffer values = Buffer::Allocate(pull.count * width * sizeof(float));
  for (std::uint64_t i = 0; i < pull.count; ++i) {
    std::uint64_t key;
    std::memcpy(&key, keys.bytes().data() + i * sizeof key, sizeof key);
    const std::span<float> row = values.mutable_floats().subspan(i * width, width);
    if (cut != nullptr) {
      cut->Read(table, key, row);
    } else {
      table.Read(key, row);
    }
  }
  return values;
}

}  // namespace

bool PendingRead::Add(const Message& message) {
  const auto& pull = std::get<Pull>(message.body);
  if (request != pull.request || parts.size() != pull.parts) {
    *this = {.request = pull.request, .round = pull.round};
    parts.resize(pull.parts);
    parts_missing = pull.parts;
  }
  if (!parts[pull.part].has_value()) {
    parts[pull.part] = message;
    --parts_missing;
  }
  return complete();
}

void Answer(NodeId to, const PendingRead& read, const Shard& shard,
            const std::vector<Shard::Segment>& dense, const Shard::Cut* cut, PullReply reply,
            Outbox& out) {
  reply.request = read.request;
  const auto send = [&](Buffer payload) {
    out.SendTo(to, Message(reply, std::move(payload)));
    reply.acknowledged = 0;  // Said once.
  };
  for (std::uint32_t part = 0; part < read.parts.size(); ++part) {
    const Message& asked = *read.parts[part];
    const auto& pull = std::get<Pull>(asked.body);
    reply.rank = pull.rank;
    reply.part = part;
    reply.table = pull.table;
    reply.offset = 0;
    reply.count = 0;
    reply.chunk = 0;
    reply.chunks = 1;
    if (reply.gone || (pull.table == kDense && dense.empty())) {
      send({});
    } else if (pull.table == kDense) {
      reply.chunks = static_cast<std::uint32_t>(dense.size());
      for (const Shard::Segment& segment : dense) {
        reply.offset = segment.offset;
        reply.count = segment.count;
        send(segment.values);
        ++reply.chunk;
      }
    } else {
      reply.count = pull.count;
      send(RowValues(pull, asked.payload, shard.tables()[pull.table],
                     cut == nullptr ? nullptr : cut->rows[pull.table].get()));
    }
  }
}

}  // namespace slackline
