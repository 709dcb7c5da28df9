#include <string>
#include <utility>

#include "core/config/option_rows.h"

namespace slackline {
namespace {

using O = Options;

RuleOptions& ServerRule(Options& o) { return o.recipe.rule; }
RuleOptions& RegionRule(Options& o) { return o.recipe.region_rule; }
RuleOptions& LocalRule(Options& o) { return o.recipe.local_rule; }

// The same rows for every place that has a rule; names and helps begin as said.
template <RuleOptions& (*Of)(Options&)>
void AddRule(std::vector<OptionRow>& t, const std::string& prefix, const std::string& whose) {
  const auto add = [&](const char* name, const char* help, OptionValue value) {
    t.push_back({prefix + name, prefix == "region-" ? "Regions" : "Recipe", whose + help,
                 std::move(value), kTraining, true});
  };
  add("rule", "How an update changes the parameters (docs/ALGORITHMS.md).",
      Choice([](O & o) -> auto& { return Of(o).name; },
             {"sgd", "momentum", "nesterov", "delayed-nesterov", "adagrad", "adam", "adamw"}));
  add("lr", "Learning rate. Staleness asks for a smaller one.",
      RealNumber([](O & o) -> auto& { return Of(o).lr; }, {0, 1e6, true}));
  add("momentum", "momentum, nesterov, delayed-nesterov: share of the last step that is kept.",
      RealNumber([](O & o) -> auto& { return Of(o).momentum; }, {0, 1, false, true}));
  add("beta1", "adam, adamw: decay of the mean of gradients.",
      RealNumber([](O & o) -> auto& { return Of(o).beta1; }, {0, 1, false, true}));
  add("beta2", "adam, adamw: decay of the mean of squared gradients.",
      RealNumber([](O & o) -> auto& { return Of(o).beta2; }, {0, 1, false, true}));
  add("epsilon", "adagrad, adam, adamw: added to the denominator.",
      RealNumber([](O & o) -> auto& { return Of(o).epsilon; }, {0, 1, true}));
  add("weight-decay",
      "Pull of the parameters towards zero; adamw: beside the gradient, other rules: added to it.",
      RealNumber([](O & o) -> auto& { return Of(o).weight_decay; }, {0, 1}));
  add("momentum-delay", "delayed-nesterov: updates from one momentum step to the next.",
      WholeNumber(
          [](O & o) -> auto& { return Of(o).momentum_delay; }, 1, 1u << 20));
  add("momentum-spread",
      "delayed-nesterov: share of the momentum that the updates in between get; 0: none.",
      RealNumber([](O & o) -> auto& { return Of(o).momentum_spread; }, {0, 1}));
}

}  // namespace

void AddRecipeRows(std::vector<OptionRow>& t) {
  const auto add = [&](const char* name, const char* help, OptionValue value) {
    t.push_back({name, "Recipe", help, std::move(value), kTraining, true});
  };
  add("algorithm",
      "A named recipe: it fills in the choices below, and those that are given override it. Only a "
      "label once they are filled in.",
      Text(
          [](O & o) -> auto& { return o.recipe.algorithm; }, "NAME"));
  t.back().agreed = false;
  add("gate",
      "May a worker go on? bsp: all do a round together (and collector all); ssp: nobody runs "
      "ahead of "
      "the slowest by more than --slack; asp: nobody ever waits.",
      Choice([](O & o) -> auto& { return o.recipe.gate; }, {"bsp", "ssp", "asp"}));
  add("slack",
      "ssp: a worker may start round c once the slowest has finished c - slack rounds. More slack "
      "waits "
      "less and reads older parameters.",
      WholeNumber(
          [](O & o) -> auto& { return o.recipe.slack; }, 0, 1u << 30));
  add("collector",
      "Which pushes make one update. each: every push by itself; all: one of every worker, summed "
      "in "
      "rank order.",
      Choice([](O & o) -> auto& { return o.recipe.collector; }, {"each", "all"}));
  add("decisions",
      "Who decides. tier: the lead, for all shards, in one order; shard: every shard for itself, "
      "which "
      "is faster; auto: shard wherever that cannot change the result.",
      Choice([](O & o) -> auto& { return o.recipe.decisions; }, {"auto", "tier", "shard"}));
  AddRule<ServerRule>(t, "", "");
  add("step",
      "What a worker does between two exchanges. gradient: one gradient, pushed as it is; local: "
      "--local-steps steps of its own optimizer, and the way gone.",
      Choice([](O & o) -> auto& { return o.recipe.step; }, {"gradient", "local"}));
  AddRule<LocalRule>(t, "local-", "Local steps: ");
  add("local-steps", "local: steps in a round; more exchange less, and drift further apart.",
      WholeNumber(
          [](O & o) -> auto& { return o.recipe.local_steps; }, 1, 1u << 20));
  add("dynamic-local-steps",
      "local: steps in proportion to a worker's --speeds, so that slow ones do not hold rounds up; "
      "the fastest does --local-steps. Rounded down or up, to 1 at least.",
      Choice([](O & o) -> auto& { return o.recipe.dynamic_local_steps; },
             {"off", "floor", "ceil"}));
  add("lr-schedule",
      "How the learning rate changes with the samples trained on by all workers together.",
      Choice([](O & o) -> auto& { return o.recipe.lr_schedule; }, {"constant", "step", "cosine"}));
  add("warmup-samples", "Samples over which the learning rate rises from zero.",
      WholeNumber(
          [](O & o) -> auto& { return o.recipe.warmup_samples; }, 0, kSamplesMax));
  add("lr-step-samples", "step: samples after which the learning rate changes, again and again.",
      WholeNumber(
          [](O & o) -> auto& { return o.recipe.lr_step_samples; }, 0, kSamplesMax));
  add("lr-step-factor", "step: what the learning rate is then multiplied by.",
      RealNumber([](O & o) -> auto& { return o.recipe.lr_step_factor; }, {0, 1e3, true}));
  add("lr-final-factor", "cosine: the learning rate ends at this share of --lr.",
      RealNumber([](O & o) -> auto& { return o.recipe.lr_final_factor; }, {0, 1}));
  add("clip", "Limit on a gradient's length: of the whole (global) or of each tensor.",
      Choice([](O & o) -> auto& { return o.recipe.clip; }, {"none", "global", "tensor"}));
  add("clip-norm", "The longest that --clip lets pass.",
      RealNumber([](O & o) -> auto& { return o.recipe.clip_norm; }, {0, 1e9, true}));
  add("batch",
      "Samples a worker computes on in one round. Larger batches send less for each sample.",
      WholeNumber(
          [](O & o) -> auto& { return o.recipe.batch; }, 1, 1u << 24));
  add("data-order",
      "shard: a worker walks through its own share of the data; global: all take the next samples "
      "of "
      "one order, so a slow worker's share is not trained on less.",
      Choice([](O & o) -> auto& { return o.recipe.data_order; }, {"shard", "global"}));
}

void AddRegionRows(std::vector<OptionRow>& t) {
  const auto add = [&](const char* name, const char* help, OptionValue value) {
    t.push_back({name, "Regions", help, std::move(value), kTraining, true});
  };
  add("topology",
      "flat: every worker talks to the global servers; regional: each region has servers of its "
      "own, which exchange with the global ones.",
      Choice([](O & o) -> auto& { return o.cluster.topology; }, {"flat", "regional"}));
  add("regions", "Places that workers live in.",
      WholeNumber(
          [](O & o) -> auto& { return o.cluster.regions; }, 1, 4096));
  add("global-region",
      "The region that the scheduler, the global servers and the evaluator are in.",
      WholeNumber(
          [](O & o) -> auto& { return o.cluster.global_region; }, 0, 4095));
  add("workers-per-region",
      "Workers of each region: one number for all, or one a region (0 is allowed). Given alone it "
      "says --workers; empty: --workers, evenly.",
      WholeNumberList(
          [](O & o) -> auto& { return o.cluster.workers_per_region; }, 0, 1u << 20));
  AddRule<RegionRule>(t, "region-", "A region's servers: ");
  add("accumulate",
      "regional: updates of a region, counted from its last merge, after which it begins an "
      "exchange with the global servers. More spare the slow links.",
      WholeNumber(
          [](O & o) -> auto& { return o.recipe.accumulate; }, 1, 1u << 30));
  add("merge-weight",
      "regional: share of the global parameters in a region's after an exchange; 0 keeps its own, "
      "1 takes the global ones.",
      RealNumber([](O & o) -> auto& { return o.recipe.merge_weight; }, {0, 1}));
  add("uplink-reference",
      "regional: what a region's difference is taken from. paper: its parameters after the last "
      "merge, so updates made during an exchange are never sent; lossless: each update is sent "
      "once.",
      Choice([](O & o) -> auto& { return o.recipe.uplink_reference; }, {"paper", "lossless"}));
  add("region-gate", "regional: may a region's next exchange be answered? As --gate, for regions.",
      Choice([](O & o) -> auto& { return o.recipe.region_gate; }, {"asp", "ssp"}));
  add("region-slack", "regional, --region-gate ssp: exchanges that regions may be apart.",
      WholeNumber(
          [](O & o) -> auto& { return o.recipe.region_slack; }, 0, 1u << 30));
  add("region-gbps",
      "Gigabits a second from each region to each, row by row, inside regions on the diagonal; 0: "
      "no limit. Empty: regions are names only.",
      RealNumberList([](O & o) -> auto& { return o.links.region_gbps; }, {0, 1e6}));
  add("region-latency-ms", "Milliseconds from each region to each, row by row; empty: none.",
      RealNumberList([](O & o) -> auto& { return o.links.region_latency_ms; },
                     {0, kMillisecondsMax}));
  add("region-jitter-ms", "Up to so many milliseconds more between regions; keeps the order.",
      RealNumber([](O & o) -> auto& { return o.links.region_jitter_ms; }, {0, kMillisecondsMax}));
  add("asymmetric-links", "Says that a matrix of links is not symmetric on purpose.",
      Switch([](O & o) -> auto& { return o.links.asymmetric_links; }));
  add("link-model",
      "shared: all that goes from one region to another shares its bandwidth, headers count; "
      "ideal: every pair of processes has all of it and only parameters count, as in published "
      "models.",
      Choice([](O & o) -> auto& { return o.links.link_model; }, {"shared", "ideal"}));
  add("model-bytes",
      "Bytes that region links count for the whole model, to time a small one as a large one; 0: "
      "its own size.",
      WholeNumber(
          [](O & o) -> auto& { return o.links.model_bytes; }, 0, std::uint64_t{1} << 50));
  t.back().binaries = kOnlySim;
}

}  // namespace slackline
