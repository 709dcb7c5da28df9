#include "core/config/option_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "core/config/option_text.h"
#include "core/config/recipes.h"
#include "core/policy/collector.h"
#include "core/policy/gate.h"
#include "tests/support/status_matchers.h"

namespace slackline {
namespace {

TEST(OptionTable, NamesAreUniqueAndDefaultsAreGoodValues) {
  std::set<std::string> names;
  for (const OptionRow& row : OptionTable()) {
    SCOPED_TRACE(row.name);
    EXPECT_TRUE(names.insert(row.name).second);
    EXPECT_EQ(row.help.back(), '.');
    Options options;
    EXPECT_THAT(row.value.set(options, DefaultOf(row)), IsOk());
    EXPECT_EQ(row.value.print(options), DefaultOf(row));
  }
}

// A row that reads or prints another row's field would go unseen otherwise.
TEST(OptionTable, EveryRowHasAFieldOfItsOwn) {
  const std::string examples[] = {
      "7",        "0.75",  "3s",   "true",     "false", "softmax",  "global", "shard",
      "ssp",      "bsp",   "all",  "adam",     "step",  "evaluate", "error",  "slow:worker0:2x",
      "regional", "local", "ceil", "lossless", "ideal", "ring",     "region", "0"};
  for (const OptionRow& row : OptionTable()) {
    SCOPED_TRACE(row.name);
    Options changed;
    for (const std::string& example : examples) {
      if (row.value.set(changed, example).ok() && row.value.print(changed) != DefaultOf(row)) break;
    }
    for (const OptionRow& other : OptionTable()) {
      EXPECT_EQ(other.value.print(changed) != DefaultOf(other), other.name == row.name)
          << other.name;
    }
  }
}

TEST(OptionTable, ChoicesAreThoseThatPolicyKnows) {
  Options options;
  for (const std::string_view name : GateNames()) {
    EXPECT_THAT(FindOption("gate")->value.set(options, name), IsOk());
  }
  for (const std::string_view name : CollectorNames()) {
    EXPECT_THAT(FindOption("collector")->value.set(options, name), IsOk());
  }
}

TEST(OptionTable, RecipesNameGoodChoices) {
  for (const Recipe& recipe : Recipes()) {
    for (const RecipeChoice& choice : recipe.choices) {
      SCOPED_TRACE(recipe.name + " " + choice.option);
      const OptionRow* row = FindOption(choice.option);
      ASSERT_NE(row, nullptr);
      EXPECT_TRUE(row->group == "Recipe" || row->group == "Regions") << row->group;
      Options options;
      EXPECT_THAT(row->value.set(options, choice.value), IsOk());
    }
  }
}

TEST(OptionTable, DurationsReadAndPrint) {
  const std::pair<const char*, const char*> cases[] = {{"10s", "10s"}, {"0.25s", "250ms"},
                                                       {"90s", "90s"}, {"120s", "2m"},
                                                       {"1h", "1h"},   {"1500us", "1500us"}};
  for (const auto& [text, printed] : cases) {
    const Result<Duration> duration = ParseDuration(text);
    ASSERT_THAT(duration, IsOk());
    EXPECT_EQ(PrintDuration(*duration), printed);
  }
  for (const char* text : {"", "s", "-1s", "1.2.3s", "1e3s", "10 s", "99999999999h", "10x"}) {
    EXPECT_THAT(ParseDuration(text),
                StatusIs(StatusCode::kInvalidArgument, std::string("'") + text + "'"));
  }
}

TEST(OptionText, HelpShowsTheOptionsOfTheProgramAndNoOthers) {
  const std::string help = HelpText(Binary::kServer);

  EXPECT_THAT(help, ::testing::HasSubstr("usage: slackline-server"));
  EXPECT_THAT(help, ::testing::HasSubstr("--scheduler HOST:PORT"));
  EXPECT_THAT(help, ::testing::Not(::testing::HasSubstr("--link-gbps")));
}

TEST(OptionText, DocumentIsFresh) {
  std::ifstream file(SLACKLINE_SOURCE_DIR "/docs/OPTIONS.md");
  std::ostringstream content;
  content << file.rdbuf();

  EXPECT_EQ(content.str(), OptionsMarkdown())
      << "run: slackline options --markdown > docs/OPTIONS.md";
}

}  // namespace
}  // namespace slackline
