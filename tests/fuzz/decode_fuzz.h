// The fuzzer's one function, called by libFuzzer and by the replay of its corpus alike.
#ifndef SLACKLINE_TESTS_FUZZ_DECODE_FUZZ_H_
#define SLACKLINE_TESTS_FUZZ_DECODE_FUZZ_H_

#include <cstddef>
#include <cstdint>

// Decodes `data` as it is, and once more with the header mended. Aborts where a promise of the
// codec is broken; returns 0.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

#endif  // SLACKLINE_TESTS_FUZZ_DECODE_FUZZ_H_
