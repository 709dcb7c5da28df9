// The models that MakeModel knows, one file each.
#ifndef SLACKLINE_WORKER_MODELS_MODELS_H_
#define SLACKLINE_WORKER_MODELS_MODELS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "core/config/transformer_shape.h"
#include "worker/models/model.h"

namespace slackline {

// Fully connected layers with ReLU between them and softmax cross-entropy at the end; without
// hidden layers it is softmax regression. Metric: accuracy.
std::unique_ptr<Model> MakeMlp(std::uint64_t inputs, const std::vector<std::uint32_t>& hidden,
                               std::uint32_t classes);

// Logistic regression on sparse examples: a table of weights by column and a dense bias. The ridge
// l2 / 2 |w|^2 counts for the rows that a batch touches. Metric: accuracy.
std::unique_ptr<Model> MakeLogistic(double l2);

// Rating = mean + user row . item row (Koren et al., Computer 2009, without biases); loss: half the
// squared error, and the ridge l2 / 2 (|user|^2 + |item|^2) of each example. Metric: rmse.
std::unique_ptr<Model> MakeFactorization(std::uint32_t factors, double l2, double mean);

// A GPT-NeoX language model (transformer.h). Metric: bits_per_token.
std::unique_ptr<Model> MakeTransformer(const TransformerShape& shape);

// Parameters that only take time and bytes: every gradient is zero.
std::unique_ptr<Model> MakeTiming(std::uint64_t elements);

}  // namespace slackline

#endif  // SLACKLINE_WORKER_MODELS_MODELS_H_
