// The table of options: one row a field of Options. Flags, config files, help, docs/OPTIONS.md, the
// cluster's agreement and a run's config.ini are all made from it, and from nothing else.
#ifndef SLACKLINE_CORE_CONFIG_OPTION_TABLE_H_
#define SLACKLINE_CORE_CONFIG_OPTION_TABLE_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/option_value.h"

namespace slackline {

// The programs and subcommands that take options.
enum class Binary : std::uint8_t {
  kRun = 0,
  kSim = 1,
  kScheduler = 2,
  kServer = 3,
  kWorker = 4,
  kStatus = 5,
  kVerify = 6,
  kBench = 7,
  kEvents = 8,
};
inline constexpr Binary kBinaries[] = {Binary::kRun,    Binary::kSim,    Binary::kScheduler,
                                       Binary::kServer, Binary::kWorker, Binary::kStatus,
                                       Binary::kVerify, Binary::kBench,  Binary::kEvents};

// As typed: "slackline run", "slackline-server".
const char* BinaryName(Binary binary);
// What stands beside the options: "DIR" for verify and events.
const char* BinaryArguments(Binary binary);

class BinarySet {
 public:
  constexpr BinarySet(std::initializer_list<Binary> binaries) {
    for (const Binary binary : binaries) bits_ |= Bit(binary);
  }
  constexpr bool Has(Binary binary) const { return (bits_ & Bit(binary)) != 0; }

 private:
  static constexpr std::uint32_t Bit(Binary binary) { return 1u << static_cast<unsigned>(binary); }
  std::uint32_t bits_ = 0;
};

struct OptionRow {
  std::string name;   // Without dashes: "max-inflight-pushes".
  std::string group;  // Rows of a group stand together.
  std::string help;   // What it is, its unit, why one would change it.
  OptionValue value;
  BinarySet binaries;
  bool agreed;  // Every process of a run must have the same; compared when a process joins.
};

// In the order of Options' fields. Built once, never changed.
const std::vector<OptionRow>& OptionTable();
// nullptr if there is none.
const OptionRow* FindOption(std::string_view name);
// The value of a fresh Options.
std::string DefaultOf(const OptionRow& row);

}  // namespace slackline

#endif  // SLACKLINE_CORE_CONFIG_OPTION_TABLE_H_
