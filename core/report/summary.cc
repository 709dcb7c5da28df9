#include "core/report/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/strings.h"
#include "core/policy/topology.h"
#include "core/report/progress.h"
#include "core/report/readable.h"

namespace slackline {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;
constexpr std::size_t kHistogramRows = 16;
constexpr std::size_t kBarWidth = 40;

// Of all members, added up or taken from the lead, as each count needs.
struct Totals {
  Statistics lead;     // Of the global tier.
  Statistics applied;  // Of the tiers that workers push to, their leads' together.
  Json regions = Json::array();
  std::uint64_t workers = 0;
  std::uint64_t rounds = 0;
  std::uint64_t sent = 0;
  std::uint64_t retried = 0;
  std::uint64_t duplicate = 0;
  std::uint64_t refused = 0;
  std::uint64_t spread_max = 0;
  double gate_wait_s = 0;
  double compute_s = 0;
  double loss = 0;
  std::uint64_t with_loss = 0;
  Json bytes = Json::object();
  Json region_bytes = Json::object();  // By the regions that they went from and to.
};

// Payload of first transmissions, both ways between a member's region and that of its servers.
void AddRegionBytes(const Statistics& s, std::uint32_t from, std::uint32_t to, Totals& totals) {
  const auto add = [&](std::uint32_t a, std::uint32_t b, std::uint64_t bytes) {
    Json& count = totals.region_bytes[StrCat(a, " -> ", b)];
    count = (count.is_null() ? std::uint64_t{0} : count.get<std::uint64_t>()) + bytes;
  };
  add(from, to, s.bytes_pushed);
  add(to, from, s.bytes_pulled);
}

Json StalenessOf(const Histogram& histogram) {
  const bool any = histogram.count() > 0;
  return {{"mean", histogram.mean()},
          {"p50", any ? histogram.Quantile(0.5) : 0},
          {"p99", any ? histogram.Quantile(0.99) : 0},
          {"max", histogram.max()},
          {"histogram", histogram.bins()}};
}

void AddApplied(const Statistics& s, Statistics& applied) {
  applied.version += s.version;
  applied.slices_applied += s.slices_applied;
  applied.slices_discarded += s.slices_discarded;
  applied.slices_rejected += s.slices_rejected;
  applied.samples_applied += s.samples_applied;
  applied.staleness.Merge(s.staleness);
}

void AddServer(const MemberStatus& member, const Topology& topology, Totals& totals) {
  const Statistics& s = member.statistics;
  const Tier tier = topology.TierOfServer(member.rank);
  totals.duplicate = std::max(totals.duplicate, s.slices_duplicate);
  if (!tier.of_regions) totals.spread_max = std::max(totals.spread_max, s.clock_spread_max);
  if (tier.region.has_value()) {
    const std::string name = StrCat("region", *tier.region);
    totals.bytes[name + " -> global"] =
        totals.bytes.value(name + " -> global", std::uint64_t{0}) + s.bytes_pushed;
    totals.bytes["global -> " + name] =
        totals.bytes.value("global -> " + name, std::uint64_t{0}) + s.bytes_pulled;
    AddRegionBytes(s, *tier.region, topology.RegionOf(Role::kServer, 0), totals);
  }
  if (member.rank != tier.first_server) return;  // What follows is the lead's to say.
  if (member.rank == 0) totals.lead = s;
  if (!tier.of_regions) AddApplied(s, totals.applied);
  if (!tier.region.has_value()) return;
  totals.regions.push_back({{"region", *tier.region},
                            {"workers", tier.clients},
                            {"updates", s.version},
                            {"exchanges", s.exchanges},
                            {"samples", s.samples_applied},
                            {"staleness", StalenessOf(s.staleness)}});
}

void AddWorker(const MemberStatus& member, Totals& totals) {
  const Statistics& s = member.statistics;
  totals.rounds = totals.workers == 0 ? s.rounds : std::min(totals.rounds, s.rounds);
  ++totals.workers;
  totals.sent += s.pushes_sent;
  totals.retried += s.pushes_retried;
  totals.gate_wait_s += static_cast<double>(s.gate_wait_ns) * 1e-9;
  totals.compute_s += static_cast<double>(s.compute_ns) * 1e-9;
  if (s.rounds > 0) {
    totals.loss += s.loss;
    ++totals.with_loss;
  }
  totals.bytes[StrCat("worker", member.rank, " -> servers")] = s.bytes_pushed;
  totals.bytes[StrCat("servers -> worker", member.rank)] = s.bytes_pulled;
}

Totals TotalsOf(const Options& options, const SummaryReport& report) {
  const Topology topology(options.cluster);
  Totals totals;
  for (const MemberStatus& member : report.members) {
    const Statistics& s = member.statistics;
    totals.refused += s.frames_refused;
    if (member.role == Role::kWorker) {
      AddWorker(member, totals);
      const Tier tier = topology.TierOfWorker(member.rank);
      AddRegionBytes(s, topology.RegionOf(Role::kWorker, member.rank),
                     topology.RegionOf(Role::kServer, tier.first_server), totals);
    }
    if (member.role == Role::kEvaluator) {
      totals.bytes[StrCat("servers -> evaluator", member.rank)] = s.bytes_pulled;
    }
    if (member.role == Role::kServer) AddServer(member, topology, totals);
  }
  return totals;
}

void AddEvaluations(const Options& options, const SummaryReport& report, Json& json) {
  const MetricKind kind = MetricOf(options.model.model);
  json["metric_name"] = kind.name;
  for (const char* key : {"loss", "best_loss", "metric", "best_metric"}) json[key] = nullptr;
  json["evaluations"] = report.evaluations.size();
  if (report.evaluations.empty()) return;
  // In the order of cuts: a late report must not pass for the final one.
  std::vector<Evaluation> sorted;
  for (const EvaluationReport& e : report.evaluations) sorted.push_back(e.evaluation);
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.cut < b.cut; });
  // fmin and fmax pass over NaN: an evaluation that went wrong does not hide the good ones.
  double best_loss = sorted.front().loss, best_metric = sorted.front().metric;
  for (const Evaluation& e : sorted) {
    best_loss = std::fmin(best_loss, e.loss);
    best_metric =
        kind.more_is_better ? std::fmax(best_metric, e.metric) : std::fmin(best_metric, e.metric);
  }
  json["loss"] = sorted.back().loss;
  json["best_loss"] = best_loss;
  json["metric"] = sorted.back().metric;
  json["best_metric"] = best_metric;
}

std::string Bars(const std::vector<std::uint64_t>& histogram) {
  const std::size_t per_row = (histogram.size() + kHistogramRows - 1) / kHistogramRows;
  std::vector<std::uint64_t> rows;
  for (std::size_t value = 0; value < histogram.size(); ++value) {
    if (value % per_row == 0) rows.push_back(0);
    rows.back() += histogram[value];
  }
  if (rows.empty()) return "  no push was applied\n";
  const std::uint64_t most =
      std::max<std::uint64_t>(1, *std::max_element(rows.begin(), rows.end()));
  std::string text;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::size_t first = row * per_row;
    const std::size_t last = std::min(first + per_row, histogram.size()) - 1;
    std::string label = first == last ? StrCat(first) : StrCat(first, "-", last);
    if (last == Histogram::kBins - 1) label = StrCat(first, "+");  // It holds all larger ones too.
    label.insert(0, 9 - std::min<std::size_t>(9, label.size()), ' ');
    // Whatever happened at all shows.
    const auto width = static_cast<std::size_t>(static_cast<double>(rows[row]) /
                                                    static_cast<double>(most) * kBarWidth +
                                                (rows[row] > 0 ? 0.999 : 0));
    text += StrCat(label, " | ", std::string(std::min(width, kBarWidth), '#'), width > 0 ? " " : "",
                   rows[row], "\n");
  }
  return text;
}

double NumberOr(const Json& json, const char* key, double otherwise) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<double>() : otherwise;
}

// NaN and infinity are null in the file; Fixed() shows them as "-", never as a loss of 0.
double NumberOrNan(const Json& json, const char* key) {
  return NumberOr(json, key, std::numeric_limits<double>::quiet_NaN());
}

std::string Describe(const Json& json) {
  const bool is_virtual = json.contains("virtual_s");
  const double seconds = NumberOr(json, is_virtual ? "virtual_s" : "wall_s", 0);
  const double samples = NumberOr(json, "samples", 0);
  const auto rate = [&](double count) { return seconds > 0 ? count / seconds : 0.0; };
  const Json& pushes = json.at("pushes");
  const Json& waits = json.at("waits");
  const Json& staleness = json.at("staleness");
  std::string text;
  if (json.at("failed").get<bool>()) {
    text += StrCat("the run failed: ", json.at("reason").get<std::string>(), "\n");
  }
  text +=
      StrCat("trained         ", ReadableCount(samples), " samples, ", json.at("updates"),
             " updates in ", ReadableSeconds(seconds), is_virtual ? " of virtual time\n" : "\n");
  if (NumberOr(json, "evaluations", 0) > 0) {
    const std::string name = json.at("metric_name").get<std::string>();
    const std::string label = StrCat("test ", name);
    text += StrCat(label, std::string(16 - std::min<std::size_t>(15, label.size()), ' '),
                   Fixed(NumberOrNan(json, "metric"), 4), " (best ",
                   Fixed(NumberOrNan(json, "best_metric"), 4), "), test loss ",
                   Fixed(NumberOrNan(json, "loss"), 4), "\n");
  }
  text += StrCat("throughput      ", ReadableCount(rate(samples)), " samples/s, ",
                 ReadableCount(rate(NumberOr(pushes, "applied", 0))), " pushes/s\n");
  text += StrCat("pushes          ", pushes.at("applied"), " applied, ", pushes.at("duplicate"),
                 " duplicate, ", pushes.at("discarded"), " discarded, ", pushes.at("rejected"),
                 " rejected\n");
  text += StrCat("waiting         ", Fixed(100 * NumberOr(waits, "gate_share", 0), 1),
                 "% of the workers' time for parameters\n");
  for (const Json& region : json.value("by_region", Json::array())) {
    text +=
        StrCat("region ", region.at("region"), "        ", region.at("updates"), " updates of ",
               region.at("workers"), " workers, ", region.at("exchanges"),
               " exchanges, staleness mean ", Fixed(NumberOr(region.at("staleness"), "mean", 0), 2),
               ", max ", region.at("staleness").at("max"), "\n");
  }
  text += StrCat("slack           clocks spread by at most ", json.at("slack_max"), "\n");
  text += StrCat("staleness       mean ", Fixed(NumberOr(staleness, "mean", 0), 2), ", p50 ",
                 staleness.at("p50"), ", p99 ", staleness.at("p99"), ", max ", staleness.at("max"),
                 "\n");
  return text + Bars(staleness.at("histogram").get<std::vector<std::uint64_t>>());
}

}  // namespace

std::string SummaryJson(const Options& options, const SummaryReport& report, bool virtual_time,
                        const FaultCounts& faults) {
  const Totals totals = TotalsOf(options, report);
  const Topology topology(options.cluster);
  const double seconds = Seconds(report.running);
  const double worker_seconds =
      seconds * static_cast<double>(std::max<std::uint64_t>(1, totals.workers));
  Json json = {{"schema", kSchema},
               {"algorithm", options.recipe.algorithm},
               {"gate", options.recipe.gate},
               {"slack", options.recipe.slack},
               {"collector", options.recipe.collector},
               {"rule", options.recipe.rule.name},
               {"model", options.model.model},
               {"data", options.model.data},
               {"seed", options.cluster.seed},
               {"workers", options.cluster.workers},
               {"servers", options.cluster.servers},
               {"regions", topology.regional() ? topology.regions() : 0},
               {"failed", report.failed},
               {"reason", report.reason},
               {"samples", totals.applied.samples_applied},
               {"updates", totals.lead.version},
               {"rounds", totals.rounds},
               {virtual_time ? "virtual_s" : "wall_s", seconds}};
  AddEvaluations(options, report, json);
  json["training_loss"] =
      totals.with_loss == 0 ? Json() : Json(totals.loss / static_cast<double>(totals.with_loss));
  json["staleness"] = StalenessOf(totals.lead.staleness);
  if (topology.regional()) {  // Above is the global tier's, of regions; here workers' pushes.
    json["worker_staleness"] = StalenessOf(totals.applied.staleness);
    json["by_region"] = totals.regions;
  }
  json["slack_max"] = totals.spread_max;
  json["bytes"] = totals.bytes;
  if (topology.regions() > 1) json["region_bytes"] = totals.region_bytes;
  json["pushes"] = {{"sent", totals.sent},
                    {"applied", totals.applied.slices_applied},
                    {"duplicate", totals.duplicate},
                    {"discarded", totals.applied.slices_discarded},
                    {"rejected", totals.applied.slices_rejected}};
  json["waits"] = {{"gate_s", totals.gate_wait_s},
                   {"gate_share", worker_seconds > 0 ? totals.gate_wait_s / worker_seconds : 0.0},
                   {"compute_s", totals.compute_s},
                   {"compute_share", worker_seconds > 0 ? totals.compute_s / worker_seconds : 0.0}};
  json["faults"] = {{"slices_retried", totals.retried}, {"frames_refused", totals.refused}};
  for (const auto& [name, count] : faults) json["faults"][name] = count;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::string> ClosingBlock(const std::string& summary_json, const std::string& run_dir) {
  try {
    return StrCat(Describe(Json::parse(summary_json)), run_dir, "\n");
  } catch (const Json::exception& error) {
    return DataLoss(StrCat(run_dir, "/summary.json is not a summary: ", error.what()));
  }
}

}  // namespace slackline
