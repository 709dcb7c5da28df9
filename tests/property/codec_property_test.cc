// What must hold of the codec for every message and every damage to it.
#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <vector>

#include "core/wire/codec.h"
#include "tests/support/random_messages.h"
#include "tests/support/status_matchers.h"
#include "tests/support/wire_bytes.h"

namespace slackline {
namespace {

RandomSequence Sequence(std::uint64_t seed) {
  return RandomSequence(RandomStream(seed, RandomPurpose::kTest, 0));
}

// Calls `check(envelope, message)` for `seeds` random messages of every type.
template <typename Check>
void ForMessages(std::uint64_t seeds, Check check) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    for (std::size_t type = 0; type < kMessageTypes; ++type) {
      RandomSequence random = Sequence(seed * kMessageTypes + type);
      const Envelope envelope = RandomEnvelope(random);
      const Message message = RandomMessage(type, random);
      SCOPED_TRACE(testing::Message() << "seed " << seed << " " << MessageTypeName(message.type()));
      check(envelope, message);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(CodecProperty, TheGeneratorCoversEveryType) {
  std::set<MessageType> types;
  ForMessages(1, [&](const Envelope&, const Message& message) { types.insert(message.type()); });

  EXPECT_EQ(types.size(), kMessageTypes);
}

TEST(CodecProperty, DecodeIsTheInverseOfEncode) {
  ForMessages(100, [](const Envelope& envelope, const Message& message) {
    const Frames frames = Encode(envelope, message);
    const auto received = Decode(envelope.run, frames.first, frames.payload);

    ASSERT_THAT(received, IsOk());
    EXPECT_EQ(received->envelope, envelope);
    EXPECT_EQ(received->message.body, message.body);
    EXPECT_EQ(BytesOf(received->message.payload), BytesOf(message.payload));
  });
}

TEST(CodecProperty, EveryTruncationIsRefused) {
  ForMessages(2, [](const Envelope& envelope, const Message& message) {
    const Buffer frame = Encode(envelope, message).first;
    for (std::size_t size = 0; size < frame.size(); ++size) {
      ASSERT_THAT(Decode(envelope.run, Buffer::CopyOf(frame.bytes().first(size)), Buffer()),
                  StatusIs(StatusCode::kDataLoss, "frame"))
          << size << " of " << frame.size() << " bytes";
    }
  });
}

// The body shortened or lengthened behind a checksum that is right.
TEST(CodecProperty, EveryTruncationOfABodyIsRefused) {
  ForMessages(2, [](const Envelope& envelope, const Message& message) {
    const std::vector<std::byte> whole = BytesOf(Encode(envelope, message).first);
    const std::uint32_t body_bytes = HeaderOf(whole).body_bytes;
    for (std::uint32_t size = 0; size <= body_bytes + 1; ++size) {
      if (size == body_bytes) continue;
      std::vector<std::byte> frame(whole.begin(), whole.begin() + sizeof(Header) + body_bytes);
      frame.resize(sizeof(Header) + size);
      Header header = HeaderOf(whole);
      header.body_bytes = size;
      header.payload_bytes = 0;
      Reseal(frame, header);
      ASSERT_THAT(Decode(envelope.run, Buffer::CopyOf(frame), Buffer()),
                  StatusIs(StatusCode::kDataLoss, "does not parse"))
          << size << " of " << body_bytes << " bytes of body";
    }
  });
}

TEST(CodecProperty, EveryFlippedBitOfHeaderAndBodyIsNoticed) {
  ForMessages(1, [](const Envelope& envelope, const Message& message) {
    std::vector<std::byte> frame = BytesOf(Encode(envelope, message).first);
    const std::size_t covered = sizeof(Header) + HeaderOf(frame).body_bytes;
    for (std::size_t bit = 0; bit < 8 * covered; ++bit) {
      frame[bit / 8] ^= std::byte(1u << bit % 8);
      ASSERT_FALSE(Decode(envelope.run, Buffer::CopyOf(frame), Buffer()).ok())
          << "bit " << bit % 8 << " of byte " << bit / 8;
      frame[bit / 8] ^= std::byte(1u << bit % 8);
    }
  });
}

// Behind the checksum: what a confused peer may send. A body that is accepted has only one form.
TEST(CodecProperty, FlippedBitsUnderARightChecksumNeverCrash) {
  std::size_t accepted = 0;
  std::size_t refused = 0;
  ForMessages(2, [&](const Envelope& envelope, const Message& message) {
    std::vector<std::byte> frame = BytesOf(Encode(envelope, message).first);
    const Header header = HeaderOf(frame);
    for (std::size_t bit = 8 * sizeof(Header); bit < 8 * (sizeof(Header) + header.body_bytes);
         ++bit) {
      frame[bit / 8] ^= std::byte(1u << bit % 8);
      Reseal(frame, header);
      const auto received = Decode(envelope.run, Buffer::CopyOf(frame), Buffer());
      if (received.ok()) {
        ++accepted;
        ASSERT_EQ(BytesOf(Encode(received->envelope, received->message).first), frame);
      } else {
        ++refused;
        ASSERT_EQ(received.status().code(), StatusCode::kDataLoss);
      }
      frame[bit / 8] ^= std::byte(1u << bit % 8);
    }
  });
  EXPECT_GT(accepted, 1000u);
  EXPECT_GT(refused, 1000u);
}

TEST(CodecProperty, NoiseIsRefused) {
  RandomSequence random = Sequence(99);
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> noise(random.Below(300));
    for (std::byte& b : noise) b = std::byte(random.Bits() & 0xFFu);

    ASSERT_THAT(Decode(1, Buffer::CopyOf(noise), Buffer()),
                StatusIs(StatusCode::kDataLoss, "frame"));
  }
}

}  // namespace
}  // namespace slackline
