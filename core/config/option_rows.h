// What the files that make the rows of the option table share. For core/config alone.
#ifndef SLACKLINE_CORE_CONFIG_OPTION_ROWS_H_
#define SLACKLINE_CORE_CONFIG_OPTION_ROWS_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "core/config/option_table.h"

namespace slackline {

inline constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint64_t kSamplesMax = std::uint64_t{1} << 60;
inline constexpr double kMillisecondsMax = 1e12;

// What takes part in a run, by which way it is started.
inline constexpr BinarySet kTraining = {Binary::kRun, Binary::kSim, Binary::kScheduler,
                                        Binary::kServer, Binary::kWorker};
inline constexpr BinarySet kRoles = {Binary::kScheduler, Binary::kServer, Binary::kWorker};
inline constexpr BinarySet kMembers = {Binary::kServer, Binary::kWorker};
inline constexpr BinarySet kOnlySim = {Binary::kSim};

// recipe_rows.cc: the choices that make an algorithm; regions, their rules and links.
void AddRecipeRows(std::vector<OptionRow>& table);
void AddRegionRows(std::vector<OptionRow>& table);

}  // namespace slackline

#endif  // SLACKLINE_CORE_CONFIG_OPTION_ROWS_H_
