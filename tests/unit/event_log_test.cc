#include "core/runtime/event_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace slackline {
namespace {

constexpr std::size_t kHeaderBytes = 208;
constexpr std::size_t kRecordBytes = 64;

class EventLogTest : public ::testing::Test {
 protected:
  EventLogTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    dir_ = std::filesystem::temp_directory_path() / "slackline_event_log_test" / test->name();
    std::filesystem::remove_all(dir_);
    path_ = EventLogPath(dir_.string(), Role::kWorker, 3, 0);
  }
  ~EventLogTest() override { std::filesystem::remove_all(dir_); }

  std::string run_dir() const { return dir_.string(); }
  std::string Bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void Overwrite(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }
  // A start, a message with a trace, and the end.
  void WriteThree() const {
    auto writer = EventLogWriter::Create(run_dir(), header_).value();
    Outbox out;
    writer->OnInput(1ms, Input{}, out);
    Input input;
    input.kind = Input::Kind::kMessage;
    input.from = kSchedulerNode;
    input.sender = NodeId{99};
    input.number = 12;
    input.message = &message_;
    out.traces.push_back(trace_);
    writer->OnInput(2ms, input, out);
    writer->OnEnd(3ms, 0xABCD);
    EXPECT_TRUE(writer->Close().ok());
  }

  std::filesystem::path dir_;
  std::string path_;
  const EventLogHeader header_{Role::kWorker,        3, NodeId{0x1234567890ABCDEF}, 42, 0,
                               "tcp://10.0.0.1:7071"};
  const Message message_ = Welcome{Role::kWorker, 3};
  const TraceEvent trace_{TraceEvent::Kind::kPushApplied, 1, 2, 3, 4, 5, 6};
};

TEST_F(EventLogTest, WhatWasWrittenIsRead) {
  WriteThree();

  const Result<EventLog> log = ReadEventLog(path_);

  ASSERT_TRUE(log.ok()) << log.status().ToString();
  EXPECT_EQ(log->header, header_);
  ASSERT_EQ(log->records.size(), 3u);
  Outbox out;
  EXPECT_EQ(std::get<InputRecord>(log->records[0]),
            (InputRecord{1ms, Input::Kind::kStart, kNoNode, kNoNode, 0, 0, DigestOf(out)}));
  out.traces.push_back(trace_);
  EXPECT_EQ(std::get<InputRecord>(log->records[1]),
            (InputRecord{2ms, Input::Kind::kMessage, kSchedulerNode, NodeId{99}, 12,
                         DigestOf(message_), DigestOf(out)}));
  EXPECT_EQ(std::get<TraceRecord>(log->records[2]), (TraceRecord{2ms, trace_}));
  ASSERT_TRUE(log->end.has_value());
  EXPECT_EQ(*log->end, (EndRecord{3ms, 0xABCD}));
  EXPECT_EQ(log->ignored_bytes, 0u);
  EXPECT_EQ(Bytes().size(), kHeaderBytes + 4 * kRecordBytes);
}

TEST_F(EventLogTest, LivesHaveFilesOfTheirOwn) {
  EXPECT_EQ(EventLogPath("r", Role::kServer, 0, 0), "r/events/server-0.bin");
  EXPECT_EQ(EventLogPath("r", Role::kWorker, 12, 1), "r/events/worker-12.2.bin");
  EXPECT_EQ(EventLogPath("r", Role::kWorker, -1, 2), "r/events/worker-any.3.bin");
}

TEST_F(EventLogTest, ALongLogIsWrittenThroughASmallBuffer) {
  constexpr std::uint64_t kInputs = 5000;
  {
    auto writer = EventLogWriter::Create(run_dir(), header_).value();
    Input input;
    input.kind = Input::Kind::kTimer;
    for (input.id = 0; input.id < kInputs; ++input.id) writer->OnInput(Time(1), input, Outbox{});
    EXPECT_GT(Bytes().size(), kHeaderBytes + (kInputs - 1024) * kRecordBytes);
  }

  const Result<EventLog> log = ReadEventLog(path_);

  ASSERT_TRUE(log.ok());
  ASSERT_EQ(log->records.size(), kInputs);
  for (std::uint64_t i = 0; i < kInputs; ++i) {
    ASSERT_EQ(std::get<InputRecord>(log->records[i]).number, i);
  }
  EXPECT_FALSE(log->end.has_value());
}

TEST_F(EventLogTest, ATornTailIsIgnoredAndCounted) {
  WriteThree();
  const std::string whole = Bytes();
  for (const std::size_t torn : {std::size_t{1}, kRecordBytes / 2, kRecordBytes - 1}) {
    SCOPED_TRACE(torn);
    Overwrite(whole.substr(0, whole.size() - kRecordBytes + torn));

    const Result<EventLog> log = ReadEventLog(path_);

    ASSERT_TRUE(log.ok()) << log.status().ToString();
    EXPECT_EQ(log->records.size(), 3u);
    EXPECT_FALSE(log->end.has_value());
    EXPECT_EQ(log->ignored_bytes, torn);
  }
}

TEST_F(EventLogTest, AnyDamagedByteOfARecordIsFound) {
  WriteThree();
  const std::string whole = Bytes();
  for (std::size_t at = kHeaderBytes; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    Overwrite(damaged);
    const std::size_t record = at - (at - kHeaderBytes) % kRecordBytes;

    const Result<EventLog> log = ReadEventLog(path_);

    ASSERT_FALSE(log.ok()) << "byte " << at;
    EXPECT_EQ(log.status().code(), StatusCode::kDataLoss);
    EXPECT_EQ(log.status().message(),
              path_ + ": the record at byte " + std::to_string(record) + " is damaged");
  }
}

TEST_F(EventLogTest, RecordsBehindTheEndAreRefused) {
  WriteThree();
  const std::string whole = Bytes();
  Overwrite(whole + whole.substr(kHeaderBytes, kRecordBytes));

  const Result<EventLog> log = ReadEventLog(path_);

  EXPECT_EQ(log.status().code(), StatusCode::kDataLoss);
  EXPECT_NE(log.status().message().find("comes after the end"), std::string::npos);
}

TEST_F(EventLogTest, WhatIsNoLogIsRefusedByName) {
  WriteThree();
  const std::string whole = Bytes();
  std::string other_version = whole, other_role = whole, other_address = whole;
  other_version[8] = 9;
  other_role[40] = 77;
  other_address[45] = 1;
  const struct {
    std::string bytes, named;
  } cases[] = {
      {"", "is not an event log"},
      {"SLKEVT1", "is not an event log"},
      {std::string(kHeaderBytes, 'x'), "is not an event log"},
      {whole.substr(0, kHeaderBytes - 1), "is not an event log"},
      {other_version, "version 9"},
      {other_role, "role 77"},
      {other_address, "an address of 275 bytes"},
  };
  for (const auto& [bytes, named] : cases) {
    SCOPED_TRACE(named);
    Overwrite(bytes);
    const Result<EventLog> log = ReadEventLog(path_);
    ASSERT_FALSE(log.ok());
    EXPECT_EQ(log.status().code(), StatusCode::kDataLoss);
    EXPECT_NE(log.status().message().find(path_), std::string::npos);
    EXPECT_NE(log.status().message().find(named), std::string::npos) << log.status().message();
  }
}

TEST_F(EventLogTest, MissingFilesAndFoldersAreNotFound) {
  EXPECT_EQ(ReadEventLog(path_).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(ReadEventLogs(dir_.string()).status().code(), StatusCode::kNotFound);
  std::filesystem::create_directories(dir_ / "events");
  EXPECT_EQ(ReadEventLog((dir_ / "events").string()).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(ReadEventLogs(dir_.string()).status().code(), StatusCode::kNotFound);
}

TEST_F(EventLogTest, AllLogsOfARunAreReadByRoleRankAndLife) {
  EventLogHeader server = header_;
  server.role = Role::kServer;
  for (const EventLogHeader& header : {header_, server, header_, header_}) {
    ASSERT_TRUE(EventLogWriter::CreateForNextLife(run_dir(), header).ok());
  }
  std::ofstream(dir_ / "events" / "notes.txt") << "not a log";

  const auto logs = ReadEventLogs(run_dir());

  ASSERT_TRUE(logs.ok()) << logs.status().ToString();
  ASSERT_EQ(logs->size(), 4u);
  EXPECT_EQ((*logs)[0].header, server);
  for (std::uint32_t life = 0; life < 3; ++life) {
    EXPECT_EQ((*logs)[1 + life].header.role, Role::kWorker);
    EXPECT_EQ((*logs)[1 + life].header.life, life);
  }
}

TEST_F(EventLogTest, TroubleWithTheFileIsReported) {
  std::filesystem::create_directories(path_);  // A folder stands where the file should.
  EXPECT_EQ(EventLogWriter::Create(run_dir(), header_).status().code(), StatusCode::kUnavailable);

  EventLogHeader long_address = header_;
  long_address.address = std::string(EventLogHeader::kAddressBytesMax + 1, 'a');
  EXPECT_EQ(EventLogWriter::Create(run_dir(), long_address).status().code(),
            StatusCode::kInvalidArgument);

  std::filesystem::remove_all(dir_);
  auto writer = EventLogWriter::Create(run_dir(), header_).value();
  std::filesystem::remove_all(dir_);
  writer->OnInput(1ms, Input{}, Outbox{});
  const Status status = writer->Close();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find(path_), std::string::npos);
}

TEST(DigestOfMessage, DependsOnTypeBodyAndPayload) {
  const float values[] = {1.0f, 2.0f};
  const std::vector<Message> messages = {
      BarrierRelease{"a"},
      BarrierRelease{"b"},
      SessionOpen{1},
      SessionClose{1},
      SessionClosed{1},
      Message(Push{}, Buffer::CopyOf(std::span<const float>(values))),
      Message(Push{}, Buffer::CopyOf(std::span<const float>(values, 1))),
      Message(Push{}, Buffer::TimingOnly(8)),
      Push{},
  };
  std::vector<std::uint64_t> digests;
  for (const Message& message : messages) {
    digests.push_back(DigestOf(message));
    EXPECT_EQ(DigestOf(message), digests.back());
  }
  std::sort(digests.begin(), digests.end());
  EXPECT_EQ(std::unique(digests.begin(), digests.end()), digests.end());
}

TEST(DigestOfOutbox, DependsOnEveryEffect) {
  std::vector<Outbox> outboxes(12);
  outboxes[1].connects.push_back({NodeId{5}, "tcp://a"});
  outboxes[2].connects.push_back({NodeId{5}, "tcp://b"});
  outboxes[3].SendTo(NodeId{5}, SessionOpen{1});
  outboxes[4].SendTo(NodeId{6}, SessionOpen{1});
  outboxes[5].SetTimer(TimerId{1}, 5ms);
  outboxes[6].SetTimer(TimerId{1}, 6ms);
  outboxes[7].jobs.push_back({JobId{1}, Job::Kind::kCompute, 0, 0, 1.0, {}});
  outboxes[8].jobs.push_back({JobId{1}, Job::Kind::kCompute, 0, 0, 2.0, {}});
  outboxes[9].traces.push_back({});
  outboxes[10].Exit(Status::Ok());
  outboxes[11].Exit(Unavailable("gone"));
  std::vector<std::uint64_t> digests;
  for (const Outbox& outbox : outboxes) digests.push_back(DigestOf(outbox));
  std::sort(digests.begin(), digests.end());
  EXPECT_EQ(std::unique(digests.begin(), digests.end()), digests.end());
}

}  // namespace
}  // namespace slackline
