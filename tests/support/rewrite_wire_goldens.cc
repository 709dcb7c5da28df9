// rewrite_wire_goldens WIRE_DIR CORPUS_DIR: writes the golden bytes of every message anew, as hex
// for the golden test and as they are for the fuzzer. Run it when the protocol's version has been
// raised or a message been added, and read the difference before it is committed.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/support/golden_messages.h"
#include "tests/support/wire_bytes.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: rewrite_wire_goldens WIRE_DIR CORPUS_DIR\n");
    return 2;
  }
  const std::filesystem::path wire(argv[1]);
  const std::filesystem::path corpus(argv[2]);
  for (const auto& [name, message] : slackline::GoldenMessages()) {
    const auto frames = slackline::Encode(slackline::GoldenEnvelope(), message);
    const auto bytes = slackline::BytesOf(frames.first);
    std::ofstream hex(wire / (name + ".hex"));
    hex << "# " << name << "\n" << slackline::ToHex(bytes);
    std::ofstream raw(corpus / (name + ".bin"), std::ios::binary);
    raw.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
    if (!hex.flush() || !raw.flush()) {
      std::fprintf(stderr, "cannot write %s.hex or %s.bin\n", name.c_str(), name.c_str());
      return 1;
    }
  }
  return 0;
}
