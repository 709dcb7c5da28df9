#include "core/runtime/event_log.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <system_error>
#include <tuple>
#include <utility>

#include "core/base/check.h"
#include "core/base/crc32c.h"
#include "core/base/digest.h"
#include "core/base/strings.h"
#include "core/wire/archive.h"

namespace slackline {
namespace {

constexpr std::array<char, 8> kLogMagic = {'S', 'L', 'K', 'E', 'V', 'T', '1', '\0'};
constexpr std::uint32_t kLogVersion = 1;
constexpr std::size_t kBufferBytes = 32u << 10;  // A thousand simulated processes fit in memory.

struct FileHeader {
  std::array<char, 8> magic = kLogMagic;
  std::uint32_t version = kLogVersion;
  std::uint32_t life = 0;
  std::int64_t rank = 0;
  std::uint64_t node = 0;
  std::uint64_t seed = 0;
  std::uint32_t role = 0;
  std::uint32_t address_size = 0;
  std::array<char, EventLogHeader::kAddressBytesMax> address{};
};
static_assert(sizeof(FileHeader) == 208 && std::is_trivially_copyable_v<FileHeader>);
static_assert(std::has_unique_object_representations_v<FileHeader>, "no padding");

enum class RecordType : std::uint8_t { kInput = 1, kTrace = 2, kEnd = 3 };

struct FileRecord {
  RecordType type = RecordType::kInput;
  std::uint8_t kind = 0;
  std::uint16_t zero = 0;
  std::uint32_t rank = 0;
  std::int64_t time = 0;
  // Input: from, sender, number, message digest, outbox digest. Trace: seq, version, value, extra.
  // End: state digest.
  std::array<std::uint64_t, 5> words{};
  std::uint32_t shard = 0;
  std::uint32_t crc = 0;
};
static_assert(sizeof(FileRecord) == 64 && offsetof(FileRecord, crc) == 60);
static_assert(std::has_unique_object_representations_v<FileRecord>, "no padding");
static_assert(std::endian::native == std::endian::little, "records are written as they lie");

std::uint32_t CrcOf(const FileRecord& record) {
  return Crc32c(std::as_bytes(std::span(&record, 1)).first(offsetof(FileRecord, crc)));
}

FileRecord ToFile(const EventRecord& record) {
  FileRecord file;
  if (const auto* input = std::get_if<InputRecord>(&record)) {
    file.type = RecordType::kInput;
    file.kind = static_cast<std::uint8_t>(input->kind);
    file.time = input->time.count();
    file.words = {static_cast<std::uint64_t>(input->from),
                  static_cast<std::uint64_t>(input->sender), input->number, input->message_digest,
                  input->outbox_digest};
  } else if (const auto* trace = std::get_if<TraceRecord>(&record)) {
    const TraceEvent& event = trace->event;
    file.type = RecordType::kTrace;
    file.kind = static_cast<std::uint8_t>(event.kind);
    file.time = trace->time.count();
    file.rank = event.rank;
    file.shard = event.shard;
    file.words = {event.seq, event.version, event.value, event.extra, 0};
  } else {
    const auto& end = std::get<EndRecord>(record);
    file.type = RecordType::kEnd;
    file.time = end.time.count();
    file.words[0] = end.state_digest;
  }
  file.crc = CrcOf(file);
  return file;
}

std::optional<EventRecord> FromFile(const FileRecord& file) {
  if (file.crc != CrcOf(file)) return std::nullopt;
  const Time time(file.time);
  const auto& words = file.words;
  switch (file.type) {
    case RecordType::kInput:
      if (file.kind < 1 || file.kind > static_cast<std::uint8_t>(Input::Kind::kInterrupt)) break;
      return InputRecord{
          time,    Input::Kind{file.kind}, NodeId{words[0]}, NodeId{words[1]}, words[2], words[3],
          words[4]};
    case RecordType::kTrace:
      return TraceRecord{time, TraceEvent{TraceEvent::Kind{file.kind}, file.rank, file.shard,
                                          words[0], words[1], words[2], words[3]}};
    case RecordType::kEnd:
      return EndRecord{time, words[0]};
  }
  return std::nullopt;
}

void AddText(Digest& digest, const std::string& text) {
  digest.Add(std::as_bytes(std::span(text)));
}

Result<EventLogHeader> ParseHeader(const std::string& path, std::span<const char> bytes) {
  FileHeader file;
  if (bytes.size() >= sizeof file) std::memcpy(&file, bytes.data(), sizeof file);
  if (bytes.size() < sizeof file || file.magic != kLogMagic) {
    return DataLoss(
        StrCat(path, " is not an event log: it does not begin with SLKEVT1 and a header"));
  }
  if (file.version != kLogVersion) {
    return DataLoss(StrCat(path, " is an event log of version ", file.version, "; this is version ",
                           kLogVersion));
  }
  if (file.address_size > file.address.size() || file.role < 1 ||
      file.role > static_cast<std::uint32_t>(Role::kObserver)) {
    return DataLoss(StrCat(path, ": the header speaks of role ", file.role, " and an address of ",
                           file.address_size, " bytes"));
  }
  return EventLogHeader{Role{static_cast<std::uint8_t>(file.role)},
                        file.rank,
                        NodeId{file.node},
                        file.seed,
                        file.life,
                        std::string(file.address.data(), file.address_size)};
}

}  // namespace

std::uint64_t DigestOf(const Message& message) {
  std::vector<std::byte> bytes;
  bytes.reserve(256);
  WriteArchive archive(bytes);
  std::visit([&](const auto& body) { archive(body); }, message.body);
  Digest digest;
  digest.Add(static_cast<std::uint64_t>(message.type()));
  digest.Add(bytes);
  digest.Add(static_cast<std::uint64_t>(message.payload.size()));
  digest.Add(message.payload.bytes());
  return digest.value();
}

std::uint64_t DigestOf(const Outbox& outbox) {
  Digest digest;
  for (const Outbox::Connect& connect : outbox.connects) {
    digest.Add(static_cast<std::uint64_t>(connect.node));
    AddText(digest, connect.address);
  }
  digest.Add(static_cast<std::uint64_t>(outbox.sends.size()));
  for (const Outbox::Send& send : outbox.sends) {
    digest.Add(static_cast<std::uint64_t>(send.to));
    digest.Add(DigestOf(send.message));
  }
  digest.Add(static_cast<std::uint64_t>(outbox.timers.size()));
  for (const Outbox::Timer& timer : outbox.timers) {
    digest.Add(static_cast<std::uint64_t>(timer.id));
    digest.Add(static_cast<std::uint64_t>(timer.at.count()));
  }
  digest.Add(static_cast<std::uint64_t>(outbox.jobs.size()));
  for (const Job& job : outbox.jobs) {
    digest.Add(static_cast<std::uint64_t>(job.id));
    digest.Add(static_cast<std::uint64_t>(job.kind));
    digest.Add(std::uint64_t{job.rank});
    digest.Add(job.index);
    digest.Add(std::bit_cast<std::uint64_t>(job.work));
  }
  digest.Add(static_cast<std::uint64_t>(outbox.traces.size()));
  for (const TraceEvent& event : outbox.traces) {
    const FileRecord record = ToFile(TraceRecord{Time{0}, event});
    digest.Add(std::as_bytes(std::span(&record, 1)));
  }
  digest.Add(static_cast<std::uint64_t>(outbox.reports.size()));
  for (const Outbox::Note& note : outbox.notes) AddText(digest, note.text);
  digest.Add(static_cast<std::uint64_t>(outbox.exit));
  digest.Add(static_cast<std::uint64_t>(outbox.exit_status.code()));
  return digest.value();
}

std::string EventLogPath(const std::string& run_dir, Role role, std::int64_t rank,
                         std::uint32_t life) {
  const std::string name = rank < 0 ? "any" : StrCat(rank);
  const std::string suffix = life == 0 ? "" : StrCat(".", life + 1);
  return StrCat(run_dir, "/events/", RoleName(role), "-", name, suffix, ".bin");
}

// --- Writing ---

Result<std::unique_ptr<EventLogWriter>> EventLogWriter::Create(const std::string& run_dir,
                                                               const EventLogHeader& header) {
  if (header.address.size() > EventLogHeader::kAddressBytesMax) {
    return InvalidArgument(StrCat("address '", header.address, "' has more than ",
                                  EventLogHeader::kAddressBytesMax, " bytes"));
  }
  FileHeader file;
  file.rank = header.rank;
  file.node = static_cast<std::uint64_t>(header.node);
  file.seed = header.seed;
  file.life = header.life;
  file.role = static_cast<std::uint32_t>(header.role);
  file.address_size = static_cast<std::uint32_t>(header.address.size());
  std::copy(header.address.begin(), header.address.end(), file.address.begin());

  const std::string path = EventLogPath(run_dir, header.role, header.rank, header.life);
  std::error_code ignored;  // Opening the file tells it better.
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(&file), sizeof file);
  out.close();
  if (!out) return Unavailable(StrCat("event log ", path, " cannot be written"));
  return std::unique_ptr<EventLogWriter>(new EventLogWriter(path));
}

Result<std::unique_ptr<EventLogWriter>> EventLogWriter::CreateForNextLife(
    const std::string& run_dir, EventLogHeader header) {
  std::error_code ignored;
  const auto taken = [&] {
    return std::filesystem::exists(EventLogPath(run_dir, header.role, header.rank, header.life),
                                   ignored);
  };
  for (header.life = 0; taken();) ++header.life;
  return Create(run_dir, header);
}

EventLogWriter::~EventLogWriter() { (void)Close(); }

void EventLogWriter::OnInput(Time now, const Input& input, const Outbox& out) {
  InputRecord record;
  record.time = now;
  record.kind = input.kind;
  record.outbox_digest = DigestOf(out);
  if (input.kind == Input::Kind::kMessage) {
    record.from = input.from;
    record.sender = input.sender;
    record.number = input.number;
    record.message_digest = DigestOf(*input.message);
  } else {
    record.number = input.id;
  }
  Append(record);
  for (const TraceEvent& event : out.traces) Append(TraceRecord{now, event});
}

void EventLogWriter::OnEnd(Time now, std::uint64_t state_digest) {
  Append(EndRecord{now, state_digest});
  (void)Flush();  // Kept in status_.
}

void EventLogWriter::Append(const EventRecord& record) {
  if (!status_.ok()) return;
  const FileRecord file = ToFile(record);
  const auto bytes = std::as_bytes(std::span(&file, 1));
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  if (buffer_.size() >= kBufferBytes) (void)Flush();  // Kept in status_.
}

Status EventLogWriter::Flush() {
  if (!status_.ok() || buffer_.empty()) return status_;
  std::ofstream out(path_, std::ios::binary | std::ios::app);
  out.write(reinterpret_cast<const char*>(buffer_.data()),
            static_cast<std::streamsize>(buffer_.size()));
  out.close();
  if (!out) status_ = Unavailable(StrCat("event log ", path_, " cannot be written any more"));
  buffer_.clear();
  return status_;
}

// --- Reading ---

Result<EventLog> ReadEventLog(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return NotFound(StrCat("event log ", path, " cannot be opened"));
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return NotFound(StrCat("event log ", path, " cannot be read: ", error.message()));
  std::vector<char> bytes(static_cast<std::size_t>(size));
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));

  EventLog log;
  SLACKLINE_ASSIGN_OR_RETURN(log.header, ParseHeader(path, bytes));
  std::size_t at = sizeof(FileHeader);
  log.records.reserve((bytes.size() - at) / sizeof(FileRecord));
  for (; bytes.size() - at >= sizeof(FileRecord); at += sizeof(FileRecord)) {
    FileRecord file;
    std::memcpy(static_cast<void*>(&file), bytes.data() + at, sizeof file);
    const std::optional<EventRecord> record = FromFile(file);
    if (!record.has_value() || log.end.has_value()) {
      return DataLoss(StrCat(path, ": the record at byte ", at,
                             log.end.has_value() ? " comes after the end" : " is damaged"));
    }
    if (const auto* end = std::get_if<EndRecord>(&*record)) {
      log.end = *end;
    } else {
      log.records.push_back(*record);
    }
  }
  log.ignored_bytes = bytes.size() - at;
  return log;
}

Result<std::vector<EventLog>> ReadEventLogs(const std::string& run_dir) {
  std::vector<std::string> paths;
  std::error_code error;
  for (std::filesystem::directory_iterator it(run_dir + "/events", error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() == ".bin") paths.push_back(it->path().string());
  }
  if (error || paths.empty()) return NotFound(StrCat("no event logs in ", run_dir, "/events"));
  std::sort(paths.begin(), paths.end());  // So that the first error does not depend on the disk.
  std::vector<EventLog> logs;
  for (const std::string& path : paths) {
    SLACKLINE_ASSIGN_OR_RETURN(EventLog log, ReadEventLog(path));
    logs.push_back(std::move(log));
  }
  std::stable_sort(logs.begin(), logs.end(), [](const EventLog& a, const EventLog& b) {
    return std::tie(a.header.role, a.header.rank, a.header.life) <
           std::tie(b.header.role, b.header.rank, b.header.life);
  });
  return logs;
}

}  // namespace slackline
