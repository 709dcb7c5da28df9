#include "core/config/recipes.h"

namespace slackline {

const std::vector<Recipe>& Recipes() {
  static const std::vector<Recipe> recipes = {
      {"custom", "no choice is filled in", {}},
      {"bsp",
       "bulk synchronous: one update a round from all workers",
       {{"gate", "bsp"}, {"collector", "all"}}},
      {"ssp",
       "stale synchronous parallel (Ho et al., NIPS 2013); set --slack",
       {{"gate", "ssp"}, {"collector", "each"}}},
      {"asp", "asynchronous: nobody waits", {{"gate", "asp"}, {"collector", "each"}}},
  };
  return recipes;
}

const Recipe* FindRecipe(std::string_view name) {
  for (const Recipe& recipe : Recipes()) {
    if (recipe.name == name) return &recipe;
  }
  return nullptr;
}

}  // namespace slackline
