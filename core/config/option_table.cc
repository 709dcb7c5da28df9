#include "core/config/option_table.h"

#include <utility>

#include "core/config/option_rows.h"

namespace slackline {
namespace {

using O = Options;
using enum Binary;

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
      "Data set: digits (built in), teacher (synthetic), fashion-mnist (Debian's package), a "
      "folder "
      "of IDX files, a LIBSVM file, or a file of 'user item rating' lines. Language models read "
      "text (built in, and what "
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
  AddRecipeRows(table);
  AddRegionRows(table);
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

std::string DefaultOf(const OptionRow& row) {
  static const Options defaults;
  return row.value.print(defaults);
}

}  // namespace slackline
