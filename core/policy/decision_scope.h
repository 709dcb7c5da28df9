// Who decides: the lead for all shards of a tier, or every shard for itself. A pure function of the
// recipe, so that servers and workers agree without a word.
#ifndef SLACKLINE_CORE_POLICY_DECISION_SCOPE_H_
#define SLACKLINE_CORE_POLICY_DECISION_SCOPE_H_

#include "core/config/options.h"

namespace slackline {

// Whether the recipe's decisions can differ between shards in what matters, so that the lead must
// make them: more than one push an update, a schedule of data, or one version for all readers.
inline bool NeedsOneLead(const RecipeOptions& recipe) {
  return recipe.collector != "each" || recipe.gate == "bsp" || recipe.data_order == "global";
}

// What --decisions comes to.
inline bool DecidesByTier(const RecipeOptions& recipe) {
  return recipe.decisions == "tier" || (recipe.decisions == "auto" && NeedsOneLead(recipe));
}

}  // namespace slackline

#endif  // SLACKLINE_CORE_POLICY_DECISION_SCOPE_H_
