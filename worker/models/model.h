// Model: what a worker differentiates. Written once over the ops of kernels/, so that it knows no
// device; it knows no servers either, only a flat vector of dense parameters and, for sparse
// models, the rows that a batch touches.
//
// Threads: const and free of hidden state; one Model may serve several threads.
#ifndef SLACKLINE_WORKER_MODELS_MODEL_H_
#define SLACKLINE_WORKER_MODELS_MODEL_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/config/options.h"
#include "slackline/parameters.h"
#include "slackline/status.h"
#include "worker/data/dataset.h"

namespace slackline {

struct Parameters {
  std::span<const float> dense;  // The whole flat order.
  std::vector<Rows>
      rows;  // One per touched table, as Model::Keys gave them (sorted), values filled.
};

struct Gradient {
  std::span<float> dense;  // Written whole. Mean over the batch.
  std::vector<Rows> rows;  // The same keys as the parameters'.
};

struct Evaluated {
  double loss = 0;    // Sum over the examples.
  double metric = 0;  // Sum over the examples: correct answers, squared errors, ...
  std::uint64_t examples = 0;
};

class Model {
 public:
  virtual ~Model() = default;

  virtual const ParameterSpec& spec() const = 0;
  // "accuracy", "rmse", ...: what Evaluated::metric becomes after Metric().
  virtual std::string_view metric_name() const = 0;
  // The metric of a whole data set from its sums.
  virtual double Metric(const Evaluated& sums) const {
    return sums.examples == 0 ? 0.0 : sums.metric / static_cast<double>(sums.examples);
  }

  // The table rows that these examples touch; empty for dense models. `values` are left empty.
  virtual std::vector<Rows> Keys(const Dataset& data,
                                 std::span<const std::uint64_t> examples) const;

  // The mean gradient over `examples`; returns their mean loss.
  virtual double ComputeGradient(const Dataset& data, std::span<const std::uint64_t> examples,
                                 const Parameters& parameters, Gradient& gradient) const = 0;

  virtual Evaluated Evaluate(const Dataset& data, std::span<const std::uint64_t> examples,
                             const Parameters& parameters) const = 0;
};

// The model that the options name, for data of this shape.
// Errors: kInvalidArgument where the data does not fit the model.
Result<std::unique_ptr<Model>> MakeModel(const ModelOptions& options, const Dataset& train);

}  // namespace slackline

#endif  // SLACKLINE_WORKER_MODELS_MODEL_H_
