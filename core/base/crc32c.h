// CRC-32C (Castagnoli), as in iSCSI. Crc32c("123456789") == 0xE3069283.
#ifndef SLACKLINE_CORE_BASE_CRC32C_H_
#define SLACKLINE_CORE_BASE_CRC32C_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace slackline {

// Extends `crc` (0 to begin with) by `bytes`.
std::uint32_t Crc32c(std::span<const std::byte> bytes, std::uint32_t crc = 0);

}  // namespace slackline

#endif  // SLACKLINE_CORE_BASE_CRC32C_H_
