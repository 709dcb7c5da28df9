#include "core/config/option_text.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <sstream>

#include "core/base/check.h"
#include "core/base/strings.h"
#include "core/config/recipes.h"

namespace slackline {
namespace {

namespace po = boost::program_options;

constexpr unsigned kHelpWidth = 100;

std::string Shown(const std::string& value) { return value.empty() ? "empty" : value; }

std::string RecipeList() {
  std::vector<std::string> names;
  for (const Recipe& recipe : Recipes()) names.push_back(recipe.name);
  return StrJoin(names);
}

// The help sentence, bounds and default of a row, in one paragraph.
std::string Explanation(const OptionRow& row) {
  const bool names_choices = row.value.placeholder.find('|') != std::string::npos;
  const std::string bounds = row.name == "algorithm" ? StrCat(" One of ", RecipeList(), ".")
                             : names_choices         ? ""
                                                     : StrCat(" Takes ", row.value.bounds, ".");
  return StrCat(row.help, bounds, " Default: ", Shown(DefaultOf(row)), ".");
}

// Adjacent rows of one group, one group after another.
template <typename Visit>
void ForEachGroup(const Visit& visit) {
  std::vector<const OptionRow*> group;
  for (const OptionRow& row : OptionTable()) {
    if (!group.empty() && group.front()->group != row.group) {
      visit(group);
      group.clear();
    }
    group.push_back(&row);
  }
  visit(group);
}

// "|" would end a cell of a Markdown table.
std::string Cell(const std::string& text) {
  std::string cell;
  for (const char c : text) cell += c == '|' ? std::string("\\|") : std::string(1, c);
  return cell;
}

std::string UsersOf(const OptionRow& row) {
  std::vector<std::string> users;
  for (const Binary binary : kBinaries) {
    if (!row.binaries.Has(binary)) continue;
    const std::string name = BinaryName(binary);
    users.push_back(name.substr(name.find_first_of(" -") + 1));
  }
  return StrJoin(users);
}

void AddRecipesTo(std::ostringstream& out) {
  out << "\n## Recipes\n\n`--algorithm NAME` fills in these choices:\n\n"
      << "| name | what it is | choices |\n|---|---|---|\n";
  for (const Recipe& recipe : Recipes()) {
    std::vector<std::string> choices;
    for (const RecipeChoice& choice : recipe.choices) {
      choices.push_back(StrCat("`--", choice.option, " ", choice.value, "`"));
    }
    out << "| " << recipe.name << " | " << recipe.summary << " | " << StrJoin(choices) << " |\n";
  }
}

}  // namespace

std::string HelpText(Binary binary) {
  std::ostringstream out;
  const std::string arguments = BinaryArguments(binary);
  out << "usage: " << BinaryName(binary) << (arguments.empty() ? "" : " " + arguments)
      << " [options]\n";
  ForEachGroup([&](const std::vector<const OptionRow*>& group) {
    po::options_description description(group.front()->group, kHelpWidth, kHelpWidth / 2);
    auto add = description.add_options();
    for (const OptionRow* row : group) {
      if (!row->binaries.Has(binary)) continue;
      auto* value = po::value<std::string>()->value_name(row->value.placeholder);
      if (row->value.is_switch) value->implicit_value("true", "true");
      add(row->name.c_str(), value, Explanation(*row).c_str());
    }
    if (!description.options().empty()) out << "\n" << description;
  });
  po::options_description general("General", kHelpWidth, kHelpWidth / 2);
  general.add_options()(
      "config", po::value<std::string>()->value_name("FILE"),
      "Read options from lines 'name = value'; those on the command line override them.")(
      "help", "Print this and end.");
  out << "\n" << general;
  return out.str();
}

std::string OptionsMarkdown() {
  std::ostringstream out;
  out << "# Options\n\n"
         "Written by `slackline options --markdown`; do not edit. A flag is `--name value` or "
         "`--name=value`;\n"
         "a switch alone means true. Lists are `a,b,c`. Durations have a unit: `10s`, `250ms`. "
         "`--config FILE`\n"
         "reads the same names as `name = value` lines with `#` comments; the command line "
         "overrides it.\n"
         "Options marked *agreed* must be the same in every process of a run; a process that "
         "differs is\n"
         "refused when it joins.\n";
  ForEachGroup([&](const std::vector<const OptionRow*>& group) {
    out << "\n## " << group.front()->group
        << "\n\n| option | default | values | meaning | used by |\n|---|---|---|---|---|\n";
    for (const OptionRow* row : group) {
      const std::string bounds =
          row->name == "algorithm" ? StrCat("one of ", RecipeList()) : row->value.bounds;
      out << "| `--" << row->name << "` | " << Cell(Shown(DefaultOf(*row))) << " | " << Cell(bounds)
          << " | " << Cell(row->help) << (row->agreed ? " *agreed*" : "") << " | " << UsersOf(*row)
          << " |\n";
    }
  });
  AddRecipesTo(out);
  return out.str();
}

std::string ConfigIni(const Parsed& parsed) {
  std::ostringstream out;
  out << "# Every option of this run and where it came from.\n";
  ForEachGroup([&](const std::vector<const OptionRow*>& group) {
    out << "\n# " << group.front()->group << "\n";
    for (const OptionRow* row : group) {
      out << row->name << " = " << row->value.print(parsed.options) << "  # "
          << parsed.source.at(row->name) << "\n";
    }
  });
  return out.str();
}

std::vector<std::string> CommandLine(const Options& options, Binary binary) {
  Options baseline;
  if (const Recipe* recipe = FindRecipe(options.recipe.algorithm); recipe != nullptr) {
    for (const RecipeChoice& choice : recipe->choices) {
      SLACKLINE_CHECK(FindOption(choice.option)->value.set(baseline, choice.value).ok());
    }
  }
  if (options.recipe.gate == "bsp") baseline.recipe.collector = "all";  // As ParseOptions fills in.
  std::vector<std::string> flags;
  for (const OptionRow& row : OptionTable()) {
    const std::string value = row.value.print(options);
    if (row.binaries.Has(binary) && value != row.value.print(baseline)) {
      flags.push_back(StrCat("--", row.name, "=", value));
    }
  }
  return flags;
}

}  // namespace slackline
