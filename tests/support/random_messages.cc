#include "tests/support/random_messages.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "core/base/check.h"
#include "core/wire/archive.h"

namespace slackline {
namespace {

// Walks `Fields` as the codec does, so that a field added to a message is filled here at once.
class RandomArchive {
 public:
  explicit RandomArchive(RandomSequence& random) : random_(random) {}

  template <typename... Ts>
  void operator()(Ts&... fields) {
    (Fill(fields), ...);
  }

 private:
  template <typename T>
  void Fill(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = random_.Chance(0.5);
    } else if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(random_.Bits() >> random_.Below(64));  // Of every magnitude.
    } else if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(random_.Uniform());
    } else if constexpr (std::is_enum_v<T>) {
      value = T{static_cast<std::underlying_type_t<T>>(random_.Bits() | 1u)};
    } else {
      ArchiveFields(*this, value);
    }
  }
  void Fill(Role& role) { role = Role{One(5)}; }
  void Fill(MemberState& state) { state = MemberState{One(4)}; }
  void Fill(Phase& phase) { phase = Phase{One(4)}; }
  void Fill(PushOutcome& outcome) { outcome = PushOutcome{One(3)}; }
  void Fill(StatusCode& code) { code = StatusCode{One(8)}; }
  void Fill(Decision::Kind& kind) { kind = Decision::Kind{One(6)}; }
  std::uint8_t One(std::uint8_t last) { return static_cast<std::uint8_t>(1 + random_.Below(last)); }

  void Fill(std::string& text) {
    text.resize(random_.Below(12));
    for (char& c : text) c = static_cast<char>(random_.Bits());
  }
  template <typename T>
  void Fill(std::vector<T>& items) {
    items.resize(random_.Below(4));
    for (T& item : items) Fill(item);
  }
  void Fill(TensorSpec& tensor) {
    Fill(tensor.name);
    Fill(tensor.init);
    tensor.shape.resize(random_.Below(4));
    for (std::uint64_t& extent : tensor.shape) extent = random_.Below(1000);
  }
  void Fill(TableSpec& table) {
    Fill(table.name);
    Fill(table.init);
    table.width = 1 + random_.Below(64);
  }
  void Fill(ServerEntry& server) {  // Its range is set once the model is known.
    Fill(server.rank);
    Fill(server.node);
    Fill(server.address);
  }
  void Fill(Histogram& histogram) {
    histogram = Histogram();
    for (std::uint64_t n = random_.Below(20); n > 0; --n) {
      histogram.Add(random_.Below(2 * Histogram::kBins));
    }
  }

  RandomSequence& random_;
};

Buffer RandomBytes(std::size_t size, RandomSequence& random) {
  std::vector<std::byte> bytes(size);
  for (std::byte& b : bytes) b = std::byte(random.Bits() & 0xFFu);
  return Buffer::CopyOf(bytes);
}

// Makes the fields of one message agree with one another; gives its payload.
Buffer Reconcile(auto&, RandomSequence&) { return {}; }
Buffer Reconcile(Roster& roster, RandomSequence& random) {
  const std::uint64_t elements = roster.parameters.dense_elements();
  for (ServerEntry& server : roster.servers) {
    server.range.end = random.Below(elements + 1);
    server.range.begin = random.Below(server.range.end + 1);
  }
  return {};
}
Buffer Reconcile(Push& push, RandomSequence& random) {
  push.chunks = 1 + static_cast<std::uint32_t>(random.Below(100));
  push.chunk = static_cast<std::uint32_t>(random.Below(push.chunks));
  if (random.Chance(0.5)) push.table = kDense;
  push.count = random.Below(20);
  if (push.rejected) return {};
  const std::size_t value_bytes = push.table == kDense ? 4 : 24;
  return RandomBytes(push.count * value_bytes, random);
}
Buffer Reconcile(Pull& pull, RandomSequence& random) {
  pull.parts = 1 + static_cast<std::uint32_t>(random.Below(5));
  pull.part = static_cast<std::uint32_t>(random.Below(pull.parts));
  if (random.Chance(0.5)) pull.table = kDense;
  pull.count = random.Below(20);
  return pull.table == kDense ? Buffer() : RandomBytes(pull.count * 8, random);
}
Buffer Reconcile(PullReply& reply, RandomSequence& random) {
  reply.chunks = 1 + static_cast<std::uint32_t>(random.Below(100));
  reply.chunk = static_cast<std::uint32_t>(random.Below(reply.chunks));
  if (random.Chance(0.5)) reply.table = kDense;
  reply.count = random.Below(20);
  return reply.gone ? Buffer() : RandomBytes(reply.count * 4, random);
}

template <std::size_t Index = 0>
Message MessageOfType(std::size_t index, RandomSequence& random) {
  if constexpr (Index == kMessageTypes) {
    SLACKLINE_CHECK(false);
    return {};
  } else {
    if (index != Index) return MessageOfType<Index + 1>(index, random);
    std::variant_alternative_t<Index, MessageBody> body;
    RandomArchive archive(random);
    archive(body);
    Buffer payload = Reconcile(body, random);
    return Message(std::move(body), std::move(payload));
  }
}

}  // namespace

Message RandomMessage(std::size_t index, RandomSequence& random) {
  return MessageOfType(index, random);
}

Envelope RandomEnvelope(RandomSequence& random) {
  return {.run = random.Bits(),
          .sender = NodeId{random.Bits() | 1u},
          .number = random.Bits(),
          .term = static_cast<std::uint32_t>(random.Bits())};
}

}  // namespace slackline
