#include "worker/models/transformer.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/check.h"
#include "core/base/strings.h"
#include "kernels/ops.h"
#include "worker/models/models.h"

namespace slackline {
namespace {

constexpr double kDeviation = 0.02;
// Enough for fast products of matrices, few enough for what a block keeps to stay in the caches.
constexpr std::size_t kTokensAtOnce = 256;
// Logits are held for so many tokens at a time: with a large vocabulary they outweigh all else.
constexpr std::size_t kOutputsAtOnce = 256;

Initializer Uniform(double deviation) {
  return {.uniform_bound = static_cast<float>(deviation * std::numbers::sqrt3)};
}

}  // namespace

// Inputs and the tokens to predict, row after row.
struct TransformerModel::Batch {
  AttentionShape shape;
  std::vector<std::uint32_t> inputs, targets;
};

struct TransformerModel::Workspace {
  // Without `gradient` all blocks use one state, and nothing is kept for a backward pass.
  Workspace(const TransformerShape& shape, std::size_t tokens, bool gradient)
      : stream(tokens * shape.width),
        normed(tokens * shape.width),
        moments(tokens),
        logits(std::min(tokens, kOutputsAtOnce) * shape.vocabulary),
        dnormed(gradient ? tokens * shape.width : 0),
        dstream(dnormed.size()),
        scratch(gradient ? tokens : 0, shape.width) {
    const std::size_t states = gradient ? shape.layers : 1;
    for (std::size_t s = 0; s < states; ++s) blocks.emplace_back(tokens, shape.width, shape.heads);
  }

  std::vector<float> stream;  // What the blocks pass on.
  std::vector<float> normed;
  std::vector<RowMoments> moments;
  std::vector<float> logits;
  std::vector<float> dnormed, dstream;
  BlockScratch scratch;
  std::vector<BlockState> blocks;
};

TransformerModel::TransformerModel(const TransformerShape& shape)
    : shape_(shape), rotary_(shape.context, shape.rotary_pairs()) {
  SLACKLINE_CHECK(CheckShape(shape).ok());
  const std::size_t width = shape.width;
  const double to_stream = kDeviation / std::sqrt(2.0 * shape.layers);
  embed_in_ = Add("gpt_neox.embed_in.weight", {shape.vocabulary, width}, Uniform(kDeviation));
  for (std::uint32_t l = 0; l < shape.layers; ++l) {
    const std::string block = StrCat("gpt_neox.layers.", l, ".");
    // One after another, as they lie in the flat order.
    BlockAt& at = blocks_.emplace_back();
    at.norm1 = AddNorm(block + "input_layernorm");
    at.norm2 = AddNorm(block + "post_attention_layernorm");
    at.fused = AddLinear(block + "attention.query_key_value", width, 3 * width, kDeviation);
    at.dense = AddLinear(block + "attention.dense", width, width, to_stream);
    at.up = AddLinear(block + "mlp.dense_h_to_4h", width, 4 * width, kDeviation);
    at.down = AddLinear(block + "mlp.dense_4h_to_h", 4 * width, width, to_stream);
  }
  final_norm_ = AddNorm("gpt_neox.final_layer_norm");
  embed_out_ = Add("embed_out.weight", {shape.vocabulary, width}, Uniform(kDeviation));
}

std::size_t TransformerModel::Add(const std::string& name, std::vector<std::uint64_t> tensor_shape,
                                  Initializer init) {
  const std::size_t at = elements_;
  spec_.tensors.push_back({name, std::move(tensor_shape), init});
  elements_ += spec_.tensors.back().elements();
  return at;
}

NormAt TransformerModel::AddNorm(const std::string& name) {
  NormAt at{};
  at.weight = Add(name + ".weight", {shape_.width}, {.center = 1.0f});
  at.bias = Add(name + ".bias", {shape_.width}, {});
  return at;
}

LinearAt TransformerModel::AddLinear(const std::string& name, std::size_t in, std::size_t out,
                                     double deviation) {
  LinearAt at{.in = in, .out = out};
  at.weight = Add(name + ".weight", {out, in}, Uniform(deviation));
  at.bias = Add(name + ".bias", {out}, {});
  return at;
}

double TransformerModel::Metric(const Evaluated& sums) const {
  if (sums.examples == 0) return 0.0;
  return sums.loss / static_cast<double>(sums.examples) / std::numbers::ln2;
}

double TransformerModel::ComputeGradient(const Dataset& data,
                                         std::span<const std::uint64_t> examples,
                                         const Parameters& parameters, Gradient& gradient) const {
  const std::size_t at_once = std::min(RowsAtOnce(), examples.size());
  Workspace workspace(shape_, at_once * shape_.context, /*gradient=*/true);
  const double tokens = static_cast<double>(examples.size()) * shape_.context;
  const float share = static_cast<float>(1.0 / tokens);
  std::fill(gradient.dense.begin(), gradient.dense.end(), 0.0f);
  double loss = 0;
  for (std::size_t at = 0; at < examples.size(); at += at_once) {
    const Batch batch =
        MakeBatch(data, examples.subspan(at, std::min(at_once, examples.size() - at)));
    Forward(batch, parameters.dense.data(), workspace);
    loss += Output(batch, parameters.dense.data(), share, gradient.dense.data(), workspace);
    Backward(batch, parameters.dense.data(), gradient.dense.data(), workspace);
  }
  return loss / tokens;
}

Evaluated TransformerModel::Evaluate(const Dataset& data, std::span<const std::uint64_t> examples,
                                     const Parameters& parameters) const {
  const std::size_t at_once = std::min(RowsAtOnce(), examples.size());
  Workspace workspace(shape_, at_once * shape_.context, /*gradient=*/false);
  Evaluated sums;
  for (std::size_t at = 0; at < examples.size(); at += at_once) {
    const Batch batch =
        MakeBatch(data, examples.subspan(at, std::min(at_once, examples.size() - at)));
    Forward(batch, parameters.dense.data(), workspace);
    sums.loss += Output(batch, parameters.dense.data(), 0, nullptr, workspace) / shape_.context;
    sums.examples += batch.shape.sequences;
  }
  return sums;
}

std::size_t TransformerModel::RowsAtOnce() const {
  return std::max<std::size_t>(1, kTokensAtOnce / shape_.context);
}

TransformerModel::Batch TransformerModel::MakeBatch(const Dataset& data,
                                                    std::span<const std::uint64_t> examples) const {
  SLACKLINE_CHECK(data.context == shape_.context);
  Batch batch{.shape = {.sequences = examples.size(),
                        .positions = shape_.context,
                        .heads = shape_.heads,
                        .head_size = shape_.head_size()}};
  for (const std::uint64_t example : examples) {
    const std::uint16_t* row = data.tokens.data() + example * data.context;
    batch.inputs.insert(batch.inputs.end(), row, row + data.context);
    batch.targets.insert(batch.targets.end(), row + 1, row + data.context + 1);
  }
  return batch;
}

void TransformerModel::Forward(const Batch& batch, const float* parameters,
                               Workspace& workspace) const {
  const std::size_t tokens = batch.shape.tokens();
  GatherRows(parameters + embed_in_, batch.inputs.data(), workspace.stream.data(), tokens,
             shape_.width);
  const bool keeps = workspace.blocks.size() == blocks_.size();
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    BlockForward(blocks_[b], batch.shape, rotary_, parameters, workspace.stream.data(),
                 workspace.blocks[keeps ? b : 0]);
  }
  LayerNorm(workspace.stream.data(), parameters + final_norm_.weight, parameters + final_norm_.bias,
            workspace.normed.data(), workspace.moments.data(), tokens, shape_.width);
}

double TransformerModel::Output(const Batch& batch, const float* parameters, float share,
                                float* gradient, Workspace& workspace) const {
  const std::size_t width = shape_.width, vocabulary = shape_.vocabulary;
  const float* weight = parameters + embed_out_;
  float* logits = workspace.logits.data();
  double loss = 0;
  for (std::size_t t = 0; t < batch.shape.tokens(); t += kOutputsAtOnce) {
    const std::size_t count = std::min(kOutputsAtOnce, batch.shape.tokens() - t);
    const float* normed = workspace.normed.data() + t * width;
    MatMulTransposedB(normed, weight, logits, count, width, vocabulary);
    loss += SoftmaxCrossEntropy(logits, batch.targets.data() + t,
                                gradient == nullptr ? nullptr : logits, count, vocabulary)
                .loss;
    if (gradient == nullptr) continue;
    // The op's gradient is that of the mean over `count` tokens.
    Scale(share * static_cast<float>(count), logits, count * vocabulary);
    AddMatMulTransposedA(logits, normed, gradient + embed_out_, vocabulary, count, width);
    MatMul(logits, weight, workspace.dnormed.data() + t * width, count, vocabulary, width);
  }
  return loss;
}

void TransformerModel::Backward(const Batch& batch, const float* parameters, float* gradient,
                                Workspace& workspace) const {
  const std::size_t tokens = batch.shape.tokens(), width = shape_.width;
  float* dx = workspace.dstream.data();
  std::fill_n(dx, tokens * width, 0.0f);
  AddLayerNormGradient(workspace.stream.data(), parameters + final_norm_.weight,
                       workspace.moments.data(), workspace.dnormed.data(), dx,
                       gradient + final_norm_.weight, gradient + final_norm_.bias, tokens, width);
  for (std::size_t b = blocks_.size(); b-- > 0;) {
    BlockBackward(blocks_[b], batch.shape, rotary_, parameters, workspace.blocks[b], dx, gradient,
                  workspace.scratch);
  }
  AddToRows(dx, batch.inputs.data(), gradient + embed_in_, tokens, width);
}

std::unique_ptr<Model> MakeTransformer(const TransformerShape& shape) {
  return std::make_unique<TransformerModel>(shape);
}

}  // namespace slackline
