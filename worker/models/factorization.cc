#include <cmath>

#include "worker/models/models.h"
#include "worker/models/row_index.h"

namespace slackline {
namespace {

class Factorization : public Model {
 public:
  Factorization(std::uint32_t factors, double l2, double mean)
      : factors_(factors), l2_(l2), mean_(mean) {
    // Products of two rows then begin with a variance of about one tenth squared.
    const float bound =
        static_cast<float>(0.1 * std::sqrt(3.0 / std::sqrt(static_cast<double>(factors))));
    spec_.tables.push_back({"users", factors, {bound}});
    spec_.tables.push_back({"items", factors, {bound}});
  }

  const ParameterSpec& spec() const override { return spec_; }
  std::string_view metric_name() const override { return "rmse"; }
  double Metric(const Evaluated& sums) const override {
    return sums.examples == 0 ? 0.0 : std::sqrt(sums.metric / static_cast<double>(sums.examples));
  }

  std::vector<Rows> Keys(const Dataset& data,
                         std::span<const std::uint64_t> examples) const override {
    Rows users{.table = 0, .keys = {}, .values = {}};
    Rows items{.table = 1, .keys = {}, .values = {}};
    for (const std::uint64_t example : examples) {
      users.keys.push_back(data.user[example]);
      items.keys.push_back(data.item[example]);
    }
    SortUnique(users.keys);
    SortUnique(items.keys);
    return {std::move(users), std::move(items)};
  }

  double ComputeGradient(const Dataset& data, std::span<const std::uint64_t> examples,
                         const Parameters& parameters, Gradient& gradient) const override {
    const Rows& users = parameters.rows[0];
    const Rows& items = parameters.rows[1];
    Rows user_slopes{
        .table = 0, .keys = users.keys, .values = std::vector<float>(users.values.size())};
    Rows item_slopes{
        .table = 1, .keys = items.keys, .values = std::vector<float>(items.values.size())};
    const double share = 1.0 / static_cast<double>(examples.size());
    double loss = 0;
    for (const std::uint64_t example : examples) {
      const std::size_t u = RowOf(users.keys, data.user[example]) * factors_;
      const std::size_t v = RowOf(items.keys, data.item[example]) * factors_;
      const double error = Predict(users, items, u, v) - static_cast<double>(data.targets[example]);
      loss += 0.5 * error * error;
      for (std::uint32_t f = 0; f < factors_; ++f) {
        const double p = static_cast<double>(users.values[u + f]);
        const double q = static_cast<double>(items.values[v + f]);
        loss += 0.5 * l2_ * (p * p + q * q);
        user_slopes.values[u + f] += static_cast<float>((error * q + l2_ * p) * share);
        item_slopes.values[v + f] += static_cast<float>((error * p + l2_ * q) * share);
      }
    }
    gradient.rows = {std::move(user_slopes), std::move(item_slopes)};
    return loss * share;
  }

  Evaluated Evaluate(const Dataset& data, std::span<const std::uint64_t> examples,
                     const Parameters& parameters) const override {
    Evaluated sums;
    const Rows& users = parameters.rows[0];
    const Rows& items = parameters.rows[1];
    for (const std::uint64_t example : examples) {
      const std::size_t u = RowOf(users.keys, data.user[example]) * factors_;
      const std::size_t v = RowOf(items.keys, data.item[example]) * factors_;
      const double error = Predict(users, items, u, v) - static_cast<double>(data.targets[example]);
      sums.loss += 0.5 * error * error;
      sums.metric += error * error;
      ++sums.examples;
    }
    return sums;
  }

 private:
  double Predict(const Rows& users, const Rows& items, std::size_t u, std::size_t v) const {
    double rating = mean_;
    for (std::uint32_t f = 0; f < factors_; ++f) {
      rating += static_cast<double>(users.values[u + f]) * static_cast<double>(items.values[v + f]);
    }
    return rating;
  }

  const std::uint32_t factors_;
  const double l2_;
  const double mean_;
  ParameterSpec spec_;
};

}  // namespace

std::unique_ptr<Model> MakeFactorization(std::uint32_t factors, double l2, double mean) {
  return std::make_unique<Factorization>(factors, l2, mean);
}

}  // namespace slackline
