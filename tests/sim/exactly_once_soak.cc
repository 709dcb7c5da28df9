// exactly_once_soak SEEDS PUSHES: on every seed 8 workers push PUSHES integer-valued updates each
// under loss, repetition and reordering, and the sums must be exact. Prints what was injected;
// exits with 1, naming the seed, when a sum is not.
#include <charconv>
#include <cstdio>
#include <cstring>

#include "tests/sim/faulty_cluster.h"

int main(int argc, char** argv) {
  using namespace slackline;
  using namespace slackline::testing;
  std::uint64_t seeds = 0, pushes = 0;
  const auto parse = [](const char* text, std::uint64_t& value) {
    return std::from_chars(text, text + std::strlen(text), value).ec == std::errc() && value > 0;
  };
  if (argc != 3 || !parse(argv[1], seeds) || !parse(argv[2], pushes)) {
    std::fprintf(stderr, "usage: exactly_once_soak SEEDS PUSHES\n");
    return 2;
  }
  const auto model = MakeIntegers(37);
  const auto data = MakeNumbered(1000);
  LinkCounts total;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Options options = FaultyCluster(seed, pushes);
    SimCluster cluster(options, model, data);
    cluster.KeepTraces(false);
    const Status status = cluster.Run();
    if (!status.ok() || cluster.DenseParameters() != ExpectedSum(options, *model, *data)) {
      std::printf("seed %llu failed: %s\n", static_cast<unsigned long long>(seed),
                  status.ok() ? "the sums are wrong" : status.ToString().c_str());
      return 1;
    }
    const LinkCounts counts = cluster.runtime().network().Total();
    total.messages += counts.messages;
    total.dropped += counts.dropped;
    total.duplicated += counts.duplicated;
    total.reordered += counts.reordered;
  }
  std::printf(
      "%llu seeds x 8 workers x %llu pushes: every sum exact; of %llu messages %llu were lost, "
      "%llu came "
      "twice, %llu were held back\n",
      static_cast<unsigned long long>(seeds), static_cast<unsigned long long>(pushes),
      static_cast<unsigned long long>(total.messages),
      static_cast<unsigned long long>(total.dropped),
      static_cast<unsigned long long>(total.duplicated),
      static_cast<unsigned long long>(total.reordered));
  return 0;
}
