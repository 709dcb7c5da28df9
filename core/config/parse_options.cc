#include "core/config/parse_options.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <fstream>
#include <numeric>
#include <optional>
#include <sstream>

#include "core/base/check.h"
#include "core/base/strings.h"
#include "core/config/recipes.h"
#include "core/config/validate.h"
#include "core/policy/topology.h"

namespace slackline {
namespace {

namespace po = boost::program_options;

// One "name = value" and where it stood.
struct Setting {
  std::string name;
  std::string value;
  std::string source;  // As in Parsed::source.
  std::string shown;   // For errors: "--slack", "run.ini:7: slack".
};

// Names as Boost must know them. Values stay text: the table reads them.
po::options_description Description() {
  po::options_description description;
  auto add = description.add_options();
  for (const OptionRow& row : OptionTable()) {
    auto* value = po::value<std::string>();
    if (row.value.is_switch) value->implicit_value("true");
    add(row.name.c_str(), value);
  }
  add("config", po::value<std::string>());
  add("env", po::value<std::string>());
  add("help", "");
  return description;
}

std::size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

// `begin` is what comes before the name: "--", or "run.ini:7: ".
Status UnknownOption(Binary binary, const std::string& before, const std::string& dashes,
                     const std::string& spelled) {
  const std::string name =
      spelled.substr(0, spelled.find('='));  // Without a value that clings to it.
  if (name.starts_with("no-")) {
    const OptionRow* row = FindOption(name.substr(3));
    if (row != nullptr && row->value.is_switch) {
      return InvalidArgument(
          StrCat(before, "unknown option ", dashes, name, "; write ", dashes, row->name, "=false"));
    }
  }
  const std::string nearest = NearestOption(binary, name);
  return InvalidArgument(StrCat(before, "unknown option ", dashes, name,
                                nearest.empty()
                                    ? StrCat("; ", BinaryName(binary), " --help lists them")
                                    : StrCat("; did you mean ", dashes, nearest, "?")));
}

Status ForeignOption(Binary binary, const OptionRow& row) {
  std::vector<std::string> names;
  for (const Binary other : kBinaries) {
    if (row.binaries.Has(other)) names.push_back(BinaryName(other));
  }
  return InvalidArgument(StrCat("--", row.name, " is no option of ", BinaryName(binary),
                                "; it belongs to ", StrJoin(names)));
}

// What Boost says, in our words.
Status FromBoost(Binary binary, const std::string& before, const std::string& dashes,
                 const po::error& error) {
  if (const auto* unknown = dynamic_cast<const po::unknown_option*>(&error)) {
    std::string name = unknown->get_option_name();
    name.erase(0, name.find_first_not_of('-'));
    return UnknownOption(binary, before, dashes, name);
  }
  if (const auto* named = dynamic_cast<const po::error_with_option_name*>(&error)) {
    std::string name = named->get_option_name();
    name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
    if (const OptionRow* row = FindOption(name); row != nullptr) {
      return InvalidArgument(StrCat(before, dashes, name, " needs a value: ", row->value.bounds));
    }
    return InvalidArgument(StrCat(before, dashes, name, " needs a value"));
  }
  return InvalidArgument(StrCat(before, error.what()));
}

struct CommandLineContent {
  std::vector<Setting> settings;
  std::vector<std::string> positional;
  std::optional<std::string> config;
  std::optional<std::string> env;
  bool help = false;
};

Result<CommandLineContent> ReadCommandLine(Binary binary,
                                           const std::vector<std::string>& arguments) {
  using namespace po::command_line_style;  // NOLINT: its names are long enough.
  CommandLineContent content;
  const po::options_description description = Description();
  try {
    // No guessing of shortened names: a later option would change what they mean.
    const po::parsed_options parsed = po::command_line_parser(arguments)
                                          .options(description)
                                          .style(allow_long | long_allow_adjacent | long_allow_next)
                                          .run();
    for (const po::option& option : parsed.options) {
      const std::string value = option.value.empty() ? "true" : option.value.front();
      if (option.position_key >= 0 || option.string_key.empty()) {
        content.positional.push_back(value);
      } else if (option.string_key == "help") {
        content.help = true;
      } else if (option.string_key == "config") {
        content.config = value;
      } else if (option.string_key == "env") {
        content.env = value;
      } else {
        content.settings.push_back({option.string_key, value, "flag", "--" + option.string_key});
      }
    }
  } catch (const po::error& error) {
    return FromBoost(binary, "", "--", error);
  }
  for (const Setting& setting : content.settings) {
    const OptionRow& row = *FindOption(setting.name);
    if (!row.binaries.Has(binary)) return ForeignOption(binary, row);
  }
  return content;
}

// One line at a time, so that every setting knows its line.
Result<std::vector<Setting>> ReadFile(Binary binary, const char* flag, const std::string& path) {
  std::ifstream file(path);
  if (!file) return NotFound(StrCat("--", flag, " ", path, ": the file cannot be opened"));
  const po::options_description description = Description();
  std::vector<Setting> settings;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string place = StrCat(path, ":", number);
    std::istringstream one_line(line);
    try {
      for (const po::option& option : po::parse_config_file(one_line, description).options) {
        settings.push_back({option.string_key, option.value.empty() ? "" : option.value.front(),
                            place, StrCat(place, ": ", option.string_key)});
      }
    } catch (const po::invalid_config_file_syntax&) {
      return InvalidArgument(StrCat(place, ": '", line, "' is not 'name = value' or a # comment"));
    } catch (const po::error& error) {
      return FromBoost(binary, StrCat(place, ": "), "", error);
    }
  }
  return settings;
}

Status Apply(const Setting& setting, Parsed& parsed) {
  const OptionRow* row = FindOption(setting.name);
  SLACKLINE_CHECK(row != nullptr);
  if (const Status status = row->value.set(parsed.options, setting.value); !status.ok()) {
    return InvalidArgument(StrCat(setting.shown, ": ", status.message()));
  }
  parsed.source[setting.name] = setting.source;
  return Status::Ok();
}

// A layer's recipe first, so that what the layer says itself overrides it.
Status ApplyLayer(const std::vector<Setting>& settings, Parsed& parsed) {
  for (const Setting& setting : settings) {
    if (setting.name != "algorithm") continue;
    const Recipe* recipe = FindRecipe(setting.value);
    if (recipe == nullptr) {
      std::vector<std::string> names;
      for (const Recipe& known : Recipes()) names.push_back(known.name);
      return InvalidArgument(
          StrCat(setting.shown, ": '", setting.value, "' is not one of ", StrJoin(names)));
    }
    for (const RecipeChoice& choice : recipe->choices) {
      SLACKLINE_RETURN_IF_ERROR(
          Apply({choice.option, choice.value, StrCat("algorithm ", recipe->name), setting.shown},
                parsed));
    }
  }
  for (const Setting& setting : settings) SLACKLINE_RETURN_IF_ERROR(Apply(setting, parsed));
  return Status::Ok();
}

// bsp is a gate and a collector: who names only the gate means both.
void FillInCollector(Parsed& parsed) {
  if (parsed.options.recipe.gate != "bsp" || parsed.Given("collector")) return;
  parsed.options.recipe.collector = "all";
  parsed.source["collector"] = "gate bsp";
}

// Who says how many workers each region has says how many there are.
void FillInWorkers(Parsed& parsed) {
  ClusterOptions& cluster = parsed.options.cluster;
  if (cluster.workers_per_region.empty() || parsed.Given("workers")) return;
  std::uint64_t workers = 0;
  for (const std::uint32_t count : WorkersByRegion(cluster)) workers += count;
  cluster.workers = static_cast<std::uint32_t>(std::min<std::uint64_t>(workers, 1u << 20));
  parsed.source["workers"] = "workers-per-region";
}

Status CheckForBinary(Binary binary, const Parsed& parsed) {
  const std::size_t arguments = *BinaryArguments(binary) == '\0' ? 0 : 1;
  if (parsed.positional.size() > arguments) {
    return InvalidArgument(StrCat("unexpected argument '", parsed.positional[arguments],
                                  "'; values are written --name=value, lists a,b,c"));
  }
  const bool real_time = binary != Binary::kSim && FindOption("model")->binaries.Has(binary);
  if (real_time && !parsed.options.model.materialize) {
    return InvalidArgument(
        "materialize = false is for slackline sim alone: real sockets need bytes to send");
  }
  return Status::Ok();
}

Result<Parsed> Assemble(Binary binary, CommandLineContent content) {
  Parsed parsed;
  for (const OptionRow& row : OptionTable()) parsed.source[row.name] = kSourceDefault;
  parsed.positional = std::move(content.positional);
  parsed.help = content.help;
  if (parsed.help) return parsed;
  // The environment first: what is said of this run overrides what is said of the machines.
  for (const auto& [flag, path] : {std::pair("env", content.env), {"config", content.config}}) {
    if (!path.has_value()) continue;
    SLACKLINE_ASSIGN_OR_RETURN(const std::vector<Setting> settings, ReadFile(binary, flag, *path));
    SLACKLINE_RETURN_IF_ERROR(ApplyLayer(settings, parsed));
  }
  SLACKLINE_RETURN_IF_ERROR(ApplyLayer(content.settings, parsed));
  FillInCollector(parsed);
  FillInWorkers(parsed);
  SLACKLINE_RETURN_IF_ERROR(Validate(parsed.options));
  SLACKLINE_RETURN_IF_ERROR(CheckForBinary(binary, parsed));
  return parsed;
}

}  // namespace

std::string NearestName(const std::string& name, const std::vector<std::string>& known) {
  std::string nearest;
  std::size_t nearest_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = EditDistance(name, candidate);
    if (distance < nearest_distance) {
      nearest = candidate;
      nearest_distance = distance;
    }
  }
  return nearest;
}

std::string NearestOption(Binary binary, const std::string& name) {
  std::vector<std::string> known;
  for (const OptionRow& row : OptionTable()) {
    if (row.binaries.Has(binary)) known.push_back(row.name);
  }
  known.insert(known.end(), {"config", "env", "help"});
  return NearestName(name, known);
}

Result<Parsed> ParseOptions(Binary binary, const std::vector<std::string>& arguments) {
  SLACKLINE_ASSIGN_OR_RETURN(CommandLineContent content, ReadCommandLine(binary, arguments));
  return Assemble(binary, std::move(content));
}

Result<Parsed> ParseOptions(Binary binary, int argc, const char* const* argv, int first) {
  return ParseOptions(binary, std::vector<std::string>(argv + std::min(first, argc), argv + argc));
}

Result<Parsed> ReadConfigFile(const std::string& path) {
  CommandLineContent content;
  content.config = path;
  return Assemble(Binary::kSim, std::move(content));
}

}  // namespace slackline
