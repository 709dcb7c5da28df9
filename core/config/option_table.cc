#include "core/config/option_table.h"

#include <limits>
#include <utility>

namespace slackline {
namespace {

using O = Options;
using enum Binary;

constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kSamplesMax = std::uint64_t{1} << 60;
constexpr double kMillisecondsMax = 1e12;

// What takes part in a run, by which way it is started.
constexpr BinarySet kTraining = {kRun, kSim, kScheduler, kServer, kWorker};
constexpr BinarySet kRoles = {kScheduler, kServer, kWorker};
constexpr BinarySet kMembers = {kServer, kWorker};
constexpr BinarySet kOnlySim = {kSim};

void AddModel(std::vector<OptionRow>& t) {
  const auto add = [&](const char* name, const char* help, OptionValue value) {
    t.push_back({name, "Model and data", help, std::move(value), kTraining, true});
  };
  add("model",
      "What is trained. transformer and the Pythias are language models; timing computes nothing "
      "and only takes time, for studies of speed.",
      Choice([](O & o) -> auto& { return o.model.model; },
             {"softmax", "mlp", "logistic", "factorization", "transformer", "pythia-14m",
              "pythia-70m", "timing"}));
  add("data",
      "Data set: digits (built in), teacher (synthetic), fashion-mnist (Debian's package), a folder "
      "of IDX files, a LIBSVM file, or a file of 'user item rating' lines. Language models read text (built in, and what "
      "they take without this option), a text file by bytes, a file of tokens as llm.c or nanoGPT "
      "writes it, or a folder of such files named ...train....bin and ...val....bin.",
      Text(
          [](O & o) -> auto& { return o.model.data; }, "NAME|PATH"));
  add("hidden", "mlp: width of each hidden layer. Wider learns more and sends more.",
      SomeWholeNumbers(
          [](O & o) -> auto& { return o.model.hidden; }, 1, 1u << 20));
  add("features", "logistic: columns of the data; 0: as many as the file has.",
      WholeNumber(
          [](O & o) -> auto& { return o.model.features; }, 0, kSamplesMax));
  add("factors", "factorization: numbers a user or item is described by.",
      WholeNumber(
          [](O & o) -> auto& { return o.model.factors; }, 1, 1u << 16));
  add("l2", "logistic, factorization: weight of the ridge penalty in the loss.",
      RealNumber([](O & o) -> auto& { return o.model.l2; }, {0, 1e6}));
  add("layers", "Language models: blocks one after another; 0: as the model has it.",
      WholeNumber(
          [](O & o) -> auto& { return o.model.layers; }, 0, 1024));
  add("width",
      "Language models: values a token is described by, a multiple of 8 --heads; 0: as the model "
      "has it.",
      WholeNumber(
          [](O & o) -> auto& { return o.model.width; }, 0, 1u << 16));
  add("heads", "Language models: heads of each attention; 0: as the model has it.",
      WholeNumber(
          [](O & o) -> auto& { return o.model.heads; }, 0, 1u << 12));
  add("context",
      "Language models: tokens that a prediction looks at, and a sample predicts; 0: as the model "
      "has it.",
      WholeNumber(
          [](O & o) -> auto& { return o.model.context; }, 0, 1u << 16));
  add("vocabulary",
      "Language models: how many tokens there are, 256 for text by bytes; 0: as the model has it.",
      WholeNumber(
          [](O & o) -> auto& { return o.model.vocabulary; }, 0, 1u << 16));
  add("held-out",
      "Language models: rows at the end of the data that are kept for evaluation; 0: a tenth, at "
      "most 64.",
      WholeNumber(
          [](O & o) -> auto& { return o.model.held_out; }, 0, kSamplesMax));
  add("timing-elements", "timing: parameters that the model pretends to have.",
      WholeNumber(
          [](O & o) -> auto& { return o.model.timing_elements; }, 1, std::uint64_t{1} << 40));
  add("materialize",
      "timing: false sends sizes without bytes, so that huge models and clusters can be simulated.",
      Switch([](O & o) -> auto& { return o.model.materialize; }));
  t.back().binaries = kOnlySim;
}

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

void AddRecipe(std::vector<OptionRow>& t) {
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

void AddRegions(std::vector<OptionRow>& t) {
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

void AddCluster(std::vector<OptionRow>& t) {
  const auto add = [&](const char* name, const char* help, OptionValue value) {
    t.push_back({name, "Run", help, std::move(value), kTraining, true});
  };
  add("run-id", "Name of the run. Processes of another run are refused.",
      Text(
          [](O & o) -> auto& { return o.cluster.run_id; }, "NAME"));
  t.back().binaries = {kRun, kSim, kScheduler, kServer, kWorker, kStatus};
  add("workers", "Processes that compute gradients.",
      WholeNumber(
          [](O & o) -> auto& { return o.cluster.workers; }, 1, 1u << 20));
  add("servers", "Processes of each tier that hold the parameters, an equal part each.",
      WholeNumber(
          [](O & o) -> auto& { return o.cluster.servers; }, 1, 65536));
  add("evaluate",
      "Whether one evaluator measures loss and metric on held-out data as training goes on.",
      Switch([](O & o) -> auto& { return o.cluster.evaluate; }));
  add("seed",
      "Names every random draw: initial parameters, data order, simulated delays and faults.",
      WholeNumber(
          [](O & o) -> auto& { return o.cluster.seed; }, 0, kAny));
  add("rounds", "Rounds of each worker; 0: as many as --epochs come to.",
      WholeNumber(
          [](O & o) -> auto& { return o.cluster.rounds; }, 0, std::uint64_t{1} << 40));
  add("samples",
      "Samples that all workers train on together; they end the run, whoever did how many. 0: "
      "every worker does its --rounds.",
      WholeNumber(
          [](O & o) -> auto& { return o.cluster.samples; }, 0, kSamplesMax));
  add("epochs", "Passes over the training data, all workers together.",
      RealNumber([](O & o) -> auto& { return o.cluster.epochs; }, {0, 1e9, true}));
  add("evaluate-every-samples", "Samples between two evaluations; 0: ten evaluations a run.",
      WholeNumber(
          [](O & o) -> auto& { return o.cluster.evaluate_every_samples; }, 0, kSamplesMax));
  add("prefetch",
      "Ask for the next round's parameters before this round is computed. Hides the network, reads "
      "older parameters.",
      Switch([](O & o) -> auto& { return o.cluster.prefetch; }));
  add("max-inflight-pushes",
      "Pushes of one worker that may be on their way at once. More hide a slow link and take "
      "memory at "
      "the servers.",
      WholeNumber(
          [](O & o) -> auto& { return o.cluster.max_inflight_pushes; }, 1, 1024));
  add("max-snapshots",
      "Versions of a shard kept for slow readers at once; beyond them readers wait.",
      WholeNumber(
          [](O & o) -> auto& { return o.cluster.max_snapshots; }, 1, 4096));
  add("segment-bytes", "Bytes of a shard that are copied and sent as one piece; a multiple of 4.",
      WholeNumber(
          [](O & o) -> auto& { return o.cluster.segment_bytes; }, 4, std::uint64_t{1} << 30));
}

void AddNetwork(std::vector<OptionRow>& t) {
  const auto add = [&](const char* name, const char* help, OptionValue value, BinarySet binaries) {
    t.push_back({name, "Network", help, std::move(value), binaries, false});
  };
  add("scheduler",
      "Where the scheduler is found, HOST:PORT or [IPv6]:PORT. The scheduler itself listens there "
      "unless "
      "--bind or --ports is given.",
      Text(
          [](O & o) -> auto& { return o.network.scheduler; }, "HOST:PORT"),
      {kScheduler, kServer, kWorker, kStatus});
  add("bind", "Address or interface to listen on; '*' for every one.",
      Text(
          [](O & o) -> auto& { return o.network.bind; }, "ADDRESS|INTERFACE"),
      kRoles);
  add("ports", "Port to listen on, or a range as 7000-7099; 0: any that is free.",
      Text(
          [](O & o) -> auto& { return o.network.ports; }, "PORT[-PORT]"),
      kRoles);
  add("advertise", "Address that others are told, where it differs from --bind; empty: as bound.",
      Text(
          [](O & o) -> auto& { return o.network.advertise; }, "HOST[:PORT]"),
      kRoles);
  add("rank",
      "Place in the run that this process asks for; a restarted one gets its old place by it. "
      "-1: any.",
      WholeNumber(
          [](O & o) -> auto& { return o.network.rank; }, -1, 1 << 20),
      kMembers);
  add("tier", "Which servers this one belongs to: the global ones, or those of --region.",
      Choice([](O & o) -> auto& { return o.network.tier; }, {"global", "region"}), {kServer});
  add("region", "The region that this process asks for a place in; -1: any.",
      WholeNumber(
          [](O & o) -> auto& { return o.network.region; }, -1, 4095),
      kMembers);
  add("join-timeout",
      "How long a process looks for the scheduler, and the scheduler waits for everybody.",
      DurationValue(
          [](O & o) -> auto& { return o.network.join_timeout; }, 100ms, 168h),
      kTraining);
  add("patience",
      "Silence after which a process is taken for lost. Heartbeats and retries are a part of it. "
      "Longer "
      "on bad networks, shorter to notice failures sooner.",
      DurationValue(
          [](O & o) -> auto& { return o.network.patience; }, 200ms, 24h),
      {kRun, kSim, kScheduler, kServer, kWorker, kStatus});
}

void AddTime(std::vector<OptionRow>& t) {
  constexpr BinarySet kComputing = {kRun, kSim, kWorker};
  const auto add = [&](const char* name, const char* help, OptionValue value) {
    t.push_back({name, "Time", help, std::move(value), kComputing, false});
  };
  add("compute-time",
      "How long a round's computing, or each local step, is made to take at least: const:MS, "
      "exp:MS (mean), "
      "lognormal:MS:SIGMA (median), trace:FILE (one duration in ms a line); empty: as long as it "
      "takes.",
      Text(
          [](O & o) -> auto& { return o.time.compute_time; }, "MODEL"));
  add("speeds",
      "Speed of each worker by rank; 0.5 takes twice as long. Workers beyond the list have 1.",
      RealNumberList([](O & o) -> auto& { return o.time.speeds; }, {0, 1e6, true}));
  t.back().binaries = kTraining;
  t.back().agreed = true;  // Local steps may depend on it.
  add("inject", "Trouble on purpose: slow:worker3:5x makes worker 3 five times slower.",
      TextList(
          [](O & o) -> auto& { return o.time.inject; }, "slow:workerN:Kx"));
}

void AddSim(std::vector<OptionRow>& t) {
  const auto add = [&](const char* name, const char* help, OptionValue value) {
    t.push_back({name, "Virtual time", help, std::move(value), kOnlySim, false});
  };
  const RealBounds milliseconds{0, kMillisecondsMax};
  const RealBounds chance{0, 1};
  add("link-gbps", "Gigabits a second of a link between two processes, each way; 0: no limit.",
      RealNumber([](O & o) -> auto& { return o.sim.link_gbps; }, {0, 1e6}));
  add("link-latency-ms", "Milliseconds that a message is under way.",
      RealNumber(
          [](O & o) -> auto& { return o.sim.link_latency_ms; }, milliseconds));
  add("link-jitter-ms",
      "Up to so many milliseconds more, drawn for each message; keeps their order.",
      RealNumber(
          [](O & o) -> auto& { return o.sim.link_jitter_ms; }, milliseconds));
  add("loss", "Chance that a message vanishes.",
      RealNumber(
          [](O & o) -> auto& { return o.sim.loss; }, chance));
  add("duplicate", "Chance that a message comes twice.",
      RealNumber(
          [](O & o) -> auto& { return o.sim.duplicate; }, chance));
  add("reorder", "Chance that a message is held back and overtaken.",
      RealNumber(
          [](O & o) -> auto& { return o.sim.reorder; }, chance));
  add("reorder-ms", "Up to how many milliseconds it is held back.",
      RealNumber(
          [](O & o) -> auto& { return o.sim.reorder_ms; }, milliseconds));
  add("partition", "Processes cut off from all others: worker1:FROM_MS:TO_MS.",
      TextList(
          [](O & o) -> auto& { return o.sim.partition; }, "ROLE+RANK:FROM_MS:TO_MS"));
  add("crash",
      "Processes that die and come back: worker1:AT_MS:BACK_MS; without BACK_MS, for good.",
      TextList(
          [](O & o) -> auto& { return o.sim.crash; }, "ROLE+RANK:AT_MS[:BACK_MS]"));
  add("apply-ms", "Milliseconds that a server takes to apply an update.",
      RealNumber(
          [](O & o) -> auto& { return o.sim.apply_ms; }, milliseconds));
  add("collective",
      "What an exchange of all workers is timed as. star: as it goes, through the servers; ring: "
      "messages are free and an update takes as long as a ring all-reduce over the region links.",
      Choice([](O & o) -> auto& { return o.sim.collective; }, {"star", "ring"}));
  add("encode", "Pass every message through the wire format, as real sockets do. false is faster.",
      Switch([](O & o) -> auto& { return o.sim.encode; }));
  add("deadline-s", "Virtual seconds after which a run that has not ended has failed.",
      RealNumber([](O & o) -> auto& { return o.sim.deadline_s; }, {0, 1e9, true}));
}

void AddOutput(std::vector<OptionRow>& t) {
  const auto add = [&](const char* name, const char* help, OptionValue value, BinarySet binaries) {
    t.push_back({name, "Output", help, std::move(value), binaries, false});
  };
  add("run-dir",
      "Folder of the run's records; a run that is there already is moved aside. Empty: "
      "runs/<run id>-<time> for slackline run and sim, none for a process started by hand.",
      Text(
          [](O & o) -> auto& { return o.output.run_dir; }, "DIR"),
      kTraining);
  add("events", "Write event logs, which slackline verify and replay read.",
      Switch([](O & o) -> auto& { return o.output.events; }), kTraining);
  add("log-level", "The least important messages that are shown.",
      Choice([](O & o) -> auto& { return o.output.log_level; }, {"info", "warning", "error"}),
      kTraining);
  add("progress-interval", "Time between two lines of progress.",
      DurationValue(
          [](O & o) -> auto& { return o.output.progress_interval; }, 10ms, 24h),
      {kRun, kSim, kScheduler});
}

void AddCommand(std::vector<OptionRow>& t) {
  t.push_back({"task",
               "Command",
               "What this worker does: train, or evaluate on held-out data.",
               Choice([](O & o) -> auto& { return o.process.task; }, {"train", "evaluate"}),
               {kWorker},
               false});
  t.push_back({"json",
               "Command",
               "Print JSON instead of a table.",
               Switch([](O & o) -> auto& { return o.process.json; }),
               {kStatus, kBench},
               false});
}

std::vector<OptionRow> MakeTable() {
  std::vector<OptionRow> table;
  AddModel(table);
  AddRecipe(table);
  AddRegions(table);
  AddCluster(table);
  AddNetwork(table);
  AddTime(table);
  AddSim(table);
  AddOutput(table);
  AddCommand(table);
  return table;
}

}  // namespace

const char* BinaryName(Binary binary) {
  switch (binary) {
    case kRun:
      return "slackline run";
    case kSim:
      return "slackline sim";
    case kScheduler:
      return "slackline-scheduler";
    case kServer:
      return "slackline-server";
    case kWorker:
      return "slackline-worker";
    case kStatus:
      return "slackline status";
    case kVerify:
      return "slackline verify";
    case kBench:
      return "slackline bench";
    case kEvents:
      return "slackline events";
  }
  return "slackline";
}

const char* BinaryArguments(Binary binary) {
  if (binary == kVerify || binary == kEvents) return "DIR";
  if (binary == kBench) return "push-pull";
  return "";
}

const std::vector<OptionRow>& OptionTable() {
  static const std::vector<OptionRow> table = MakeTable();
  return table;
}

const OptionRow* FindOption(std::string_view name) {
  for (const OptionRow& row : OptionTable()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::string DefaultOf(const OptionRow& row) { return row.value.print(Options{}); }

}  // namespace slackline
