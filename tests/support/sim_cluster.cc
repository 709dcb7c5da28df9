#include "tests/support/sim_cluster.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/strings.h"
#include "core/policy/topology.h"
#include "core/wire/codec.h"
#include "scheduler/scheduler_node.h"
#include "worker/data/data_order.h"
#include "worker/evaluator_node.h"
#include "worker/worker_node.h"

namespace slackline::testing {
namespace {

// Collects one process's traces and counts its messages and, if there is one, writes its event log.
class Observer : public InputObserver {
 public:
  Observer(Role role, std::uint32_t rank, std::vector<SimCluster::Traced>* into,
           std::map<MessageType, SimCluster::Delivered>& delivered,
           std::unique_ptr<EventLogWriter> log)
      : role_(role), rank_(rank), into_(into), delivered_(delivered), log_(std::move(log)) {}
  void OnInput(Time now, const Input& input, const Outbox& out) override {
    if (into_ != nullptr && input.message != nullptr) {
      SimCluster::Delivered& delivered = delivered_[input.message->type()];
      ++delivered.messages;
      delivered.bytes += Encode({}, Message(input.message->body)).first.size();
    }
    if (into_ != nullptr) {
      for (const TraceEvent& event : out.traces) into_->push_back({role_, rank_, now, event});
    }
    if (log_ != nullptr) log_->OnInput(now, input, out);
  }
  void OnEnd(Time now, std::uint64_t digest) override {
    if (log_ != nullptr) log_->OnEnd(now, digest);
  }

 private:
  Role role_;
  std::uint32_t rank_;
  std::vector<SimCluster::Traced>* into_;
  std::map<MessageType, SimCluster::Delivered>& delivered_;
  std::unique_ptr<EventLogWriter> log_;
};

class Quadratic : public Model {
 public:
  Quadratic(std::uint64_t elements, float curvature) : curvature_(curvature) {
    spec_.tensors.push_back({"x", {elements}, {1.0f}});
  }
  const ParameterSpec& spec() const override { return spec_; }
  std::string_view metric_name() const override { return "loss"; }
  double ComputeGradient(const Dataset&, std::span<const std::uint64_t>,
                         const Parameters& parameters, Gradient& gradient) const override {
    double loss = 0;
    for (std::size_t i = 0; i < parameters.dense.size(); ++i) {
      gradient.dense[i] = curvature_ * parameters.dense[i];
      loss +=
          0.5 * static_cast<double>(gradient.dense[i]) * static_cast<double>(parameters.dense[i]);
    }
    return loss;
  }
  Evaluated Evaluate(const Dataset&, std::span<const std::uint64_t> examples,
                     const Parameters& parameters) const override {
    double loss = 0;
    for (const float x : parameters.dense)
      loss += 0.5 * static_cast<double>(curvature_ * x) * static_cast<double>(x);
    const double n = static_cast<double>(std::max<std::size_t>(1, examples.size()));
    return {loss * n, loss * n, std::max<std::size_t>(1, examples.size())};
  }

 private:
  float curvature_;
  ParameterSpec spec_;
};

class Integers : public Model {
 public:
  explicit Integers(std::uint64_t elements) { spec_.tensors.push_back({"x", {elements}, {}}); }
  const ParameterSpec& spec() const override { return spec_; }
  std::string_view metric_name() const override { return "none"; }
  double ComputeGradient(const Dataset&, std::span<const std::uint64_t> examples, const Parameters&,
                         Gradient& gradient) const override {
    for (std::size_t i = 0; i < gradient.dense.size(); ++i) {
      gradient.dense[i] = static_cast<float>((examples[0] * 2654435761u + i * 40503u) % 7) - 3.0f;
    }
    return 0;
  }
  Evaluated Evaluate(const Dataset&, std::span<const std::uint64_t> examples,
                     const Parameters&) const override {
    return {0, 0, examples.size()};
  }

 private:
  ParameterSpec spec_;
};

}  // namespace

Options SmallCluster() {
  Options options;
  options.cluster.workers = 4;
  options.cluster.servers = 2;
  options.cluster.rounds = 20;
  options.cluster.evaluate = false;
  options.recipe.gate = "asp";
  options.recipe.rule.name = "sgd";
  options.recipe.rule.lr = 1.0;
  options.recipe.batch = 1;
  options.time.compute_time = "exp:10";
  return options;
}

std::shared_ptr<const Model> MakeQuadratic(std::uint64_t elements, float curvature) {
  return std::make_shared<Quadratic>(elements, curvature);
}
std::shared_ptr<const Model> MakeIntegers(std::uint64_t elements) {
  return std::make_shared<Integers>(elements);
}

std::shared_ptr<const Dataset> MakeNumbered(std::uint64_t count) {
  auto data = std::make_shared<Dataset>();
  data->name = "numbered";
  data->examples = count;
  return data;
}

std::vector<float> IntegerSum(const Options& options, const Model& model, const Dataset& data,
                              std::uint64_t rounds) {
  std::vector<float> sum(model.spec().dense_elements());
  std::vector<float> one(sum.size());
  for (std::uint32_t rank = 0; rank < options.cluster.workers; ++rank) {
    const DataOrder order(options.cluster.seed, data.examples, rank, options.cluster.workers);
    for (std::uint64_t round = 0; round < rounds; ++round) {
      Gradient gradient{one, {}};
      model.ComputeGradient(data, order.ShardBatch(round, options.recipe.batch), {}, gradient);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += one[i];
    }
  }
  return sum;
}

SimCluster::SimCluster(Options options, std::shared_ptr<const Model> model,
                       std::shared_ptr<const Dataset> train, std::shared_ptr<const Dataset> test)
    : options_(std::move(options)),
      model_(std::move(model)),
      train_(std::move(train)),
      test_(std::move(test)) {
  auto time_model = TimeModel::Create(options_.time, options_.cluster.seed);
  SLACKLINE_CHECK(time_model.ok());
  auto runtime = SimRuntime::Create(
      {.seed = options_.cluster.seed,
       .run_id = options_.cluster.run_id,
       .sim = options_.sim,
       .links = options_.links,
       .cluster = options_.cluster,
       .own_model_bytes = model_->spec().dense_elements() * sizeof(float),
       .time_model = *time_model,
       .on_report =
           [this](Role, std::uint32_t, const Report& report) {
             if (const auto* summary = std::get_if<SummaryReport>(&report.what))
               summary_ = *summary;
           },
       .on_note =
           [this](Time, Role role, std::uint32_t rank, const Outbox::Note& note) {
             notes_.push_back(StrCat(role, " ", rank, ": ", note.text));
           }});
  SLACKLINE_CHECK(runtime.ok());
  runtime_ = std::move(runtime).value();
  runtime_->ObserveWith([this](Role role, std::uint32_t rank, NodeId self, std::uint32_t life) {
    std::unique_ptr<EventLogWriter> log;
    if (!run_dir_.empty()) {
      auto created = EventLogWriter::Create(run_dir_, {.role = role,
                                                       .rank = rank,
                                                       .node = self,
                                                       .seed = options_.cluster.seed,
                                                       .life = life,
                                                       .address = "sim"});
      SLACKLINE_CHECK(created.ok());
      log = std::move(created).value();
    }
    return std::make_unique<Observer>(role, rank, keep_traces_ ? &traces_ : nullptr, delivered_,
                                      std::move(log));
  });
  const auto add = [this](Role role, std::uint32_t count) {
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      runtime_->AddNode(role, rank,
                        [this, role, rank](NodeId self) { return Make(role, rank, self); });
    }
  };
  add(Role::kScheduler, 1);
  add(Role::kServer, Topology(options_.cluster).servers());
  add(Role::kWorker, options_.cluster.workers);
  add(Role::kEvaluator, options_.cluster.evaluate ? 1 : 0);
}

std::unique_ptr<Node> SimCluster::Make(Role role, std::uint32_t rank, NodeId self) const {
  Options own = options_;
  own.network.rank = rank;
  switch (role) {
    case Role::kScheduler:
      return std::make_unique<SchedulerNode>(self, own);
    case Role::kServer:
      return make_server_ ? make_server_(self, own)
                          : std::make_unique<ServerNode>(self, own, "sim");
    case Role::kWorker:
      return std::make_unique<WorkerNode>(self, own, model_, train_);
    case Role::kEvaluator:
      return std::make_unique<EvaluatorNode>(self, own, model_, test_);
    case Role::kObserver:
      break;
  }
  return nullptr;
}

Result<std::unique_ptr<Node>> SimCluster::MakeNode(const EventLogHeader& whose) const {
  return Make(whose.role, static_cast<std::uint32_t>(whose.rank), whose.node);
}

Status SimCluster::Run() {
  SLACKLINE_RETURN_IF_ERROR(runtime_->Run());
  SLACKLINE_RETURN_IF_ERROR(runtime_->ExitStatus(Role::kScheduler, 0));
  for (std::uint32_t rank = 0; rank < Topology(options_.cluster).servers(); ++rank) {
    SLACKLINE_RETURN_IF_ERROR(runtime_->ExitStatus(Role::kServer, rank));
  }
  for (std::uint32_t rank = 0; rank < options_.cluster.workers; ++rank) {
    SLACKLINE_RETURN_IF_ERROR(runtime_->ExitStatus(Role::kWorker, rank));
  }
  return Status::Ok();
}

const ServerNode* SimCluster::server(std::uint32_t rank) {
  return static_cast<const ServerNode*>(runtime_->FindNode(Role::kServer, rank));
}

std::vector<float> SimCluster::DenseParameters() {
  std::vector<float> all;
  for (std::uint32_t rank = 0; rank < options_.cluster.servers; ++rank) {
    for (const Shard::Segment& segment : server(rank)->shard()->Snapshot()) {
      const std::span<const float> values = segment.values.floats();
      all.insert(all.end(), values.begin(), values.end());
    }
  }
  return all;
}

std::uint64_t SimCluster::ParametersDigest() {
  Digest digest;
  digest.Add(std::span<const float>(DenseParameters()));
  return digest.value();
}

}  // namespace slackline::testing
