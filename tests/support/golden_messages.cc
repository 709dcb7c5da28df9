#include "tests/support/golden_messages.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <span>

#include "core/base/strings.h"

namespace slackline {
namespace {

ParameterSpec Model() {
  return {.tensors = {{.name = "weight", .shape = {3, 2}, .init = {.uniform_bound = 0.5f}},
                      {.name = "bias", .shape = {3}, .init = {.center = 1.0f}}},
          .tables = {{.name = "users", .width = 4, .init = {.uniform_bound = 0.25f}}}};
}

Statistics WorkerStatistics() {
  Statistics s;
  s.rounds = 17;
  s.samples = 544;
  s.loss = 0.75;
  s.pushes_sent = 18;
  s.pushes_retried = 2;
  s.pushes_applied = 15;
  s.pushes_discarded = 1;
  s.pushes_rejected = 1;
  s.gate_wait_ns = 1'000'000;
  s.compute_ns = 2'000'000;
  s.bytes_pushed = 648;
  s.bytes_pulled = 612;
  s.waits = {{.what = "gate", .missing = "worker 3 (clock 14)", .since_ns = 250'000}};
  return s;
}

Statistics ServerStatistics() {
  Statistics s;
  s.version = 40;
  s.slices_applied = 40;
  s.slices_duplicate = 3;
  s.slices_discarded = 2;
  s.slices_rejected = 1;
  s.samples_applied = 1280;
  s.clock_spread_max = 4;
  s.frames_refused = 5;
  s.lr = 0.125;
  for (const std::uint64_t value : {0, 1, 1, 2, 300}) s.staleness.Add(value);
  return s;
}

Buffer Floats(std::vector<float> values) { return Buffer::CopyOf(values); }

// Two keys, and a row of four values for each if asked for.
Buffer Keys(bool with_rows) {
  std::vector<std::uint64_t> words = {7, 0x8000000000000001u};
  std::vector<std::byte> bytes(std::as_bytes(std::span(words)).begin(),
                               std::as_bytes(std::span(words)).end());
  if (with_rows) {
    const std::array<float, 8> rows = {1, 2, 3, 4, -1, -2, -3, -4};
    const auto row_bytes = std::as_bytes(std::span(rows));
    bytes.insert(bytes.end(), row_bytes.begin(), row_bytes.end());
  }
  return Buffer::CopyOf(bytes);
}

void AddMembership(std::vector<GoldenMessage>& all) {
  all.push_back({"hello", Hello{.role = Role::kWorker,
                                .preferred_rank = 2,
                                .address = "",
                                .agreement = "gate=ssp\nslack=3\n",
                                .parameters = Model(),
                                .rounds = 200}});
  all.push_back({"welcome", Welcome{.role = Role::kServer, .rank = 1}});
  all.push_back({"refused", Refused{.code = StatusCode::kFailedPrecondition,
                                    .retry = true,
                                    .message = "rank 2 is taken"}});
  all.push_back({"roster", Roster{.epoch = 5,
                                  .phase = Phase::kStopping,
                                  .workers = 4,
                                  .evaluators = 1,
                                  .rounds = 200,
                                  .parameters = Model(),
                                  .servers = {{0, NodeId{11}, "tcp://10.0.0.1:7001", {0, 5}},
                                              {1, NodeId{12}, "tcp://[fe80::1]:7002", {5, 9}}},
                                  .failed = true,
                                  .reason = "worker 3 was lost"}});
  all.push_back(
      {"heartbeat",
       Heartbeat{.epoch = 5, .state = MemberState::kWorking, .statistics = WorkerStatistics()}});
  all.push_back({"heartbeat-stopped",
                 Heartbeat{.epoch = 6, .state = MemberState::kStopped, .reason = "interrupted"}});
  all.push_back({"heartbeat-ack", HeartbeatAck{.epoch = 6, .state = MemberState::kFinished}});
  all.push_back({"status-request", StatusRequest{}});
  all.push_back({"status-reply", StatusReply{.phase = Phase::kRunning,
                                             .running_ns = 3'000'000'000,
                                             .members = {{.role = Role::kServer,
                                                          .rank = 0,
                                                          .present = true,
                                                          .address = "tcp://10.0.0.1:7001",
                                                          .state = MemberState::kWorking,
                                                          .silent_ns = 1000,
                                                          .statistics = ServerStatistics()}}}});
  all.push_back({"barrier-enter", BarrierEnter{.name = "loaded", .rank = 3}});
  all.push_back({"barrier-release", BarrierRelease{.name = "loaded"}});
}

void AddTraining(std::vector<GoldenMessage>& all) {
  all.push_back({"session-open", SessionOpen{.rank = 3}});
  all.push_back({"session-opened", SessionOpened{.rank = 3, .next_seq = 12, .version = 40}});
  all.push_back({"session-close", SessionClose{.rank = 3}});
  all.push_back({"session-closed", SessionClosed{.rank = 3}});
  const Push push{.rank = 3,
                  .seq = 12,
                  .chunk = 1,
                  .chunks = 3,
                  .offset = 2,
                  .count = 3,
                  .version = 40,
                  .samples = 32};
  all.push_back({"push", {push, Floats({0.5f, -1.0f, 2.0f})}});
  Push rows = push;
  rows.table = 0;
  rows.offset = 0;
  rows.count = 2;
  all.push_back({"push-rows", {rows, Keys(true)}});
  all.push_back({"push-rejected", Push{.rank = 3, .seq = 13, .samples = 32, .rejected = true}});
  all.push_back({"push-ack",
                 PushAck{.rank = 3, .seq = 12, .outcome = PushOutcome::kDiscarded, .version = 41}});
  const Pull pull{.request = 9, .rank = 3, .round = 13, .own = 12, .part = 0, .parts = 2};
  all.push_back({"pull", pull});
  Pull keys = pull;
  keys.part = 1;
  keys.table = 0;
  keys.count = 2;
  all.push_back({"pull-rows", {keys, Keys(false)}});
  all.push_back({"pull-reply",
                 {PullReply{.request = 9,
                            .part = 0,
                            .chunk = 1,
                            .chunks = 2,
                            .offset = 3,
                            .count = 2,
                            .version = 41,
                            .cut = 6,
                            .samples = 1312,
                            .data_begin = 4096,
                            .last = true},
                  Floats({0.25f, 4.0f})}});
  all.push_back({"pull-reply-gone", PullReply{.request = 9, .cut = 6, .gone = true}});
}

void AddDecisions(std::vector<GoldenMessage>& all) {
  all.push_back({"staged", Staged{.shard = 1,
                                  .pushes = {{.rank = 3, .sender = NodeId{23}, .seq = 12},
                                             {2, NodeId{22}, 14, true}}}});
  all.push_back({"decisions",
                 Decisions{.first = 70,
                           .entries = {{.kind = Decision::Kind::kApply,
                                        .samples = 1344,
                                        .lr = 0.125,
                                        .pushes = {{.rank = 2, .seq = 14, .weight = 0.5f},
                                                   {.rank = 3, .seq = 12, .weight = 1.0f}}},
                                       {.kind = Decision::Kind::kGrant,
                                        .rank = 3,
                                        .sender = NodeId{23},
                                        .round = 13,
                                        .request = 9,
                                        .data_begin = 4096},
                                       {.kind = Decision::Kind::kCut, .cut = 6, .last = true}}}});
  all.push_back({"decisions-ack", DecisionsAck{.shard = 1, .next = 73}});
  all.push_back({"evaluation-ack", EvaluationAck{.cut = 6}});
  all.push_back({"evaluation", Evaluation{.cut = 6,
                                          .version = 42,
                                          .samples = 1344,
                                          .examples = 10000,
                                          .loss = 0.375,
                                          .metric = 0.875,
                                          .last = true}});
}

}  // namespace

std::vector<GoldenMessage> GoldenMessages() {
  std::vector<GoldenMessage> all;
  AddMembership(all);
  AddTraining(all);
  AddDecisions(all);
  return all;
}

Envelope GoldenEnvelope() {
  return {
      .run = RunNumber(kGoldenRun), .sender = NodeId{0x0123456789ABCDEFu}, .number = 77, .term = 1};
}

std::string ToHex(std::span<const std::byte> bytes) {
  std::string text;
  char digits[24];
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i % 16 == 0) {
      std::snprintf(digits, sizeof digits, "%s%04zx:", i == 0 ? "" : "\n", i);
      text += digits;
    }
    std::snprintf(digits, sizeof digits, " %02x", std::to_integer<unsigned>(bytes[i]));
    text += digits;
  }
  return text + "\n";
}

Result<std::vector<std::byte>> FromHex(std::string_view text) {
  std::vector<std::byte> bytes;
  for (const std::string& line : StrSplit(text, '\n')) {
    if (line.empty() || line[0] == '#') continue;
    for (const std::string& word : StrSplit(line.substr(line.find(':') + 1), ' ')) {
      if (word.empty()) continue;
      unsigned value = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, 16);
      if (error != std::errc() || end != word.data() + word.size() || word.size() != 2) {
        return DataLoss(StrCat("not a byte in hex: \"", word, "\" in line: ", line));
      }
      bytes.push_back(std::byte(value));
    }
  }
  return bytes;
}

}  // namespace slackline
