// A decoder-only language model as GPT-NeoX and Pythia have it, with their names and layouts of
// tensors: token embedding, blocks (transformer_block.h), a last layer norm and an output layer of
// its own without bias.
//
// Initial values are uniform with the standard deviation 0.02 of GPT-NeoX's default (a bound of
// 0.02 sqrt 3); what writes to the stream, attention.dense and dense_4h_to_h, has it divided by
// sqrt(2 layers) (Radford et al., GPT-2, 2019, section 2.3). Biases are 0, norms' weights 1.
#ifndef SLACKLINE_WORKER_MODELS_TRANSFORMER_H_
#define SLACKLINE_WORKER_MODELS_TRANSFORMER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/config/transformer_shape.h"
#include "worker/models/model.h"
#include "worker/models/transformer_block.h"

namespace slackline {

class TransformerModel : public Model {
 public:
  // REQUIRES CheckShape(shape).ok().
  explicit TransformerModel(const TransformerShape& shape);

  const ParameterSpec& spec() const override { return spec_; }
  // The loss in bits. Of text by bytes: bits per byte.
  std::string_view metric_name() const override { return "bits_per_token"; }
  double Metric(const Evaluated& sums) const override;

  // Loss and gradient are means over every predicted token of the examples. Rows are taken a few
  // hundred tokens at a time, so memory does not grow with the batch.
  // REQUIRES data.context to be the shape's, and data's tokens below its vocabulary.
  double ComputeGradient(const Dataset& data, std::span<const std::uint64_t> examples,
                         const Parameters& parameters, Gradient& gradient) const override;
  // An example's loss is the mean over its tokens.
  Evaluated Evaluate(const Dataset& data, std::span<const std::uint64_t> examples,
                     const Parameters& parameters) const override;

 private:
  struct Batch;
  struct Workspace;

  // Adds a tensor to the description and returns where it begins.
  std::size_t Add(const std::string& name, std::vector<std::uint64_t> tensor_shape,
                  Initializer init);
  NormAt AddNorm(const std::string& name);
  LinearAt AddLinear(const std::string& name, std::size_t in, std::size_t out, double deviation);

  std::size_t RowsAtOnce() const;
  Batch MakeBatch(const Dataset& data, std::span<const std::uint64_t> examples) const;
  // The stream before the output layer, in workspace.normed. Blocks keep their states only where
  // the workspace has one for each.
  void Forward(const Batch& batch, const float* parameters, Workspace& workspace) const;
  // The sum of the tokens' losses. Where `gradient` is not null it gains that of the output layer,
  // each token's loss weighted by `share`, and workspace.dnormed becomes that of its input.
  double Output(const Batch& batch, const float* parameters, float share, float* gradient,
                Workspace& workspace) const;
  void Backward(const Batch& batch, const float* parameters, float* gradient,
                Workspace& workspace) const;

  const TransformerShape shape_;
  const RotaryTables rotary_;
  ParameterSpec spec_;
  std::size_t elements_ = 0;  // So far, while the description is made; then all.
  std::size_t embed_in_ = 0, embed_out_ = 0;
  std::vector<BlockAt> blocks_;
  NormAt final_norm_{};
};

}  // namespace slackline

#endif  // SLACKLINE_WORKER_MODELS_TRANSFORMER_H_
