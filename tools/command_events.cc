#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/strings.h"
#include "core/process/role_process.h"
#include "core/runtime/event_log.h"
#include "tools/commands.h"

namespace slackline {
namespace {

struct Told {
  Time at;
  Role role;
  std::int64_t rank;
  TraceEvent event;
};

// Of all processes, in the order of time; in real time clocks of processes begin apart.
std::vector<Told> InOrder(const std::vector<EventLog>& logs) {
  std::vector<Told> all;
  for (const EventLog& log : logs) {
    for (const EventRecord& record : log.records) {
      if (const auto* trace = std::get_if<TraceRecord>(&record))
        all.push_back({trace->time, log.header.role, log.header.rank, trace->event});
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Told& a, const Told& b) { return a.at < b.at; });
  return all;
}

void Print(const Told& told) {
  const TraceEvent& e = told.event;
  const nlohmann::ordered_json json = {{"t", Seconds(told.at)},
                                       {"process", StrCat(RoleName(told.role), told.rank)},
                                       {"event", TraceName(e.kind)},
                                       {"rank", e.rank},
                                       {"shard", e.shard},
                                       {"seq", e.seq},
                                       {"version", e.version},
                                       {"value", e.value},
                                       {"extra", e.extra}};
  std::puts(json.dump().c_str());
}

}  // namespace

int CommandEvents(const Arguments& arguments) {
  int exit_code = kExitOk;
  const std::optional<Parsed> parsed = ParseOrExplain(Binary::kEvents, arguments, exit_code);
  if (!parsed.has_value()) return exit_code;
  if (parsed->positional.empty()) {
    return Fail(Binary::kEvents, InvalidArgument("name the run's folder: slackline events DIR"));
  }
  const Result<std::vector<EventLog>> logs = ReadEventLogs(parsed->positional.front());
  if (!logs.ok()) {
    Fail(Binary::kEvents, logs.status());
    return kExitFailed;
  }
  for (const Told& told : InOrder(*logs)) Print(told);
  return kExitOk;
}

}  // namespace slackline
