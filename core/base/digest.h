// Digest: a fast 64-bit fingerprint that names content in logs and tests. Not cryptographic.
// Equal input gives equal values on every machine; one changed bit changes the value.
#ifndef SLACKLINE_CORE_BASE_DIGEST_H_
#define SLACKLINE_CORE_BASE_DIGEST_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace slackline {

class Digest {
 public:
  void Add(std::uint64_t word) {
    // A bijection of the state for each word, so no difference is ever forgotten.
    state_ = (state_ ^ word) * 0x9E3779B97F4A7C15u;
    state_ ^= state_ >> 29;
    state_ *= 0xBF58476D1CE4E5B9u;
    state_ ^= state_ >> 32;
  }
  void Add(std::span<const std::byte> bytes) {
    Add(static_cast<std::uint64_t>(bytes.size()));
    while (bytes.size() >= sizeof(std::uint64_t)) {
      std::uint64_t word;
      std::memcpy(&word, bytes.data(), sizeof word);
      Add(word);
      bytes = bytes.subspan(sizeof word);
    }
    if (bytes.empty()) return;
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), bytes.size());
    Add(word);
  }
  void Add(std::span<const float> values) { Add(std::as_bytes(values)); }

  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0x243F6A8885A308D3u;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_BASE_DIGEST_H_
