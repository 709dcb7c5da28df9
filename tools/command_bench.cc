// slackline bench: how fast the parts are, beside yardsticks measured in the same run.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/check.h"
#include "core/base/memory.h"
#include "core/base/strings.h"
#include "core/process/role_process.h"
#include "tools/bench_push_pull.h"
#include "tools/commands.h"

namespace slackline {
namespace {

constexpr Duration kARepeat = 500ms;
constexpr int kRepeats = 5;
constexpr std::uint64_t kChunkBytes = 1u << 20;

// Sizes and windows of the published figures of other parameter servers.
constexpr PushPullCase kCases[] = {
    {4u << 10, 64}, {64u << 10, 32}, {1u << 20, 16}, {16u << 20, 4}, {64u << 20, 2}};

nlohmann::json JsonOf(const Rate& rate) {
  return {{"median", rate.median}, {"min", rate.least}, {"max", rate.most}};
}

std::string SizeText(std::uint64_t bytes) {
  return bytes >= (1u << 20) ? StrCat(bytes >> 20, " MiB") : StrCat(bytes >> 10, " KiB");
}

// Two yardsticks: the raw echo in a process as it comes, which gives large blocks back to the
// system, and in one that keeps freed memory, as every process of ours does.
struct Measured {
  Rate raw;
  Rate raw_kept;
  PushPullResult ours;
  PushPullResult alone;
};

Status MeasurePushPull(std::vector<Measured>& measured) {
  for (const PushPullCase& what : kCases) {
    SLACKLINE_ASSIGN_OR_RETURN(measured.emplace_back().raw, BenchRawEcho(what, kARepeat, kRepeats));
  }
  KeepFreedMemory();
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const PushPullCase& what = kCases[i];
    SLACKLINE_ASSIGN_OR_RETURN(measured[i].raw_kept, BenchRawEcho(what, kARepeat, kRepeats));
    SLACKLINE_ASSIGN_OR_RETURN(measured[i].ours,
                               BenchPushPull(what, kChunkBytes, kARepeat, kRepeats));
    SLACKLINE_ASSIGN_OR_RETURN(measured[i].alone,
                               BenchPushPull({what.bytes, 1}, kChunkBytes, kARepeat, 1));
  }
  return Status::Ok();
}

int BenchPushPullAll(bool json) {
  std::vector<Measured> measured;
  if (const Status status = MeasurePushPull(measured); !status.ok()) {
    return Fail(Binary::kBench, status);
  }
  nlohmann::json results = nlohmann::json::array();
  if (!json) {
    std::printf(
        "push and pull in one round trip, 1 server, 1 client, TCP loopback; medians of %d\n"
        "raw: ZeroMQ echo of one message; kept: in a process that keeps freed memory\n\n"
        "%8s %6s %9s %6s %11s %9s %9s %6s %6s %8s %8s\n",
        kRepeats, "size", "window", "op/s", "GB/s", "messages/s", "raw op/s", "kept op/s", "/raw",
        "/kept", "p50 us", "p99 us");
  }
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const PushPullCase& what = kCases[i];
    const auto& [raw, raw_kept, ours, alone] = measured[i];
    const double rate = ours.operations.median;
    const double gigabytes = rate * static_cast<double>(what.bytes) / 1e9;
    const auto chunks = static_cast<double>((what.bytes + kChunkBytes - 1) / kChunkBytes);
    const double p50_us = Seconds(alone.latency_p50) * 1e6;
    const double p99_us = Seconds(alone.latency_p99) * 1e6;
    if (json) {
      results.push_back({{"bytes", what.bytes},
                         {"window", what.window},
                         {"operations_per_s", JsonOf(ours.operations)},
                         {"gigabytes_per_s", gigabytes},
                         {"messages_per_s", rate * 2 * chunks},
                         {"raw_echo_per_s", JsonOf(raw)},
                         {"raw_echo_kept_memory_per_s", JsonOf(raw_kept)},
                         {"ratio_to_raw", rate / raw.median},
                         {"ratio_to_raw_kept_memory", rate / raw_kept.median},
                         {"latency_p50_us", p50_us},
                         {"latency_p99_us", p99_us}});
      continue;
    }
    std::printf("%8s %6u %9.0f %6.2f %11.0f %9.0f %9.0f %6.2f %6.2f %8.1f %8.1f\n",
                SizeText(what.bytes).c_str(), what.window, rate, gigabytes, rate * 2 * chunks,
                raw.median, raw_kept.median, rate / raw.median, rate / raw_kept.median, p50_us,
                p99_us);
  }
  if (json) {
    const nlohmann::json all = {
        {"bench", "push-pull"}, {"repeats", kRepeats}, {"results", results}};
    std::printf("%s\n", all.dump(2).c_str());
  }
  return kExitOk;
}

}  // namespace

int CommandBench(const Arguments& arguments) {
  int exit_code = kExitOk;
  const std::optional<Parsed> parsed = ParseOrExplain(Binary::kBench, arguments, exit_code);
  if (!parsed.has_value()) return exit_code;
  if (parsed->positional.size() == 1 && parsed->positional.front() == "push-pull") {
    return BenchPushPullAll(parsed->options.process.json);
  }
  return Fail(Binary::kBench, InvalidArgument("name one bench: slackline bench push-pull"));
}

}  // namespace slackline
