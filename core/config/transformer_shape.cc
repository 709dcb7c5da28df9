#include "core/config/transformer_shape.h"

#include "core/base/check.h"
#include "core/base/strings.h"

namespace slackline {
namespace {

struct Named {
  std::string_view name;
  TransformerShape shape;
};

// The Pythias (Biderman et al., ICML 2023) have GPT-NeoX's 50,277 tokens padded to 50,304.
constexpr Named kShapes[] = {
    {"transformer", {.layers = 4, .width = 128, .heads = 4, .context = 128, .vocabulary = 256}},
    {"pythia-14m", {.layers = 6, .width = 128, .heads = 4, .context = 2048, .vocabulary = 50304}},
    {"pythia-70m", {.layers = 6, .width = 512, .heads = 8, .context = 2048, .vocabulary = 50304}},
};

const Named* Find(std::string_view model) {
  for (const Named& known : kShapes) {
    if (known.name == model) return &known;
  }
  return nullptr;
}

}  // namespace

bool IsTransformer(std::string_view model) { return Find(model) != nullptr; }

TransformerShape ShapeOf(const ModelOptions& options) {
  const Named* known = Find(options.model);
  SLACKLINE_CHECK(known != nullptr);
  const auto given = [](std::uint32_t option, std::uint32_t own) {
    return option == 0 ? own : option;
  };
  const TransformerShape& own = known->shape;
  return {.layers = given(options.layers, own.layers),
          .width = given(options.width, own.width),
          .heads = given(options.heads, own.heads),
          .context = given(options.context, own.context),
          .vocabulary = given(options.vocabulary, own.vocabulary)};
}

Status CheckShape(const TransformerShape& shape) {
  constexpr std::uint32_t kRotaryUnit = 8;
  if (shape.width % (kRotaryUnit * shape.heads) == 0) return Status::Ok();
  return InvalidArgument(
      StrCat("--width ", shape.width, " with --heads ", shape.heads,
             ": every head must have the same width, a multiple of ", kRotaryUnit,
             ", since positions turn a quarter of it in pairs; make --width a multiple of ",
             std::uint64_t{kRotaryUnit} * shape.heads));
}

}  // namespace slackline
