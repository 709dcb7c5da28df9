// Frames taken apart and mended, for tests that damage them.
#ifndef SLACKLINE_TESTS_SUPPORT_WIRE_BYTES_H_
#define SLACKLINE_TESTS_SUPPORT_WIRE_BYTES_H_

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "core/base/buffer.h"
#include "core/base/crc32c.h"
#include "core/wire/header.h"

namespace slackline {

inline std::vector<std::byte> BytesOf(const Buffer& buffer) {
  return {buffer.bytes().begin(), buffer.bytes().end()};
}

// REQUIRES frame.size() >= sizeof(Header).
inline Header HeaderOf(std::span<const std::byte> frame) {
  Header header;
  std::memcpy(&header, frame.data(), sizeof header);
  return header;
}

// Puts `header` in front of what `frame` holds behind its own, with the checksum of header and body
// made right again, so that what lies behind the checksum can be tested.
// REQUIRES frame.size() >= sizeof(Header) + header.body_bytes.
inline void Reseal(std::vector<std::byte>& frame, Header header) {
  std::memcpy(frame.data(), &header, sizeof header);
  const std::span<const std::byte> bytes(frame);
  std::uint32_t crc = Crc32c(bytes.first(offsetof(Header, header_crc)));
  crc = Crc32c(bytes.subspan(sizeof header, header.body_bytes), crc);
  std::memcpy(frame.data() + offsetof(Header, header_crc), &crc, sizeof crc);
}

}  // namespace slackline

#endif  // SLACKLINE_TESTS_SUPPORT_WIRE_BYTES_H_
