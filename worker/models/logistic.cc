#include <cmath>

#include "worker/models/models.h"
#include "worker/models/row_index.h"

namespace slackline {
namespace {

class Logistic : public Model {
 public:
  explicit Logistic(double l2) : l2_(l2) {
    spec_.tensors.push_back({"bias", {1}, {}});
    spec_.tables.push_back({"weights", 1, {}});
  }

  const ParameterSpec& spec() const override { return spec_; }
  std::string_view metric_name() const override { return "accuracy"; }

  std::vector<Rows> Keys(const Dataset& data,
                         std::span<const std::uint64_t> examples) const override {
    Rows rows{.table = 0, .keys = {}, .values = {}};
    for (const std::uint64_t example : examples) {
      for (std::uint64_t e = data.row_begin[example]; e < data.row_begin[example + 1]; ++e) {
        rows.keys.push_back(data.column[e]);
      }
    }
    SortUnique(rows.keys);
    return {std::move(rows)};
  }

  double ComputeGradient(const Dataset& data, std::span<const std::uint64_t> examples,
                         const Parameters& parameters, Gradient& gradient) const override {
    const Rows& weights = parameters.rows[0];
    Rows slope{.table = 0, .keys = weights.keys, .values = std::vector<float>(weights.keys.size())};
    const double share = 1.0 / static_cast<double>(examples.size());
    // Sums in double, so that how a batch is shared out among workers hardly shows in them.
    std::vector<double> sums(weights.keys.size());
    double loss = 0, bias = 0;
    for (const std::uint64_t example : examples) {
      const double margin = Margin(data, example, parameters);
      const double target = static_cast<double>(data.targets[example]);
      loss += Loss(margin, target);
      const double error = 1.0 / (1.0 + std::exp(-margin)) - target;
      bias += error;
      for (std::uint64_t e = data.row_begin[example]; e < data.row_begin[example + 1]; ++e) {
        sums[RowOf(weights.keys, data.column[e])] += error * static_cast<double>(data.value[e]);
      }
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const double weight = static_cast<double>(weights.values[i]);
      slope.values[i] = static_cast<float>(sums[i] * share + l2_ * weight);
      loss += 0.5 * l2_ * weight * weight * static_cast<double>(examples.size());
    }
    gradient.dense[0] = static_cast<float>(bias * share);
    gradient.rows = {std::move(slope)};
    return loss * share;
  }

  Evaluated Evaluate(const Dataset& data, std::span<const std::uint64_t> examples,
                     const Parameters& parameters) const override {
    Evaluated sums;
    for (const std::uint64_t example : examples) {
      const double margin = Margin(data, example, parameters);
      const double target = static_cast<double>(data.targets[example]);
      sums.loss += Loss(margin, target);
      sums.metric += (margin > 0) == (target > 0.5) ? 1 : 0;
      ++sums.examples;
    }
    return sums;
  }

 private:
  static double Margin(const Dataset& data, std::uint64_t example, const Parameters& parameters) {
    const Rows& weights = parameters.rows[0];
    double margin = static_cast<double>(parameters.dense[0]);
    for (std::uint64_t e = data.row_begin[example]; e < data.row_begin[example + 1]; ++e) {
      margin += static_cast<double>(weights.values[RowOf(weights.keys, data.column[e])]) *
                static_cast<double>(data.value[e]);
    }
    return margin;
  }

  // log(1 + e^margin) - target margin, without overflow.
  static double Loss(double margin, double target) {
    return std::max(margin, 0.0) + std::log1p(std::exp(-std::abs(margin))) - target * margin;
  }

  const double l2_;
  ParameterSpec spec_;
};

}  // namespace

std::unique_ptr<Model> MakeLogistic(double l2) { return std::make_unique<Logistic>(l2); }

}  // namespace slackline
