#include "core/wire/codec.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "core/wire/body_check.h"
#include "tests/support/golden_messages.h"
#include "tests/support/status_matchers.h"
#include "tests/support/wire_bytes.h"

namespace slackline {
namespace {

constexpr std::uint64_t kRun = 42;

Envelope AnEnvelope() { return {.run = kRun, .sender = NodeId{7}, .number = 3, .term = 1}; }

std::vector<std::byte> FrameOf(const Message& message) {
  return BytesOf(Encode(AnEnvelope(), message).first);
}
Result<Received> DecodeBytes(const std::vector<std::byte>& bytes) {
  return Decode(kRun, Buffer::CopyOf(bytes), Buffer());
}
// Encodes a message that no honest peer sends, and decodes it.
Result<Received> Roundtrip(const Message& message) { return DecodeBytes(FrameOf(message)); }

// A frame whose header was changed by `change` and sealed again.
template <typename Change>
std::vector<std::byte> Forged(const Message& message, Change change) {
  std::vector<std::byte> frame = FrameOf(message);
  Header header = HeaderOf(frame);
  change(header);
  Reseal(frame, header);
  return frame;
}

// --- Golden bytes ---

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Golden, EveryMessageHasOneAndItsBytesHaveNotChanged) {
  const std::filesystem::path folder = SLACKLINE_WIRE_GOLDEN_DIR;
  std::vector<bool> seen(64);
  std::size_t files = 0;
  for (const auto& [name, message] : GoldenMessages()) {
    SCOPED_TRACE(name);
    seen[static_cast<std::size_t>(message.type())] = true;
    ++files;
    const auto golden = FromHex(ReadText(folder / (name + ".hex")));
    ASSERT_THAT(golden, IsOk());

    const auto received = Decode(RunNumber(kGoldenRun), Buffer::CopyOf(*golden), Buffer());

    ASSERT_THAT(received, IsOk());
    EXPECT_EQ(received->envelope, GoldenEnvelope());
    EXPECT_EQ(received->message.body, message.body);
    EXPECT_EQ(BytesOf(received->message.payload), BytesOf(message.payload));
    EXPECT_EQ(ToHex(BytesOf(Encode(received->envelope, received->message).first)), ToHex(*golden));
  }
  for (std::uint16_t type = 0; type < seen.size(); ++type) {
    const bool known = std::string(MessageTypeName(MessageType{type})) != "unknown";
    EXPECT_EQ(seen[type], known) << "message type " << type;
  }
  const std::filesystem::directory_iterator all(folder);
  EXPECT_EQ(files, static_cast<std::size_t>(std::distance(begin(all), end(all))));
}

// --- Framing ---

TEST(Encode, PutsALargePayloadIntoAFrameOfItsOwn) {
  const std::size_t limit = kInlinePayloadBytesMax / sizeof(float);
  for (const std::size_t count : {limit, limit + 1}) {
    const Buffer payload = Buffer::CopyOf(std::vector<float>(count, 1.5f));

    const Frames frames = Encode(AnEnvelope(), {Push{.count = count}, payload});
    const auto received = Decode(kRun, frames.first, frames.payload);

    EXPECT_EQ(frames.payload.empty(), count <= limit);
    ASSERT_THAT(received, IsOk());
    EXPECT_EQ(BytesOf(received->message.payload), BytesOf(payload));
    if (count > limit) {
      EXPECT_EQ(frames.payload.bytes().data(), payload.bytes().data());  // Not copied.
    }
  }
}

TEST(Decode, NamesBothVersions) {
  const auto frame = Forged(StatusRequest{}, [](Header& h) { h.version = 9; });

  EXPECT_THAT(DecodeBytes(frame),
              StatusIs(StatusCode::kFailedPrecondition, "version 9, this process version 2"));
}

TEST(Decode, NamesBothRuns) {
  const auto frame = Forged(StatusRequest{}, [](Header& h) { h.run = 43; });

  EXPECT_THAT(DecodeBytes(frame),
              StatusIs(StatusCode::kFailedPrecondition, "run number 43; this is run number 42"));
}

TEST(Decode, RefusesAForgedHeader) {
  const struct {
    const char* text;
    void (*change)(Header&);
  } kCases[] = {
      {"not a slackline peer", [](Header& h) { h.magic = 0x314B4C54; }},
      {"unknown message type 0", [](Header& h) { h.type = 0; }},
      {"unknown message type 11", [](Header& h) { h.type = 11; }},
      {"unknown message type 65535", [](Header& h) { h.type = 0xFFFF; }},
      {"no sender", [](Header& h) { h.sender = 0; }},
      {"reserved", [](Header& h) { h.reserved = 1; }},
      {"payload checksum", [](Header& h) { h.payload_crc = 1; }},
      {"payload of 9223372036854775808", [](Header& h) { h.payload_bytes = 1ull << 63; }},
      {"payload of 18446744073709551615", [](Header& h) { h.payload_bytes = ~0ull; }},
      {"frames of 72 and 0 bytes; they have 68 and 0", [](Header& h) { h.payload_bytes = 4; }},
      {"frames of 68 and 1073741824", [](Header& h) { h.payload_bytes = kPayloadBytesMax; }},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(DecodeBytes(Forged(SessionClose{.rank = 1}, c.change)),
                StatusIs(StatusCode::kDataLoss, c.text));
  }
}

TEST(Decode, RefusesABodyOfTheWrongSize) {
  auto frame = FrameOf(SessionOpen{.rank = 1});
  frame.push_back(std::byte{0});
  Header header = HeaderOf(frame);
  header.body_bytes += 1;
  Reseal(frame, header);
  EXPECT_THAT(DecodeBytes(frame), StatusIs(StatusCode::kDataLoss, "body of session-open"));

  frame.resize(frame.size() - 2);
  header.body_bytes -= 2;
  Reseal(frame, header);
  EXPECT_THAT(DecodeBytes(frame), StatusIs(StatusCode::kDataLoss, "body of session-open"));

  header.body_bytes = 0xFFFFFFFFu;
  std::memcpy(frame.data(), &header, sizeof header);
  EXPECT_THAT(DecodeBytes(frame), StatusIs(StatusCode::kDataLoss, "a body of 4294967295"));
}

TEST(Decode, RefusesASecondFrameThatNobodyAnnounced) {
  const Buffer frame = Encode(AnEnvelope(), StatusRequest{}).first;

  EXPECT_THAT(Decode(kRun, frame, Buffer::Allocate(4)),
              StatusIs(StatusCode::kDataLoss, "they have 64 and 4"));
}

TEST(Decode, ChecksAPayloadChecksumThatIsThere) {
  const Buffer values = Buffer::CopyOf(std::vector<float>{1, 2});
  const auto frame = Forged(Message(Push{.count = 2}, values),
                            [&](Header& h) { h.payload_crc = Crc32c(values.bytes()); });
  EXPECT_THAT(DecodeBytes(frame), IsOk());

  auto damaged = frame;
  damaged.back() ^= std::byte{1};
  EXPECT_THAT(DecodeBytes(damaged), StatusIs(StatusCode::kDataLoss, "payload checksum"));
}

// --- Bodies ---

TEST(Decode, PayloadMustBeWhatTheBodySpeaksOf) {
  const Buffer two = Buffer::CopyOf(std::vector<float>{1, 2});
  const std::uint64_t huge = 1ull << 62;  // Times four it would be zero.
  const struct {
    Message message;
    const char* text;
  } kCases[] = {
      {{Push{.count = 3}, two}, "push speaks of 12 payload bytes and carries 8"},
      {{Push{.count = huge}, Buffer()}, "push speaks of 1073741825"},
      {{Push{.count = 2, .rejected = true}, two}, "push speaks of 0"},
      {{Pull{}, two}, "pull speaks of 0 payload bytes and carries 8"},
      {{Pull{.table = 0, .count = 2}, two}, "pull speaks of 16"},
      {{Pull{.table = 0, .count = huge}, Buffer()}, "pull speaks of 1073741825"},
      {{PullReply{.count = 1}, two}, "pull-reply speaks of 4"},
      {{PullReply{.count = huge}, Buffer()}, "pull-reply speaks of 1073741825"},
      {{PullReply{.count = 2, .gone = true}, two}, "pull-reply speaks of 0"},
      {{StatusRequest{}, two}, "status-request speaks of 0"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(Roundtrip(c.message), StatusIs(StatusCode::kDataLoss, c.text));
  }
}

ParameterSpec SpecOfShape(std::vector<std::uint64_t> shape) {
  return {.tensors = {{.name = "w", .shape = std::move(shape), .init = {}}}, .tables = {}};
}

TEST(Decode, RefusesFieldsOutOfRange) {
  const std::string long_text(kAddressBytesMax + 1, 'x');
  const auto server_with = [](ShardRange range, std::string address) {
    return std::vector<ServerEntry>{
        {.rank = 1, .node = NodeId{1}, .address = std::move(address), .range = range}};
  };
  const struct {
    Message message;
    const char* text;
  } kCases[] = {
      {Hello{.role = Role{0}}, "hello: role 0 is unknown"},
      {Hello{.role = Role{6}}, "hello: role 6 is unknown"},
      {Hello{.address = long_text}, "hello: address of size 257"},
      {Hello{.agreement = std::string(kAgreementBytesMax + 1, 'x')}, "agreement of size 65537"},
      {Hello{.parameters = SpecOfShape({1ull << 32, 1ull << 32})}, "hello: tensor w of shape"},
      {Welcome{.role = Role{9}}, "welcome: role 9"},
      {Refused{.code = StatusCode::kOk}, "refused: code 0"},
      {Refused{.code = StatusCode{9}}, "refused: code 9"},
      {Roster{.phase = Phase{5}}, "roster: phase 5"},
      {Roster{.parameters = SpecOfShape({~0ull, 2})}, "roster: tensor w"},
      {Roster{.parameters = SpecOfShape({4}), .servers = server_with({3, 2}, "")}, "[3, 2) of 4"},
      {Roster{.parameters = SpecOfShape({4}), .servers = server_with({3, 5}, "")}, "[3, 5) of 4"},
      {Roster{.servers = server_with({0, 0}, long_text)}, "roster: address of size 257"},
      {Heartbeat{.state = MemberState{0}}, "heartbeat: state 0"},
      {HeartbeatAck{.state = MemberState{5}}, "heartbeat-ack: state 5"},
      {StatusReply{.members = {{.role = Role{7}}}}, "status-reply: role 7"},
      {StatusReply{.members = {{.state = MemberState{7}}}}, "status-reply: state 7"},
      {BarrierEnter{.name = long_text}, "barrier-enter: name of size 257"},
      {Push{.chunk = 3, .chunks = 3}, "push: chunk 3 of 3"},
      {Push{.chunk = 0, .chunks = 0}, "push: chunk 0 of 0"},
      {Push{.chunks = kChunksMax + 1}, "push: chunk 0 of 1048577"},
      {PushAck{.outcome = PushOutcome{4}}, "push-ack: outcome 4"},
      {Pull{.part = 1, .parts = 1}, "pull: part 1 of 1"},
      {Pull{.parts = ~0u}, "pull: part 0 of 4294967295"},
      {PullReply{.chunks = ~0u}, "pull-reply: chunk 0 of 4294967295"},
      {Decisions{.entries = {{.kind = Decision::Kind{0}}}}, "decisions: kind 0"},
      {Decisions{.entries = {{.kind = Decision::Kind{10}}}}, "decisions: kind 10"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(Roundtrip(c.message), StatusIs(StatusCode::kDataLoss, c.text));
  }
}

TEST(Decode, RefusesAHistogramThatContradictsItself) {
  auto frame = FrameOf(Heartbeat{});
  // The histogram of a silent role ends in bins, count, sum, max; then comes the count of waits.
  frame[frame.size() - 4 - 8] = std::byte{1};  // Its maximum, though nothing was counted.
  Reseal(frame, HeaderOf(frame));

  EXPECT_THAT(DecodeBytes(frame),
              StatusIs(StatusCode::kDataLoss, "heartbeat: staleness histogram"));
}

TEST(Decode, CutsWhatIsForPeopleToItsLimits) {
  Heartbeat heartbeat{.reason = std::string(kReasonBytesMax + 1, 'y')};
  heartbeat.statistics.waits.assign(
      kWaitsMax + 1, {.what = "gate", .missing = std::string(1000, 'x'), .since_ns = 5});

  const auto received = Roundtrip(heartbeat);

  ASSERT_THAT(received, IsOk());
  const auto& read = std::get<Heartbeat>(received->message.body);
  EXPECT_EQ(read.reason, std::string(kReasonBytesMax, 'y'));
  const auto& waits = read.statistics.waits;
  ASSERT_EQ(waits.size(), kWaitsMax);
  EXPECT_EQ(waits[0], (Wait{"gate", std::string(kWaitTextBytesMax, 'x'), 5}));
}

TEST(Decode, CannotBeMadeToAllocateMoreThanABodyHolds) {
  // 2^32 - 1 tensors announced in a body of 64 bytes.
  auto frame = FrameOf(Hello{.agreement = std::string(30, 'x')});
  const std::size_t tensors_at = frame.size() - 24;  // Two counts, the rounds and the region.
  std::memset(frame.data() + tensors_at, 0xFF, 4);
  Reseal(frame, HeaderOf(frame));

  EXPECT_THAT(DecodeBytes(frame), StatusIs(StatusCode::kDataLoss, "body of hello"));
}

TEST(RunNumber, DiffersWithTheId) {
  EXPECT_EQ(RunNumber("a"), RunNumber("a"));
  EXPECT_NE(RunNumber("a"), RunNumber("b"));
  EXPECT_NE(RunNumber(""), RunNumber("a"));
}

}  // namespace
}  // namespace slackline
