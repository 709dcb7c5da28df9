// Options as text: help for people, a run's config.ini, a command line for another process.
#ifndef SLACKLINE_CORE_CONFIG_OPTION_TEXT_H_
#define SLACKLINE_CORE_CONFIG_OPTION_TEXT_H_

#include <string>
#include <vector>

#include "core/config/option_table.h"
#include "core/config/options.h"
#include "core/config/parse_options.h"

namespace slackline {

// What --help prints, by group.
std::string HelpText(Binary binary);

// The whole of docs/OPTIONS.md.
std::string OptionsMarkdown();

// Every option as it came to be, each with its source as a comment; --config reads it back.
std::string ConfigIni(const Parsed& parsed);

// Flags for `binary` that give these options: those that differ from the defaults (with the
// recipe's choices filled in) and concern it.
std::vector<std::string> CommandLine(const Options& options, Binary binary);

}  // namespace slackline

#endif  // SLACKLINE_CORE_CONFIG_OPTION_TEXT_H_
