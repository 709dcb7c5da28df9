// OptionValue: one option's text to its field and back, with its bounds. The kinds of value that
// options can have are all here: numbers, durations, switches, choices, texts and lists.
//
// Text is canonical: what Print gives, Set takes, and Set changes nothing where it fails.
#ifndef SLACKLINE_CORE_CONFIG_OPTION_VALUE_H_
#define SLACKLINE_CORE_CONFIG_OPTION_VALUE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.h"
#include "core/config/options.h"
#include "slackline/status.h"

namespace slackline {

struct OptionValue {
  std::string placeholder;  // "N", "SECONDS", "sgd|adam"
  std::string bounds;       // "a whole number from 1 to 64": what a good value is, for people.
  bool is_switch = false;   // The name alone means true.
  // Errors: kInvalidArgument, saying what was found and what the bounds are.
  std::function<Status(Options&, std::string_view text)> set;
  std::function<std::string(const Options&)> print;
};

// Finds the field in an Options.
template <typename T>
using FieldOf = T& (*)(Options&);

OptionValue WholeNumber(FieldOf<std::uint32_t> field, std::uint32_t min, std::uint32_t max);
OptionValue WholeNumber(FieldOf<std::uint64_t> field, std::uint64_t min, std::uint64_t max);
OptionValue WholeNumber(FieldOf<std::int64_t> field, std::int64_t min, std::int64_t max);

struct RealBounds {
  double min = 0;
  double max = 0;
  bool above_min = false;  // min itself is out.
  bool below_max = false;
};
OptionValue RealNumber(FieldOf<double> field, RealBounds bounds);

// A number and its unit: "10s", "250ms", "2m", "1h", "50us", "7ns".
OptionValue DurationValue(FieldOf<Duration> field, Duration min, Duration max);
// The same text form. Errors: kInvalidArgument.
Result<Duration> ParseDuration(std::string_view text);
std::string PrintDuration(Duration duration);

// true or false.
OptionValue Switch(FieldOf<bool> field);
OptionValue Choice(FieldOf<std::string> field, std::vector<std::string> choices);
// Any text without '#' or line end, which a config file could not hold.
OptionValue Text(FieldOf<std::string> field, std::string placeholder);
// "a,b,c"; "" is the empty list.
OptionValue TextList(FieldOf<std::vector<std::string>> field, std::string placeholder);
OptionValue WholeNumberList(FieldOf<std::vector<std::uint32_t>> field, std::uint32_t min,
                            std::uint32_t max);
// At least one.
OptionValue SomeWholeNumbers(FieldOf<std::vector<std::uint32_t>> field, std::uint32_t min,
                             std::uint32_t max);
OptionValue RealNumberList(FieldOf<std::vector<double>> field, RealBounds bounds);

}  // namespace slackline

#endif  // SLACKLINE_CORE_CONFIG_OPTION_VALUE_H_
