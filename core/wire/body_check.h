// What a decoded body must satisfy before a Node may see it, as far as the body alone can tell.
// What depends on the receiver's state (who sends, which shard, how wide a table) is the Node's.
#ifndef SLACKLINE_CORE_WIRE_BODY_CHECK_H_
#define SLACKLINE_CORE_WIRE_BODY_CHECK_H_

#include <cstddef>
#include <cstdint>

#include "core/wire/messages.h"
#include "slackline/parameters.h"
#include "slackline/status.h"

namespace slackline {

// A receiver keeps what these describe, or makes room for it, so a peer must not choose it freely.
inline constexpr std::size_t kAddressBytesMax = 256;
inline constexpr std::size_t kBarrierNameBytesMax = 256;
inline constexpr std::size_t kAgreementBytesMax = 64u << 10;
inline constexpr std::size_t kServersMax = 65536;
inline constexpr std::uint32_t kChunksMax = 1u << 20;  // Of one push, or of one part of a pull.
inline constexpr std::uint32_t kPullPartsMax = 1 + static_cast<std::uint32_t>(kTablesMax);
// What is only for people to read is cut to these, not refused.
inline constexpr std::size_t kWaitsMax = 8;
inline constexpr std::size_t kWaitTextBytesMax = 256;
inline constexpr std::size_t kReasonBytesMax = 4096;

// Cuts what is for people to its limits and checks everything else.
// Errors: kDataLoss, naming the message, the field and its value.
Status CheckBody(MessageBody& body);

}  // namespace slackline

#endif  // SLACKLINE_CORE_WIRE_BODY_CHECK_H_
