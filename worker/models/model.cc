#include "worker/models/model.h"

#include "core/base/check.h"
#include "core/base/strings.h"
#include "core/config/transformer_shape.h"
#include "worker/models/models.h"

namespace slackline {

std::vector<Rows> Model::Keys(const Dataset&, std::span<const std::uint64_t>) const { return {}; }

Result<std::unique_ptr<Model>> MakeModel(const ModelOptions& options, const Dataset& train) {
  const auto needs = [&](const char* what) {
    return InvalidArgument(
        StrCat("--model ", options.model, " needs ", what, "; ", train.name, " has none"));
  };
  if (options.model == "softmax" || options.model == "mlp") {
    if (train.width == 0 || train.classes == 0)
      return needs("dense examples with classes (IDX files, digits)");
    const bool plain = options.model == "softmax";
    return MakeMlp(train.width, plain ? std::vector<std::uint32_t>{} : options.hidden,
                   train.classes);
  }
  if (options.model == "logistic") {
    if (train.row_begin.size() != train.examples + 1)
      return needs("sparse examples (a LIBSVM file)");
    return MakeLogistic(options.l2);
  }
  if (options.model == "factorization") {
    if (train.user.size() != train.examples || train.examples == 0)
      return needs("ratings (a file of user, item, rating)");
    double sum = 0;
    for (const float rating : train.targets) sum += static_cast<double>(rating);
    return MakeFactorization(options.factors, options.l2,
                             sum / static_cast<double>(train.examples));
  }
  if (IsTransformer(options.model)) {
    const TransformerShape shape = ShapeOf(options);
    SLACKLINE_RETURN_IF_ERROR(CheckShape(shape));
    if (train.context != shape.context) return needs("rows of tokens (text, or a file of tokens)");
    return MakeTransformer(shape);
  }
  if (options.model == "timing") return MakeTiming(options.timing_elements);
  return InvalidArgument(StrCat("no model '", options.model,
                                "'; there are softmax, mlp, logistic, factorization, transformer, "
                                "pythia-14m, pythia-70m, timing"));
}

}  // namespace slackline
