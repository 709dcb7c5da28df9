// EventLog: what one life of one process was told and what it answered, for replay and for
// `slackline verify`.
//
// One file a life: events/<role>-<rank>.bin, later lives with .2, .3, ... before the ending, "any"
// for a rank that is not known yet. A header of 208 bytes, then records of 64, little-endian:
//
//   0       8         12     16     24     32     40     44             48        208
//   | magic | version | life | rank | node | seed | role | address size | address |    header
//   0      1      2      4      8      16           56      60    64
//   | type | kind | zero | rank | time | five words | shard | crc |                    record
//
// A record's CRC-32C covers the 60 bytes before it. A kill tears the tail off; whatever is whole
// before it counts. A log without an end record belongs to a process that was killed.
#ifndef SLACKLINE_CORE_RUNTIME_EVENT_LOG_H_
#define SLACKLINE_CORE_RUNTIME_EVENT_LOG_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/time.h"
#include "core/runtime/input.h"
#include "core/runtime/node.h"
#include "core/runtime/trace.h"
#include "core/wire/types.h"
#include "slackline/status.h"

namespace slackline {

// Fingerprints of content. Of a message: its type, encoded body and payload. Of an outbox: all that
// it does to the world, notes included; of reports, how many.
std::uint64_t DigestOf(const Message& message);
std::uint64_t DigestOf(const Outbox& outbox);

// Whose life it is: all that, beside the options, its Node was made from.
struct EventLogHeader {
  static constexpr std::size_t kAddressBytesMax = 160;

  Role role = Role::kWorker;
  std::int64_t rank = -1;  // As asked for; -1: any. Trace records know the rank that was given.
  NodeId node = kNoNode;   // Its own; kSchedulerNode for the scheduler in virtual time.
  std::uint64_t seed = 0;
  std::uint32_t life = 0;  // Counts the lives of (role, rank) from 0.
  std::string address;     // Where it listened; "" in virtual time. At most kAddressBytesMax.

  bool operator==(const EventLogHeader&) const = default;
};

struct InputRecord {
  Time time{};
  Input::Kind kind = Input::Kind::kStart;
  NodeId from = kNoNode;     // Messages: as the Node saw it, ...
  NodeId sender = kNoNode;   // ... and as the sender's own log has it.
  std::uint64_t number = 0;  // Messages: the sender's count. Timers and jobs: the id.
  std::uint64_t message_digest = 0;
  std::uint64_t outbox_digest = 0;

  bool operator==(const InputRecord&) const = default;
};

// Follows the record of the input that led to it.
struct TraceRecord {
  Time time{};
  TraceEvent event;

  bool operator==(const TraceRecord&) const = default;
};

struct EndRecord {
  Time time{};
  std::uint64_t state_digest = 0;

  bool operator==(const EndRecord&) const = default;
};

using EventRecord = std::variant<InputRecord, TraceRecord, EndRecord>;

struct EventLog {
  EventLogHeader header;
  std::vector<EventRecord> records;
  std::optional<EndRecord> end;     // None: the process was killed. Not among `records`.
  std::uint64_t ignored_bytes = 0;  // A torn record at the end.
};

// The file of one life.
std::string EventLogPath(const std::string& run_dir, Role role, std::int64_t rank,
                         std::uint32_t life);

// Writes a log through a buffer of fixed size; holds no file open in between. Trouble with the disk
// stops the writing and is kept for Close(), so that a full disk does not end the training.
// Threads: one.
class EventLogWriter : public InputObserver {
 public:
  // Makes the file of `header`'s role, rank and life, and its folder where that is missing. A file
  // that is there is replaced.
  // Errors: kInvalidArgument for an address that is too long; kUnavailable if it cannot be written.
  static Result<std::unique_ptr<EventLogWriter>> Create(const std::string& run_dir,
                                                        const EventLogHeader& header);
  // The same for the first life that has no file yet; for a process that does not know how often it
  // was started before.
  static Result<std::unique_ptr<EventLogWriter>> CreateForNextLife(const std::string& run_dir,
                                                                   EventLogHeader header);
  ~EventLogWriter() override;  // Closes; who wants to know of errors calls Close() before.

  void OnInput(Time now, const Input& input, const Outbox& out) override;
  void OnEnd(Time now, std::uint64_t state_digest) override;

  // Hands what is buffered to the operating system, so that a kill loses none of it.
  Status Flush();
  // Flushes; the first trouble there was.
  Status Close() { return Flush(); }

 private:
  explicit EventLogWriter(std::string path) : path_(std::move(path)) {}

  void Append(const EventRecord& record);

  std::string path_;
  std::vector<std::byte> buffer_;
  Status status_;
};

// Errors: kNotFound; kDataLoss, naming the file and where, for what is no event log or a record
// that is not what was written. A torn tail is no error.
Result<EventLog> ReadEventLog(const std::string& path);

// All of <run_dir>/events, by role, rank and life. Errors: as above, and kNotFound when there are
// none.
Result<std::vector<EventLog>> ReadEventLogs(const std::string& run_dir);

}  // namespace slackline

#endif  // SLACKLINE_CORE_RUNTIME_EVENT_LOG_H_
