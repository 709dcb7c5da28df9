#include <algorithm>
#include <cmath>

#include "core/base/check.h"
#include "core/base/strings.h"
#include "kernels/ops.h"
#include "worker/models/models.h"

namespace slackline {
namespace {

constexpr std::size_t kEvaluationBatch = 256;

// One fully connected layer: outputs (batch x out) = inputs (batch x in) weight (in x out) + bias.
struct Layer {
  std::size_t in;
  std::size_t out;
  std::size_t weight_at;  // In the flat order.
  std::size_t bias_at;
};

class Mlp : public Model {
 public:
  Mlp(std::uint64_t inputs, const std::vector<std::uint32_t>& hidden, std::uint32_t classes) {
    std::vector<std::uint64_t> widths{inputs};
    widths.insert(widths.end(), hidden.begin(), hidden.end());
    widths.push_back(classes);
    std::size_t at = 0;
    for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
      const bool last = l + 2 == widths.size();
      // He et al., ICCV 2015 for layers before a ReLU; Glorot and Bengio's scale for the last.
      const double fan = static_cast<double>(widths[l]);
      const float bound = static_cast<float>(std::sqrt((last ? 1.0 : 6.0) / fan));
      layers_.push_back({widths[l], widths[l + 1], at, at + widths[l] * widths[l + 1]});
      spec_.tensors.push_back({StrCat("layer", l, ".weight"), {widths[l], widths[l + 1]}, {bound}});
      spec_.tensors.push_back({StrCat("layer", l, ".bias"), {widths[l + 1]}, {}});
      at = layers_.back().bias_at + widths[l + 1];
    }
  }

  const ParameterSpec& spec() const override { return spec_; }
  std::string_view metric_name() const override { return "accuracy"; }

  double ComputeGradient(const Dataset& data, std::span<const std::uint64_t> examples,
                         const Parameters& parameters, Gradient& gradient) const override {
    const std::size_t batch = examples.size();
    std::vector<std::vector<float>> activations = Forward(data, examples, parameters.dense.data());
    const std::vector<std::uint32_t> labels = Labels(data, examples);
    std::vector<float> delta = std::move(activations.back());
    const Classified found =
        SoftmaxCrossEntropy(delta.data(), labels.data(), delta.data(), batch, layers_.back().out);
    for (std::size_t l = layers_.size(); l-- > 0;) {
      const Layer& layer = layers_[l];
      const std::vector<float>& input = activations[l];
      MatMulTransposedA(input.data(), delta.data(), gradient.dense.data() + layer.weight_at,
                        layer.in, batch, layer.out);
      SumColumns(delta.data(), gradient.dense.data() + layer.bias_at, batch, layer.out);
      if (l == 0) break;
      std::vector<float> below(batch * layer.in);
      MatMulTransposedB(delta.data(), parameters.dense.data() + layer.weight_at, below.data(),
                        batch, layer.out, layer.in);
      ReluBackward(input.data(), below.data(), below.size());
      delta = std::move(below);
    }
    return found.loss / static_cast<double>(batch);
  }

  Evaluated Evaluate(const Dataset& data, std::span<const std::uint64_t> examples,
                     const Parameters& parameters) const override {
    Evaluated sums;
    for (std::size_t at = 0; at < examples.size(); at += kEvaluationBatch) {
      const auto part = examples.subspan(at, std::min(kEvaluationBatch, examples.size() - at));
      const std::vector<std::vector<float>> activations =
          Forward(data, part, parameters.dense.data());
      const std::vector<std::uint32_t> labels = Labels(data, part);
      const Classified found = SoftmaxCrossEntropy(activations.back().data(), labels.data(),
                                                   nullptr, part.size(), layers_.back().out);
      sums.loss += found.loss;
      sums.metric += static_cast<double>(found.correct);
      sums.examples += part.size();
    }
    return sums;
  }

 private:
  // The input of every layer, and at the end the logits; (batch x width) each.
  std::vector<std::vector<float>> Forward(const Dataset& data,
                                          std::span<const std::uint64_t> examples,
                                          const float* parameters) const {
    const std::size_t batch = examples.size();
    SLACKLINE_CHECK(batch > 0 && data.width == layers_.front().in);
    std::vector<std::vector<float>> activations;
    std::vector<float>& input = activations.emplace_back(batch * data.width);
    for (std::size_t i = 0; i < batch; ++i) {
      std::copy_n(data.features.data() + examples[i] * data.width, data.width,
                  input.data() + i * data.width);
    }
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const Layer& layer = layers_[l];
      std::vector<float> output(batch * layer.out);
      MatMul(activations.back().data(), parameters + layer.weight_at, output.data(), batch,
             layer.in, layer.out);
      AddBias(parameters + layer.bias_at, output.data(), batch, layer.out);
      if (l + 1 < layers_.size()) Relu(output.data(), output.size());
      activations.push_back(std::move(output));
    }
    return activations;
  }

  static std::vector<std::uint32_t> Labels(const Dataset& data,
                                           std::span<const std::uint64_t> examples) {
    std::vector<std::uint32_t> labels;
    labels.reserve(examples.size());
    for (const std::uint64_t example : examples) labels.push_back(data.labels[example]);
    return labels;
  }

  ParameterSpec spec_;
  std::vector<Layer> layers_;
};

}  // namespace

std::unique_ptr<Model> MakeMlp(std::uint64_t inputs, const std::vector<std::uint32_t>& hidden,
                               std::uint32_t classes) {
  return std::make_unique<Mlp>(inputs, hidden, classes);
}

}  // namespace slackline
