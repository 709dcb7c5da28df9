// What a message takes on a link beside its payload.
#ifndef SLACKLINE_CORE_RUNTIME_MESSAGE_SIZE_H_
#define SLACKLINE_CORE_RUNTIME_MESSAGE_SIZE_H_

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "core/wire/archive.h"
#include "core/wire/header.h"
#include "core/wire/messages.h"

namespace slackline {

// Bytes of the header and body that the codec would make. `scratch` is for its memory alone.
inline std::uint64_t HeaderBytes(const Message& message, std::vector<std::byte>& scratch) {
  scratch.clear();
  WriteArchive archive(scratch);
  std::visit([&](const auto& body) { archive(body); }, message.body);
  return sizeof(Header) + scratch.size();
}

}  // namespace slackline

#endif  // SLACKLINE_CORE_RUNTIME_MESSAGE_SIZE_H_
