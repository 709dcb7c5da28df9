// Recipes: what --algorithm fills in, as data. A new method that needs no new choice is one row.
#ifndef SLACKLINE_CORE_CONFIG_RECIPES_H_
#define SLACKLINE_CORE_CONFIG_RECIPES_H_

#include <string>
#include <string_view>
#include <vector>

namespace slackline {

struct RecipeChoice {
  std::string option;
  std::string value;
};

struct Recipe {
  std::string name;
  std::string summary;
  std::vector<RecipeChoice> choices;
};

const std::vector<Recipe>& Recipes();
// nullptr if there is none.
const Recipe* FindRecipe(std::string_view name);

}  // namespace slackline

#endif  // SLACKLINE_CORE_CONFIG_RECIPES_H_
