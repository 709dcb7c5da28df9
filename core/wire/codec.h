// Messages to frames and back: the only place that touches the bytes of the wire.
//
// A message is one frame (header, body, and a payload of at most kInlinePayloadBytesMax) or two
// (header and body; the payload).
#ifndef SLACKLINE_CORE_WIRE_CODEC_H_
#define SLACKLINE_CORE_WIRE_CODEC_H_

#include <cstdint>
#include <string_view>

#include "core/base/buffer.h"
#include "core/wire/header.h"
#include "core/wire/messages.h"
#include "slackline/status.h"

namespace slackline {

// What a message says of itself beside its body.
struct Envelope {
  std::uint64_t run = 0;
  NodeId sender = kNoNode;
  std::uint64_t number = 0;
  std::uint32_t term = 0;

  bool operator==(const Envelope&) const = default;
};

struct Frames {
  Buffer first;
  Buffer payload;  // Empty when the payload travels in the first frame.
};

struct Received {
  Envelope envelope;
  Message message;
};

// The number that stands for a run's id in headers.
std::uint64_t RunNumber(std::string_view run_id);

// REQUIRES a sender, and the payload to have bytes (not timing-only) and to keep within
// kPayloadBytesMax.
Frames Encode(const Envelope& envelope, const Message& message);

// Checks magic and version, sizes, checksums, run and type, the body and its values, and that
// payload and body agree (a push of n values carries n values). `payload` is the second frame, or
// empty. The payload's values are not looked at: whoever uses them checks them. Errors: kDataLoss
// for bytes that are no message, kFailedPrecondition for another version or run, both values named.
// Never aborts, whatever the bytes; allocates no more than they fill.
Result<Received> Decode(std::uint64_t run, const Buffer& first, const Buffer& payload);

}  // namespace slackline

#endif  // SLACKLINE_CORE_WIRE_CODEC_H_
