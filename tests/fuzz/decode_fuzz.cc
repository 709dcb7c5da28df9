#include "tests/fuzz/decode_fuzz.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "core/base/check.h"
#include "core/wire/codec.h"
#include "tests/support/wire_bytes.h"

namespace slackline {
namespace {

constexpr std::uint64_t kRun = 1;

// What is accepted must have one form only: its encoding decodes to the same, and encodes the same.
void CheckDecode(const Buffer& first, const Buffer& payload) {
  const Result<Received> received = Decode(kRun, first, payload);
  if (!received.ok()) {
    SLACKLINE_CHECK(!received.status().message().empty());
    return;
  }
  const Frames once = Encode(received->envelope, received->message);
  const Result<Received> again = Decode(kRun, once.first, once.payload);
  SLACKLINE_CHECK(again.ok() && again->envelope == received->envelope);
  const Frames twice = Encode(again->envelope, again->message);
  SLACKLINE_CHECK(BytesOf(twice.first) == BytesOf(once.first));
  SLACKLINE_CHECK(BytesOf(twice.payload) == BytesOf(payload));
  if (const auto* hello = std::get_if<Hello>(&received->message.body)) {
    SLACKLINE_CHECK(hello->parameters.dense_elements() <= kElementsMax);
  }
  if (const auto* heartbeat = std::get_if<Heartbeat>(&received->message.body)) {
    SLACKLINE_CHECK(heartbeat->statistics.staleness.Valid());
  }
  if (const auto* reply = std::get_if<StatusReply>(&received->message.body)) {
    for (const MemberStatus& member : reply->members) {
      SLACKLINE_CHECK(member.statistics.staleness.Valid());
    }
  }
}

// Makes the header true of the bytes behind it, so that mutations reach the body. The announced
// size of the body is kept where it fits; the rest is payload.
void MendAndCheck(std::vector<std::byte> bytes) {
  Header header = HeaderOf(bytes);
  const std::size_t behind = bytes.size() - sizeof header;
  header.magic = kMagic;
  header.version = kProtocolVersion;
  header.run = kRun;
  header.reserved = 0;
  header.payload_crc = 0;
  header.body_bytes = static_cast<std::uint32_t>(std::min<std::size_t>(header.body_bytes, behind));
  header.payload_bytes = behind - header.body_bytes;
  Reseal(bytes, header);

  const std::span<const std::byte> all(bytes);
  if (header.payload_bytes <= kInlinePayloadBytesMax) {
    CheckDecode(Buffer::CopyOf(all), Buffer());
  } else {
    const std::size_t body_end = sizeof header + header.body_bytes;
    CheckDecode(Buffer::CopyOf(all.first(body_end)), Buffer::CopyOf(all.subspan(body_end)));
  }
}

}  // namespace
}  // namespace slackline

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  slackline::CheckDecode(slackline::Buffer::CopyOf(bytes), slackline::Buffer());
  if (size >= sizeof(slackline::Header)) slackline::MendAndCheck({bytes.begin(), bytes.end()});
  return 0;
}
