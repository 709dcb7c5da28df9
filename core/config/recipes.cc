#include "core/config/recipes.h"

namespace slackline {
namespace {

// The workers' side of the local-SGD family, as in the HALoS paper's experiments. The scripts of
// that paper multiply the servers' learning rates by the momentum delay; so do the rows below.
std::vector<RecipeChoice> LocalAdamW(std::vector<RecipeChoice> servers) {
  std::vector<RecipeChoice> choices = {
      {"step", "local"},         {"local-rule", "adamw"},       {"local-lr", "1e-3"},
      {"local-beta2", "0.95"},   {"local-weight-decay", "0.1"}, {"clip", "global"},
      {"lr-schedule", "cosine"}, {"lr-final-factor", "0.1"}};
  choices.insert(choices.end(), servers.begin(), servers.end());
  return choices;
}

}  // namespace

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
      {"ddp",
       "synchronous data-parallel: one update of all gradients a step, by AdamW",
       {{"gate", "bsp"},
        {"collector", "all"},
        {"rule", "adamw"},
        {"lr", "1e-3"},
        {"beta2", "0.95"},
        {"weight-decay", "0.1"},
        {"clip", "global"}}},
      {"diloco", "synchronous local SGD with an outer Nesterov step (Douillard et al., 2023)",
       LocalAdamW({{"gate", "bsp"},
                   {"collector", "all"},
                   {"local-steps", "32"},
                   {"rule", "nesterov"},
                   {"lr", "0.7"},
                   {"momentum", "0.9"}})},
      {"diloco-dynamic", "diloco with local steps in proportion to a worker's speed",
       LocalAdamW({{"gate", "bsp"},
                   {"collector", "all"},
                   {"local-steps", "32"},
                   {"dynamic-local-steps", "ceil"},
                   {"rule", "nesterov"},
                   {"lr", "0.7"},
                   {"momentum", "0.9"}})},
      {"async-local-sgd", "asynchronous local SGD with delayed Nesterov (Liu et al., 2024)",
       LocalAdamW({{"gate", "asp"},
                   {"collector", "each"},
                   {"local-steps", "32"},
                   {"dynamic-local-steps", "ceil"},
                   {"rule", "delayed-nesterov"},
                   {"lr", "1.6"},
                   {"momentum", "0.9"},
                   {"momentum-delay", "32"}})},
      {"halos", "hierarchical asynchronous local SGD (Kim et al., ICML 2025); set --regions",
       LocalAdamW({{"topology", "regional"},
                   {"gate", "asp"},
                   {"collector", "each"},
                   {"local-steps", "8"},
                   {"dynamic-local-steps", "ceil"},
                   {"region-rule", "delayed-nesterov"},
                   {"region-lr", "3.2"},
                   {"region-momentum", "0.9"},
                   {"region-momentum-delay", "16"},
                   {"accumulate", "32"},
                   {"merge-weight", "0.25"},
                   {"rule", "delayed-nesterov"},
                   {"lr", "0.3"},
                   {"momentum", "0.5"},
                   {"momentum-delay", "2"}})},
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
