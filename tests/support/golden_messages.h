// One message of every type with fixed contents. Their bytes lie in tests/data/wire/ and must never
// change as long as the protocol's version does not.
#ifndef SLACKLINE_TESTS_SUPPORT_GOLDEN_MESSAGES_H_
#define SLACKLINE_TESTS_SUPPORT_GOLDEN_MESSAGES_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/wire/codec.h"
#include "slackline/status.h"

namespace slackline {

struct GoldenMessage {
  std::string name;  // Of its file: the message's name, and the variant if there are several.
  Message message;
};

inline constexpr std::string_view kGoldenRun = "golden";

// In the order of their numbers.
std::vector<GoldenMessage> GoldenMessages();

// The envelope that every golden message travels in.
Envelope GoldenEnvelope();

// Bytes as text: lines of 16 bytes in hex, each line after its offset and a colon; lines that begin
// with # are for people.
std::string ToHex(std::span<const std::byte> bytes);
// Errors: kDataLoss, naming the line.
Result<std::vector<std::byte>> FromHex(std::string_view text);

}  // namespace slackline

#endif  // SLACKLINE_TESTS_SUPPORT_GOLDEN_MESSAGES_H_
