// Every option of every binary, as plain data with its default. option_table.h gives each field its
// flag, help, bounds and group; nothing else parses or prints them.
//
// Durations and sizes carry their unit where the type does not.
#ifndef SLACKLINE_CORE_CONFIG_OPTIONS_H_
#define SLACKLINE_CORE_CONFIG_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "slackline/rule_options.h"

namespace slackline {

// What a worker's step is computed on. Agreed by the whole cluster.
struct ModelOptions {
  // softmax | mlp | logistic | factorization | transformer | pythia-14m | pythia-70m | timing
  std::string model = "mlp";
  std::string data = "digits";                // digits | fashion-mnist | text | a file or folder
  std::vector<std::uint32_t> hidden = {128};  // mlp: widths of the hidden layers
  std::uint64_t features = 0;                 // logistic: columns; 0: as many as the data has
  std::uint32_t factors = 16;                 // factorization: width of a row
  double l2 = 0.0;                            // logistic, factorization: ridge, in the loss
  // Language models; 0: as the model has it (core/config/transformer_shape.h).
  std::uint32_t layers = 0;
  std::uint32_t width = 0;
  std::uint32_t heads = 0;
  std::uint32_t context = 0;     // tokens
  std::uint32_t vocabulary = 0;  // tokens are below it
  std::uint64_t held_out = 0;    // rows at the end kept for evaluation; 0: a tenth, at most 64
  std::uint64_t timing_elements = 1000;  // timing: parameters that only take time
  bool materialize = true;  // timing: false: sizes without bytes, for virtual time alone
};

// The choices that make an algorithm (docs/ALGORITHMS.md). Agreed by the whole cluster.
struct RecipeOptions {
  std::string algorithm = "custom";  // a named recipe fills in the rest; flags after it override
  std::string gate = "ssp";          // bsp | ssp | asp
  std::uint32_t slack = 3;           // ssp: s of docs/PROTOCOL.md
  std::string collector = "each";    // each | all
  std::string decisions = "auto";    // auto | tier | shard: who decides, the lead or every shard
  RuleOptions rule;                  // of the global tier, which is the only one when flat
  RuleOptions region_rule;           // of each region's tier
  std::string step = "gradient";     // gradient | local: what a worker does between two exchanges
  RuleOptions local_rule;            // local: the worker's own optimizer
  std::uint32_t local_steps = 1;     // local: H, of the fastest worker
  std::string dynamic_local_steps = "off";  // off | floor | ceil: H in proportion to --speeds
  std::string region_gate = "asp";          // asp | ssp: among regions, at the global tier
  std::uint32_t region_slack = 3;           // exchanges
  std::uint32_t accumulate = 32;            // K: a region's updates from one merge to an exchange
  double merge_weight = 0.25;               // alpha: share of the global parameters in a merge
  std::string uplink_reference = "paper";   // paper | lossless: what a difference is taken from
  std::string lr_schedule = "constant";     // constant | step | cosine
  std::uint64_t warmup_samples = 0;
  std::uint64_t lr_step_samples = 0;  // step: every so many samples ...
  double lr_step_factor = 0.1;        // ... multiply by this
  double lr_final_factor = 0.0;       // cosine: end at lr times this
  std::string clip = "none";          // none | global | tensor
  double clip_norm = 1.0;
  std::uint32_t batch = 32;          // samples a round and worker
  std::string data_order = "shard";  // shard | global
};

// The run as a whole. Agreed by the whole cluster.
struct ClusterOptions {
  std::string run_id = "default";
  std::string topology = "flat";    // flat | regional: whether regions have servers of their own
  std::uint32_t regions = 1;        // places that workers live in
  std::uint32_t global_region = 0;  // where the global servers are
  std::vector<std::uint32_t> workers_per_region;  // one number for all, or one a region; empty:
                                                  // --workers, evenly
  std::uint32_t workers = 4;
  std::uint32_t servers = 2;  // of each tier
  bool evaluate = true;       // one evaluator takes part
  std::uint64_t seed = 1;
  std::uint64_t rounds = 0;                  // of each worker; 0: from epochs
  std::uint64_t samples = 0;                 // of all workers; ends the run, 0: rounds do
  double epochs = 1.0;                       // over the training data, all workers together
  std::uint64_t evaluate_every_samples = 0;  // 0: ten times a run
  bool prefetch = false;                     // ask for the next parameters before this round's push
  std::uint32_t max_inflight_pushes = 2;     // a worker; bounds the servers' staging
  std::uint64_t max_snapshots = 8;           // a shard; distinct versions held for slow readers
  std::uint64_t segment_bytes = 1u << 20;    // a shard's unit of copying and of transfer
};

// How one process is found and how long it waits.
struct NetworkOptions {
  std::string scheduler = "127.0.0.1:7070";  // HOST:PORT
  std::string bind = "127.0.0.1";            // address or interface name to listen on
  std::string ports = "0";                   // one port, a range "7000-7099", or 0: any
  std::string advertise;                     // HOST or HOST:PORT told to others; "": as bound
  std::int64_t rank = -1;                    // preferred; -1: any
  std::string tier = "global";               // slackline-server: global | region
  std::int64_t region = -1;                  // a worker's or region server's; -1: any
  Duration join_timeout = 60s;               // to find the scheduler and be welcomed
  Duration patience = 10s;  // silence after which a peer is taken for lost; other waits derive
};

// How the time that work takes is made up, beside what the machine takes.
struct TimeOptions {
  std::string compute_time =
      "";                      // "": as it is; const:MS | exp:MS | lognormal:MS:SIGMA | trace:FILE
  std::vector<double> speeds;  // of each worker; 1: as compute_time says, 0.5: twice as long
  std::vector<std::string> inject;  // "slow:worker3:5x"
};

// The links between regions; matrices are row by row, from and then to. In virtual time they say
// when messages arrive; over real sockets messages are held back that long.
struct LinkOptions {
  std::vector<double> region_gbps;        // regions x regions; 0: no limit; empty: no region links
  std::vector<double> region_latency_ms;  // regions x regions; empty: none
  double region_jitter_ms = 0.0;          // uniform, added to the latency between regions
  bool asymmetric_links = false;          // a matrix may differ from its transpose
  std::string link_model = "shared";      // shared | ideal
  std::uint64_t model_bytes = 0;          // virtual time: what links count for the whole model;
                                          // 0: its size
};

// Virtual time only.
struct SimOptions {
  double link_gbps = 0.0;  // each direction of each pair; 0: unlimited
  double link_latency_ms = 0.0;
  double link_jitter_ms = 0.0;  // uniform, added to the latency; keeps the order
  double loss = 0.0;            // chance that a message vanishes
  double duplicate = 0.0;       // ... comes twice
  double reorder = 0.0;         // ... is held back by up to reorder_ms
  double reorder_ms = 5.0;
  std::vector<std::string> partition;  // "worker1:FROM_MS:TO_MS": cut off in that time
  std::vector<std::string> crash;      // "worker1:AT_MS:BACK_MS"
  double apply_ms = 0.0;               // a server's apply
  std::string collective = "star";     // star | ring: what an exchange of all workers is timed as
  bool encode = true;                  // pass every message through the codec
  double deadline_s = 1e6;             // virtual; a run that reaches it has failed
};

struct OutputOptions {
  std::string run_dir;             // "": runs/<run id>-<time>, for run and sim; none for roles
  bool events = true;              // write events/*.bin
  std::string log_level = "info";  // info | warning | error
  Duration progress_interval = 1s;
};

// What one process is asked to do; no other process hears of it.
struct ProcessOptions {
  std::string task = "train";  // slackline-worker: train | evaluate
  bool json = false;           // slackline status, bench: for programs, not for people
};

struct Options {
  ModelOptions model;
  RecipeOptions recipe;
  ClusterOptions cluster;
  NetworkOptions network;
  TimeOptions time;
  LinkOptions links;
  SimOptions sim;
  OutputOptions output;
  ProcessOptions process;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_CONFIG_OPTIONS_H_
