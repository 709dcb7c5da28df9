#include "core/wire/codec.h"

#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

#include "core/base/check.h"
#include "core/base/crc32c.h"
#include "core/base/digest.h"
#include "core/base/strings.h"
#include "core/wire/archive.h"
#include "core/wire/body_check.h"

namespace slackline {
namespace {

constexpr std::size_t kCrcOffset = offsetof(Header, header_crc);
static_assert(kCrcOffset == 60);

std::uint32_t HeaderCrc(std::span<const std::byte> header_and_body) {
  const std::uint32_t crc = Crc32c(header_and_body.first(kCrcOffset));
  return Crc32c(header_and_body.subspan(sizeof(Header)), crc);
}

// Calls `use` with a default-made body of the numbered type; false if there is none.
template <std::size_t Index = 0, typename Use>
bool WithBodyOfType(std::uint16_t type, Use use) {
  if constexpr (Index == std::variant_size_v<MessageBody>) {
    return false;
  } else {
    using Body = std::variant_alternative_t<Index, MessageBody>;
    if (static_cast<std::uint16_t>(Body::kType) == type) {
      use(Body{});
      return true;
    }
    return WithBodyOfType<Index + 1>(type, use);
  }
}

// How many payload bytes a body speaks of, where that is fixed by the body alone.
std::optional<std::uint64_t> PayloadBytesOf(const auto&) { return 0; }
std::optional<std::uint64_t> PayloadBytesOf(const Push& m) {
  if (m.rejected) return 0;
  if (m.table != kDense) return std::nullopt;  // Depends on the table's width.
  if (m.count > kPayloadBytesMax / sizeof(float)) return kPayloadBytesMax + 1;
  return m.count * sizeof(float);
}
std::optional<std::uint64_t> PayloadBytesOf(const Pull& m) {
  if (m.table == kDense) return 0;
  if (m.count > kPayloadBytesMax / sizeof(std::uint64_t)) return kPayloadBytesMax + 1;
  return m.count * sizeof(std::uint64_t);
}
std::optional<std::uint64_t> PayloadBytesOf(const PullReply& m) {
  if (m.gone) return 0;
  if (m.table != kDense) return std::nullopt;
  if (m.count > kPayloadBytesMax / sizeof(float)) return kPayloadBytesMax + 1;
  return m.count * sizeof(float);
}

}  // namespace

std::uint64_t RunNumber(std::string_view run_id) {
  Digest digest;
  digest.Add(std::as_bytes(std::span(run_id)));
  return digest.value();
}

Frames Encode(const Envelope& envelope, const Message& message) {
  SLACKLINE_CHECK(!message.payload.timing_only());
  SLACKLINE_CHECK(message.payload.size() <= kPayloadBytesMax);
  std::vector<std::byte> bytes(sizeof(Header));
  WriteArchive archive(bytes);
  std::visit([&](const auto& body) { archive(body); }, message.body);

  Header header;
  header.type = static_cast<std::uint16_t>(message.type());
  header.run = envelope.run;
  header.sender = static_cast<std::uint64_t>(envelope.sender);
  header.number = envelope.number;
  header.term = envelope.term;
  SLACKLINE_CHECK(bytes.size() - sizeof(Header) <= kBodyBytesMax);
  header.body_bytes = static_cast<std::uint32_t>(bytes.size() - sizeof(Header));
  header.payload_bytes = message.payload.size();
  std::memcpy(bytes.data(), &header, sizeof header);
  header.header_crc = HeaderCrc(bytes);

  Frames frames;
  const bool inlined = message.payload.size() <= kInlinePayloadBytesMax;
  frames.first = Buffer::Allocate(bytes.size() + (inlined ? message.payload.size() : 0));
  std::byte* out = frames.first.mutable_bytes().data();
  std::memcpy(bytes.data() + kCrcOffset, &header.header_crc, sizeof header.header_crc);
  std::memcpy(out, bytes.data(), bytes.size());
  if (!inlined) {
    frames.payload = message.payload;
  } else if (!message.payload.empty()) {
    std::memcpy(out + bytes.size(), message.payload.bytes().data(), message.payload.size());
  }
  return frames;
}

Result<Received> Decode(std::uint64_t run, const Buffer& first, const Buffer& payload) {
  const std::span<const std::byte> bytes = first.bytes();
  if (bytes.size() < sizeof(Header)) {
    return DataLoss(StrCat("frame of ", bytes.size(), " bytes; a header has ", sizeof(Header)));
  }
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != kMagic)
    return DataLoss("frame does not begin with SLK1: not a slackline peer");
  if (header.version != kProtocolVersion) {
    return FailedPrecondition(StrCat("peer speaks protocol version ", header.version,
                                     ", this process version ", kProtocolVersion,
                                     "; install the same slackline everywhere"));
  }
  if (header.body_bytes > kBodyBytesMax || header.payload_bytes > kPayloadBytesMax) {
    return DataLoss(StrCat("message announces a body of ", header.body_bytes, " and a payload of ",
                           header.payload_bytes, " bytes; the limits are ", kBodyBytesMax, " and ",
                           kPayloadBytesMax));
  }
  const std::size_t body_end = sizeof(Header) + header.body_bytes;
  const bool inlined = header.payload_bytes <= kInlinePayloadBytesMax;
  const std::uint64_t first_size = body_end + (inlined ? header.payload_bytes : 0);
  const std::uint64_t second_size = inlined ? 0 : header.payload_bytes;
  if (bytes.size() != first_size || payload.size() != second_size) {
    return DataLoss(StrCat("message announces frames of ", first_size, " and ", second_size,
                           " bytes; they have ", bytes.size(), " and ", payload.size()));
  }
  if (HeaderCrc(bytes.first(body_end)) != header.header_crc) {
    return DataLoss("header checksum does not match");
  }
  if (header.reserved != 0) return DataLoss("reserved header field is not zero");
  if (NodeId{header.sender} == kNoNode) return DataLoss("message names no sender");
  if (header.run != run) {
    return FailedPrecondition(StrCat("message of run number ", header.run, "; this is run number ",
                                     run, "; give every process the same --run-id"));
  }

  Received received;
  received.envelope = {header.run, NodeId{header.sender}, header.number, header.term};
  received.message.payload =
      inlined ? first.Slice(body_end, static_cast<std::size_t>(header.payload_bytes)) : payload;
  if (header.payload_crc != 0 && Crc32c(received.message.payload.bytes()) != header.payload_crc) {
    return DataLoss("payload checksum does not match");
  }
  Status status;
  const bool known = WithBodyOfType(header.type, [&](auto body) {
    ReadArchive archive(bytes.subspan(sizeof(Header), header.body_bytes));
    archive(body);
    if (!archive.Complete()) {
      status = DataLoss(
          StrCat("body of ", MessageTypeName(MessageType{header.type}), " does not parse"));
      return;
    }
    const std::optional<std::uint64_t> expected = PayloadBytesOf(body);
    if (expected.has_value() && *expected != header.payload_bytes) {
      status = DataLoss(StrCat(MessageTypeName(MessageType{header.type}), " speaks of ", *expected,
                               " payload bytes and carries ", header.payload_bytes));
      return;
    }
    received.message.body = std::move(body);
    status = CheckBody(received.message.body);
  });
  if (!known) return DataLoss(StrCat("unknown message type ", header.type));
  SLACKLINE_RETURN_IF_ERROR(status);
  return received;
}

const char* MessageTypeName(MessageType type) {
  switch (type) {
    case MessageType::kHello:
      return "hello";
    case MessageType::kWelcome:
      return "welcome";
    case MessageType::kRefused:
      return "refused";
    case MessageType::kRoster:
      return "roster";
    case MessageType::kHeartbeat:
      return "heartbeat";
    case MessageType::kHeartbeatAck:
      return "heartbeat-ack";
    case MessageType::kStatusRequest:
      return "status-request";
    case MessageType::kStatusReply:
      return "status-reply";
    case MessageType::kBarrierEnter:
      return "barrier-enter";
    case MessageType::kBarrierRelease:
      return "barrier-release";
    case MessageType::kSessionOpen:
      return "session-open";
    case MessageType::kSessionOpened:
      return "session-opened";
    case MessageType::kSessionClose:
      return "session-close";
    case MessageType::kSessionClosed:
      return "session-closed";
    case MessageType::kPush:
      return "push";
    case MessageType::kPushAck:
      return "push-ack";
    case MessageType::kPull:
      return "pull";
    case MessageType::kPullReply:
      return "pull-reply";
    case MessageType::kStaged:
      return "staged";
    case MessageType::kDecisions:
      return "decisions";
    case MessageType::kDecisionsAck:
      return "decisions-ack";
    case MessageType::kEvaluation:
      return "evaluation";
    case MessageType::kEvaluationAck:
      return "evaluation-ack";
  }
  return "unknown";
}

}  // namespace slackline
