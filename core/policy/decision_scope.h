// Who decides: the lead for all shards of a tier, or every shard for itself. A pure function of the
// recipe, so that servers and workers agree without a word.
#ifndef SLACKLINE_CORE_POLICY_DECISION_SCOPE_H_
#define SLACKLINE_CORE_POLICY_DECISION_SCOPE_H_

#include "core/config/options.h"

namespace slackline {

// Whether the recipe's decisions can differ between shards in what matters, so that the lead must
// make them: more than one push an update, a schedule of data, one version for all readers, one
// count of samples, or one moment of a region's exchange.
inline bool NeedsOneLead(const Options& options) {
  const RecipeOptions& recipe = options.recipe;
  return recipe.collector != "each" || recipe.gate == "bsp" || recipe.data_order == "global" ||
         recipe.step == "local" || options.cluster.samples > 0 ||
         options.cluster.topology == "regional";
}

// What --decisions comes to.
inline bool DecidesByTier(const Options& options) {
  const std::string& decisions = options.recipe.decisions;
  return decisions == "tier" || (decisions == "auto" && NeedsOneLead(options));
}

}  // namespace slackline

#endif  // SLACKLINE_CORE_POLICY_DECISION_SCOPE_H_
