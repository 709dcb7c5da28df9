// Messages of every type with random contents, as the codec accepts them.
#ifndef SLACKLINE_TESTS_SUPPORT_RANDOM_MESSAGES_H_
#define SLACKLINE_TESTS_SUPPORT_RANDOM_MESSAGES_H_

#include <cstddef>
#include <variant>

#include "core/wire/codec.h"
#include "core/wire/messages.h"
#include "slackline/random.h"

namespace slackline {

inline constexpr std::size_t kMessageTypes = std::variant_size_v<MessageBody>;

// A message of the `index`-th type, every field drawn from `random`, with the payload that its
// fields speak of. REQUIRES index < kMessageTypes.
Message RandomMessage(std::size_t index, RandomSequence& random);

Envelope RandomEnvelope(RandomSequence& random);

}  // namespace slackline

#endif  // SLACKLINE_TESTS_SUPPORT_RANDOM_MESSAGES_H_
