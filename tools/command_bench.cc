// slackline bench: how fast the parts are, beside yardsticks measured in the same run.
#include <cstdio>
#include <nlohmann/json.hpp>

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

int BenchPushPullAll(bool json) {
  nlohmann::json results = nlohmann::json::array();
  if (!json) {
    std::printf(
        "push and pull in one round trip, 1 server, 1 client, TCP loopback; medians of %d\n\n",
        kRepeats);
    std::printf("%8s %6s %12s %8s %14s %14s %7s %12s %12s\n", "size", "window", "op/s", "GB/s",
                "messages/s", "raw echo op/s", "ratio", "p50 alone us", "p99 alone us");
  }
  for (const PushPullCase& what : kCases) {
    const Result<Rate> raw = BenchRawEcho(what, kARepeat, kRepeats);
    const Result<PushPullResult> ours = BenchPushPull(what, kChunkBytes, kARepeat, kRepeats);
    const Result<PushPullResult> alone = BenchPushPull({what.bytes, 1}, kChunkBytes, kARepeat, 1);
    for (const Status* status : {&raw.status(), &ours.status(), &alone.status()}) {
      if (!status->ok()) return Fail(Binary::kBench, *status);
    }
    const double gigabytes = ours->operations.median * static_cast<double>(what.bytes) / 1e9;
    const double chunks = static_cast<double>((what.bytes + kChunkBytes - 1) / kChunkBytes);
    const double ratio = ours->operations.median / raw->median;
    if (json) {
      results.push_back({{"bytes", what.bytes},
                         {"window", what.window},
                         {"operations_per_s", JsonOf(ours->operations)},
                         {"gigabytes_per_s", gigabytes},
                         {"messages_per_s", ours->operations.median * 2 * chunks},
                         {"raw_echo_per_s", JsonOf(*raw)},
                         {"ratio_to_raw", ratio},
                         {"latency_p50_us", Seconds(alone->latency_p50) * 1e6},
                         {"latency_p99_us", Seconds(alone->latency_p99) * 1e6}});
      continue;
    }
    std::printf("%8s %6u %12.0f %8.2f %14.0f %14.0f %7.2f %12.1f %12.1f\n",
                SizeText(what.bytes).c_str(), what.window, ours->operations.median, gigabytes,
                ours->operations.median * 2 * chunks, raw->median, ratio,
                Seconds(alone->latency_p50) * 1e6, Seconds(alone->latency_p99) * 1e6);
    std::fflush(stdout);
  }
  if (json) {
    std::printf("%s\n",
                nlohmann::json{{"bench", "push-pull"}, {"repeats", kRepeats}, {"results", results}}
                    .dump(2)
                    .c_str());
  }
  return kExitOk;
}

}  // namespace

int CommandBench(const Arguments& arguments) {
  int exit_code = kExitOk;
  const std::optional<Parsed> parsed = ParseOrExplain(Binary::kBench, arguments, exit_code);
  if (!parsed.has_value()) return exit_code;
  KeepFreedMemory();
  if (parsed->positional.size() == 1 && parsed->positional.front() == "push-pull") {
    return BenchPushPullAll(parsed->options.process.json);
  }
  return Fail(Binary::kBench, InvalidArgument("name one bench: slackline bench push-pull"));
}

}  // namespace slackline
