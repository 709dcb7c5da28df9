// The sizes of a language model: what --model names, changed by the flags that are given.
#ifndef SLACKLINE_CORE_CONFIG_TRANSFORMER_SHAPE_H_
#define SLACKLINE_CORE_CONFIG_TRANSFORMER_SHAPE_H_

#include <cstdint>
#include <string_view>

#include "core/config/options.h"
#include "slackline/status.h"

namespace slackline {

struct TransformerShape {
  std::uint32_t layers;
  std::uint32_t width;
  std::uint32_t heads;
  std::uint32_t context;     // Tokens that a prediction may look at; a row has one more.
  std::uint32_t vocabulary;  // Tokens are below it.

  std::uint32_t head_size() const { return width / heads; }
  // Pairs that rotary positions turn: a quarter of a head's values (GPT-NeoX's rotary_pct 0.25).
  std::uint32_t rotary_pairs() const { return head_size() / 8; }
};

// Whether `model` is a language model: transformer, pythia-14m or pythia-70m.
bool IsTransformer(std::string_view model);

// The model's own sizes, and instead of them those of the options that are not 0.
// REQUIRES IsTransformer(options.model).
TransformerShape ShapeOf(const ModelOptions& options);

// Errors: kInvalidArgument with the values that do not go together.
Status CheckShape(const TransformerShape& shape);

}  // namespace slackline

#endif  // SLACKLINE_CORE_CONFIG_TRANSFORMER_SHAPE_H_
