#include "core/config/validate.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/check.h"
#include "core/base/strings.h"
#include "core/config/option_table.h"
#include "core/config/recipes.h"
#include "core/config/transformer_shape.h"
#include "core/policy/decision_scope.h"
#include "core/policy/topology.h"
#include "core/session/timeouts.h"

namespace slackline {
namespace {

Status CheckEachOption(const Options& options) {
  Options scratch = options;
  for (const OptionRow& row : OptionTable()) {
    if (const Status status = row.value.set(scratch, row.value.print(options)); !status.ok()) {
      return InvalidArgument(StrCat("--", row.name, ": ", status.message()));
    }
  }
  return Status::Ok();
}

Status CheckRecipe(const Options& options) {
  const RecipeOptions& recipe = options.recipe;
  if (FindRecipe(recipe.algorithm) == nullptr) {
    std::vector<std::string> names;
    for (const Recipe& known : Recipes()) names.push_back(known.name);
    return InvalidArgument(
        StrCat("--algorithm ", recipe.algorithm, " is not known; there are ", StrJoin(names)));
  }
  if (recipe.gate == "asp" && recipe.collector == "all") {
    return InvalidArgument(
        "--collector all with --gate asp: a worker that never waits can push again before the "
        "round's "
        "update is complete; use --gate bsp or ssp, or --collector each");
  }
  if (recipe.gate == "bsp" && recipe.collector != "all") {
    return InvalidArgument(
        StrCat("--gate bsp with --collector ", recipe.collector,
               ": bsp makes one update a round; use --collector all, or --gate ssp --slack 0"));
  }
  if (recipe.step == "gradient" && recipe.dynamic_local_steps != "off") {
    return InvalidArgument(StrCat("--dynamic-local-steps ", recipe.dynamic_local_steps,
                                  " with --step gradient: there are no local steps; use --step "
                                  "local"));
  }
  if (recipe.decisions == "shard" && NeedsOneLead(options)) {
    return InvalidArgument(
        StrCat("--decisions shard with --gate ", recipe.gate, " --collector ", recipe.collector,
               " --data-order ", recipe.data_order, " --topology ", options.cluster.topology,
               " --samples ", options.cluster.samples,
               ": shards could decide differently; use --decisions auto or tier"));
  }
  if (recipe.lr_schedule == "step" && recipe.lr_step_samples == 0) {
    return InvalidArgument(
        "--lr-schedule step needs --lr-step-samples above 0, the samples between two steps");
  }
  return Status::Ok();
}

Status CheckModel(const Options& options) {
  const std::string& model = options.model.model;
  if (!options.model.materialize && model != "timing") {
    return InvalidArgument(StrCat("--materialize=false with --model ", model,
                                  ": only the timing model does without values"));
  }
  if (IsTransformer(model)) SLACKLINE_RETURN_IF_ERROR(CheckShape(ShapeOf(options.model)));
  // A global order tells a worker its samples only in the answer to its pull.
  const bool sparse = model == "logistic" || model == "factorization";
  if (sparse && options.recipe.data_order == "global") {
    return InvalidArgument(
        StrCat("--data-order global with --model ", model,
               ": a sparse model must know its rows before it asks; use --data-order shard"));
  }
  if (sparse && options.recipe.step == "local") {
    return InvalidArgument(StrCat("--step local with --model ", model,
                                  ": local steps need all parameters; use --step gradient"));
  }
  return Status::Ok();
}

Status CheckCluster(const Options& options) {
  const ClusterOptions& cluster = options.cluster;
  if (cluster.run_id.empty()) return InvalidArgument("--run-id is empty; give the run a name");
  if (cluster.prefetch && cluster.max_inflight_pushes < 2) {
    return InvalidArgument(StrCat("--prefetch with --max-inflight-pushes ",
                                  cluster.max_inflight_pushes,
                                  ": reading ahead of one's own push needs at least 2"));
  }
  if (cluster.segment_bytes % sizeof(float) != 0) {
    return InvalidArgument(StrCat("--segment-bytes ", cluster.segment_bytes,
                                  " is not a multiple of ", sizeof(float),
                                  ", the size of a parameter"));
  }
  return Status::Ok();
}

Status CheckMatrix(const char* name, const std::vector<double>& matrix, const Options& options) {
  const std::size_t regions = options.cluster.regions;
  if (matrix.empty()) return Status::Ok();
  if (matrix.size() != regions * regions) {
    return InvalidArgument(StrCat("--", name, " has ", matrix.size(), " numbers; --regions ",
                                  regions, " needs ", regions * regions, ", a row a region"));
  }
  for (std::size_t from = 0; from < regions; ++from) {
    for (std::size_t to = 0; to < from; ++to) {
      const double there = matrix[from * regions + to];
      const double back = matrix[to * regions + from];
      if (there == back || options.links.asymmetric_links) continue;
      return InvalidArgument(StrCat("--", name, " is not symmetric: ", there, " from region ", from,
                                    " to ", to, ", ", back,
                                    " back; correct it, or set --asymmetric-links"));
    }
  }
  return Status::Ok();
}

Status CheckRegions(const Options& options) {
  const ClusterOptions& cluster = options.cluster;
  if (cluster.global_region >= cluster.regions) {
    return InvalidArgument(StrCat("--global-region ", cluster.global_region,
                                  ": there is no such region; --regions ", cluster.regions,
                                  " are 0 to ", cluster.regions - 1));
  }
  const std::vector<std::uint32_t>& given = cluster.workers_per_region;
  if (given.size() > 1 && given.size() != cluster.regions) {
    return InvalidArgument(StrCat("--workers-per-region has ", given.size(),
                                  " numbers; --regions is ", cluster.regions));
  }
  std::uint64_t workers = 0;
  for (const std::uint32_t count : WorkersByRegion(cluster)) workers += count;
  if (workers != cluster.workers) {
    return InvalidArgument(StrCat("--workers ", cluster.workers, " do not fill --regions ",
                                  cluster.regions, ": they take ", workers,
                                  "; give --workers-per-region alone"));
  }
  SLACKLINE_RETURN_IF_ERROR(CheckMatrix("region-gbps", options.links.region_gbps, options));
  SLACKLINE_RETURN_IF_ERROR(
      CheckMatrix("region-latency-ms", options.links.region_latency_ms, options));
  if (options.sim.collective == "ring" &&
      (cluster.topology != "flat" || options.links.region_gbps.empty())) {
    return InvalidArgument(
        "--collective ring needs --topology flat and --region-gbps, the links that it runs over");
  }
  if (cluster.topology == "flat") return Status::Ok();
  const std::string& model = options.model.model;
  if (model == "logistic" || model == "factorization") {
    return InvalidArgument(StrCat("--topology regional with --model ", model,
                                  ": regions exchange dense parameters only"));
  }
  if (options.recipe.data_order == "global") {
    return InvalidArgument(
        "--topology regional with --data-order global: regions hand out no common cursor; use "
        "--data-order shard");
  }
  if (options.network.tier == "region" && options.network.region < 0 && options.network.rank < 0) {
    return InvalidArgument("--tier region needs --region, the region this server is for");
  }
  return Status::Ok();
}

// The rank in "slow:workerN:Kx". Other texts are TimeModel's to refuse.
std::optional<std::uint64_t> RankOf(std::string_view inject) {
  constexpr std::string_view kBeginning = "slow:worker";
  if (!inject.starts_with(kBeginning)) return std::nullopt;
  inject.remove_prefix(kBeginning.size());
  std::uint64_t rank = 0;
  const auto [end, error] = std::from_chars(inject.data(), inject.data() + inject.size(), rank);
  return error == std::errc() ? std::optional(rank) : std::nullopt;
}

Status CheckTime(const Options& options) {
  const std::uint32_t workers = options.cluster.workers;
  if (options.time.speeds.size() > workers) {
    return InvalidArgument(
        StrCat("--speeds has ", options.time.speeds.size(), " values for --workers ", workers));
  }
  for (const std::string& inject : options.time.inject) {
    if (RankOf(inject).value_or(0) >= workers) {
      return InvalidArgument(StrCat("--inject ", inject, ": there is no such worker; --workers ",
                                    workers, " have the ranks 0 to ", workers - 1));
    }
  }
  return Status::Ok();
}

// A peer must have several chances to be heard before it is taken for lost.
Status CheckTimeouts(const NetworkOptions& network) {
  const Timeouts t = Timeouts::From(network.patience);
  if (2 * t.heartbeat >= t.patience || 2 * t.transfer_retry >= t.patience ||
      t.rejoin <= t.patience) {
    return InvalidArgument(StrCat("--patience ", PrintDuration(network.patience), " is too short"));
  }
  if (network.join_timeout < 2 * t.join_retry) {
    return InvalidArgument(StrCat("--join-timeout ", PrintDuration(network.join_timeout),
                                  " with --patience ", PrintDuration(network.patience),
                                  " leaves no time to ask twice; give it at least ",
                                  PrintDuration(2 * t.join_retry)));
  }
  return Status::Ok();
}

}  // namespace

Status Validate(const Options& options) {
  SLACKLINE_RETURN_IF_ERROR(CheckEachOption(options));
  SLACKLINE_RETURN_IF_ERROR(CheckRecipe(options));
  SLACKLINE_RETURN_IF_ERROR(CheckModel(options));
  SLACKLINE_RETURN_IF_ERROR(CheckCluster(options));
  SLACKLINE_RETURN_IF_ERROR(CheckRegions(options));
  SLACKLINE_RETURN_IF_ERROR(CheckTime(options));
  return CheckTimeouts(options.network);
}

}  // namespace slackline
