// The fixed header in front of every message. docs/PROTOCOL.md is normative.
#ifndef SLACKLINE_CORE_WIRE_HEADER_H_
#define SLACKLINE_CORE_WIRE_HEADER_H_

#include <bit>
#include <cstdint>
#include <type_traits>

namespace slackline {

inline constexpr std::uint32_t kMagic = 0x314B4C53;  // "SLK1" as bytes.
inline constexpr std::uint16_t kProtocolVersion = 2;

// Limits on what is believed of a frame before anything is allocated for it.
inline constexpr std::uint32_t kBodyBytesMax = 64u << 20;
inline constexpr std::uint64_t kPayloadBytesMax = std::uint64_t{1} << 30;  // A chunk, not a tensor.
// Payloads up to this size travel in the first frame, behind the body: a second frame costs more
// than copying them.
inline constexpr std::uint64_t kInlinePayloadBytesMax = 16u << 10;

// Little-endian, 64 bytes, no padding.
struct Header {
  std::uint32_t magic = kMagic;
  std::uint16_t version = kProtocolVersion;
  std::uint16_t type = 0;        // MessageType
  std::uint64_t run = 0;         // Which run: a hash of its id. Another run's messages are refused.
  std::uint64_t sender = 0;      // NodeId: this life of the sending process.
  std::uint64_t number = 0;      // The sender's count of messages: names a message in logs.
  std::uint32_t term = 0;        // Generation of the shard's ownership; fences.
  std::uint32_t body_bytes = 0;  // Directly behind the header.
  std::uint64_t payload_bytes = 0;  // Behind the body if small, else in a frame of its own.
  std::uint64_t reserved = 0;       // Must be zero.
  std::uint32_t payload_crc = 0;    // CRC-32C of the payload; 0: not computed.
  std::uint32_t header_crc = 0;     // CRC-32C of the 60 bytes before it and then the body.
};

static_assert(std::endian::native == std::endian::little, "headers are written as they lie");
static_assert(sizeof(Header) == 64);
static_assert(std::is_trivially_copyable_v<Header>);
static_assert(std::has_unique_object_representations_v<Header>, "no padding");

}  // namespace slackline

#endif  // SLACKLINE_CORE_WIRE_HEADER_H_
