#include "core/config/option_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "core/base/check.h"
#include "core/base/strings.h"

namespace slackline {
namespace {

// The whole text as a number; nothing before, behind or between.
template <typename Number>
std::optional<Number> Parse(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
  return value;
}

// The shortest text that reads back as the same number.
template <typename Number>
std::string Print(Number value) {
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  SLACKLINE_CHECK(error == std::errc());
  return std::string(text.data(), end);
}

Status NotWithin(std::string_view text, const std::string& bounds) {
  return InvalidArgument(StrCat("'", text, "' is not ", bounds));
}

// A parser of one item, its bounds in words, and its printer: enough to make a value or a list.
template <typename T>
struct Item {
  std::string bounds;
  std::function<std::optional<T>(std::string_view)> parse;
  std::function<std::string(const T&)> print;
};

template <typename Number>
Item<Number> WholeNumberItem(Number min, Number max) {
  std::string bounds = max == std::numeric_limits<Number>::max()
                           ? StrCat("a whole number from ", min, " on")
                           : StrCat("a whole number from ", min, " to ", max);
  return {std::move(bounds),
          [min, max](std::string_view text) -> std::optional<Number> {
            const std::optional<Number> value = Parse<Number>(text);
            return value.has_value() && *value >= min && *value <= max ? value : std::nullopt;
          },
          [](const Number& value) { return Print(value); }};
}

Item<double> RealNumberItem(RealBounds b) {
  std::string bounds = StrCat("a number ", b.above_min ? "above " : "from ", Print(b.min),
                              b.below_max ? " to below " : " to ", Print(b.max));
  return {std::move(bounds),
          [b](std::string_view text) -> std::optional<double> {
            const std::optional<double> value = Parse<double>(text);
            const bool good = value.has_value() && std::isfinite(*value) &&
                              (b.above_min ? *value > b.min : *value >= b.min) &&
                              (b.below_max ? *value < b.max : *value <= b.max);
            return good ? value : std::nullopt;
          },
          [](const double& value) { return Print(value); }};
}

Item<std::string> TextItem() {
  return {"a text without '#' or line end",
          [](std::string_view text) -> std::optional<std::string> {
            if (text.find_first_of("#\n\r") != text.npos) return std::nullopt;
            return std::string(text);
          },
          [](const std::string& value) { return value; }};
}

template <typename T>
OptionValue Single(FieldOf<T> field, std::string placeholder, Item<T> item) {
  OptionValue value;
  value.placeholder = std::move(placeholder);
  value.bounds = item.bounds;
  value.set = [field, item](Options& options, std::string_view text) {
    std::optional<T> parsed = item.parse(text);
    if (!parsed.has_value()) return NotWithin(text, item.bounds);
    field(options) = std::move(*parsed);
    return Status::Ok();
  };
  value.print = [field, item](const Options& options) {
    Options copy = options;
    return item.print(field(copy));
  };
  return value;
}

template <typename T>
OptionValue List(FieldOf<std::vector<T>> field, std::string placeholder, Item<T> item) {
  OptionValue value;
  value.placeholder = StrCat(placeholder, ",", placeholder, ",...");
  value.bounds = StrCat("a list, separated by commas, of ", item.bounds, " each");
  value.set = [field, item, bounds = value.bounds](Options& options, std::string_view text) {
    std::vector<T> list;
    for (const std::string& part : StrSplit(text, ',')) {
      std::optional<T> parsed = item.parse(part);
      if (!parsed.has_value() || part.empty()) return NotWithin(text, bounds);
      list.push_back(std::move(*parsed));
    }
    field(options) = std::move(list);
    return Status::Ok();
  };
  value.print = [field, item](const Options& options) {
    Options copy = options;
    std::vector<std::string> parts;
    for (const T& part : field(copy)) parts.push_back(item.print(part));
    return StrJoin(parts, ",");
  };
  return value;
}

struct Unit {
  std::string_view suffix;
  std::int64_t nanoseconds;
};
// Largest first, so that printing finds the largest that divides; "ns" before "s" is not needed, as
// the whole suffix is compared.
constexpr Unit kUnits[] = {{"h", 3'600'000'000'000}, {"m", 60'000'000'000}, {"s", 1'000'000'000},
                           {"ms", 1'000'000},        {"us", 1'000},         {"ns", 1}};

}  // namespace

OptionValue WholeNumber(FieldOf<std::uint32_t> field, std::uint32_t min, std::uint32_t max) {
  return Single(field, "N", WholeNumberItem(min, max));
}
OptionValue WholeNumber(FieldOf<std::uint64_t> field, std::uint64_t min, std::uint64_t max) {
  return Single(field, "N", WholeNumberItem(min, max));
}
OptionValue WholeNumber(FieldOf<std::int64_t> field, std::int64_t min, std::int64_t max) {
  return Single(field, "N", WholeNumberItem(min, max));
}

OptionValue RealNumber(FieldOf<double> field, RealBounds bounds) {
  return Single(field, "X", RealNumberItem(bounds));
}

Result<Duration> ParseDuration(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::optional<double> number = Parse<double>(text.substr(0, digits));
  for (const Unit& unit : kUnits) {
    if (!number.has_value() || text.substr(digits) != unit.suffix) continue;
    const double nanoseconds = *number * static_cast<double>(unit.nanoseconds);
    if (!(nanoseconds < 9e18)) break;
    return Duration(std::llround(nanoseconds));
  }
  return InvalidArgument(
      StrCat("'", text, "' is not a duration: a number and its unit, as 10s, 250ms, 2m or 1h"));
}

std::string PrintDuration(Duration duration) {
  for (const Unit& unit : kUnits) {
    if (duration.count() != 0 && duration.count() % unit.nanoseconds == 0) {
      return StrCat(duration.count() / unit.nanoseconds, unit.suffix);
    }
  }
  return "0s";
}

OptionValue DurationValue(FieldOf<Duration> field, Duration min, Duration max) {
  OptionValue value;
  value.placeholder = "DURATION";
  value.bounds =
      StrCat("a duration with its unit from ", PrintDuration(min), " to ", PrintDuration(max));
  value.set = [field, min, max, bounds = value.bounds](Options& options, std::string_view text) {
    SLACKLINE_ASSIGN_OR_RETURN(const Duration duration, ParseDuration(text));
    if (duration < min || duration > max) return NotWithin(text, bounds);
    field(options) = duration;
    return Status::Ok();
  };
  value.print = [field](const Options& options) {
    Options copy = options;
    return PrintDuration(field(copy));
  };
  return value;
}

OptionValue Switch(FieldOf<bool> field) {
  Item<bool> item{"true or false",
                  [](std::string_view text) -> std::optional<bool> {
                    if (text == "true") return true;
                    if (text == "false") return false;
                    return std::nullopt;
                  },
                  [](const bool& value) { return std::string(value ? "true" : "false"); }};
  OptionValue value = Single(field, "true|false", std::move(item));
  value.is_switch = true;
  return value;
}

OptionValue Choice(FieldOf<std::string> field, std::vector<std::string> choices) {
  Item<std::string> item{StrCat("one of ", StrJoin(choices)),
                         [choices](std::string_view text) -> std::optional<std::string> {
                           const auto found = std::find(choices.begin(), choices.end(), text);
                           return found == choices.end() ? std::nullopt : std::optional(*found);
                         },
                         [](const std::string& value) { return value; }};
  return Single(field, StrJoin(choices, "|"), std::move(item));
}

OptionValue Text(FieldOf<std::string> field, std::string placeholder) {
  return Single(field, std::move(placeholder), TextItem());
}

OptionValue TextList(FieldOf<std::vector<std::string>> field, std::string placeholder) {
  return List(field, std::move(placeholder), TextItem());
}

OptionValue WholeNumberList(FieldOf<std::vector<std::uint32_t>> field, std::uint32_t min,
                            std::uint32_t max) {
  return List(field, "N", WholeNumberItem(min, max));
}

OptionValue SomeWholeNumbers(FieldOf<std::vector<std::uint32_t>> field, std::uint32_t min,
                             std::uint32_t max) {
  OptionValue value = WholeNumberList(field, min, max);
  value.set = [set = value.set, bounds = value.bounds](Options& options, std::string_view text) {
    return text.empty() ? NotWithin(text, bounds) : set(options, text);
  };
  return value;
}

OptionValue RealNumberList(FieldOf<std::vector<double>> field, RealBounds bounds) {
  return List(field, "X", RealNumberItem(bounds));
}

}  // namespace slackline
