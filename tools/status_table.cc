#include "tools/status_table.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/base/strings.h"
#include "core/report/readable.h"

namespace slackline {
namespace {

using Json = nlohmann::ordered_json;
using Row = std::vector<std::string>;

const char* StateName(const MemberStatus& member) {
  if (!member.present) return "missing";
  switch (member.state) {
    case MemberState::kJoining:
      return "joining";
    case MemberState::kWorking:
      return "working";
    case MemberState::kFinished:
      return "finished";
    case MemberState::kStopped:
      return "stopped";
  }
  return "unknown";
}

struct Rates {
  double pushes = 0;     // A second.
  double megabytes = 0;  // A second, both ways.
};

Rates RatesOf(const MemberStatus& member, std::uint64_t running_ns) {
  const double seconds = static_cast<double>(running_ns) * 1e-9;
  if (!(seconds > 0)) return {};
  const Statistics& s = member.statistics;
  const std::uint64_t pushes = member.role == Role::kServer ? s.slices_applied : s.pushes_applied;
  return {static_cast<double>(pushes) / seconds,
          static_cast<double>(s.bytes_pushed + s.bytes_pulled) / 1e6 / seconds};
}

// Clock for workers, version for servers.
std::uint64_t ProgressOf(const MemberStatus& member) {
  return member.role == Role::kServer ? member.statistics.version : member.statistics.rounds;
}

std::string SilentFor(const MemberStatus& member) {
  return member.address.empty() && member.silent_ns == 0 && !member.present
             ? "-"
             : ReadableSeconds(static_cast<double>(member.silent_ns) * 1e-9);
}

Row RowOf(const MemberStatus& member, std::uint64_t running_ns) {
  const Rates rates = RatesOf(member, running_ns);
  const Histogram& staleness = member.statistics.staleness;
  const bool stale = staleness.count() > 0;
  return {StrCat(RoleName(member.role), " ", member.rank),
          StateName(member),
          member.address.empty() ? "-" : member.address,
          StrCat(ProgressOf(member)),
          stale ? StrCat(staleness.Quantile(0.5), "/", staleness.Quantile(0.99)) : "-",
          Fixed(rates.pushes, 1),
          Fixed(rates.megabytes, 2),
          SilentFor(member)};
}

std::string Aligned(const Row& row, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    line += row[i];
    if (i + 1 < row.size()) line.append(widths[i] - row[i].size() + 2, ' ');
  }
  return line + "\n";
}

}  // namespace

std::string StatusTable(const StatusReply& reply) {
  std::vector<Row> rows = {{"member", "state", "address", "clock/version", "stale p50/p99",
                            "push/s", "MB/s", "silent for"}};
  std::vector<std::string> missing;
  for (const MemberStatus& member : reply.members) {
    rows.push_back(RowOf(member, reply.running_ns));
    if (!member.present) missing.push_back(rows.back()[0]);
  }
  std::vector<std::size_t> widths(rows[0].size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text = StrCat("the run is ", PhaseName(reply.phase), ", training for ",
                            ReadableSeconds(static_cast<double>(reply.running_ns) * 1e-9), "\n\n",
                            Aligned(rows[0], widths));
  for (std::size_t i = 0; i < reply.members.size(); ++i) {
    text += Aligned(rows[i + 1], widths);
    for (const Wait& wait : reply.members[i].statistics.waits) {
      text += StrCat("    waits for ", wait.what, " since ",
                     ReadableSeconds(static_cast<double>(wait.since_ns) * 1e-9), ": ", wait.missing,
                     "\n");
    }
  }
  return text + StrCat("\nmissing: ", missing.empty() ? "nobody" : StrJoin(missing), "\n");
}

std::string StatusJson(const StatusReply& reply) {
  Json json = {{"phase", PhaseName(reply.phase)},
               {"running_s", static_cast<double>(reply.running_ns) * 1e-9},
               {"members", Json::array()}};
  for (const MemberStatus& member : reply.members) {
    const Rates rates = RatesOf(member, reply.running_ns);
    const Histogram& staleness = member.statistics.staleness;
    Json entry = {
        {"role", RoleName(member.role)},
        {"rank", member.rank},
        {"present", member.present},
        {"state", StateName(member)},
        {"address", member.address},
        {member.role == Role::kServer ? "version" : "clock", ProgressOf(member)},
        {"staleness_p50", staleness.count() > 0 ? Json(staleness.Quantile(0.5)) : Json()},
        {"staleness_p99", staleness.count() > 0 ? Json(staleness.Quantile(0.99)) : Json()},
        {"pushes_per_s", rates.pushes},
        {"megabytes_per_s", rates.megabytes},
        {"silent_s", static_cast<double>(member.silent_ns) * 1e-9},
        {"waits", Json::array()}};
    for (const Wait& wait : member.statistics.waits) {
      entry["waits"].push_back({{"what", wait.what},
                                {"missing", wait.missing},
                                {"since_s", static_cast<double>(wait.since_ns) * 1e-9}});
    }
    json["members"].push_back(std::move(entry));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace slackline
