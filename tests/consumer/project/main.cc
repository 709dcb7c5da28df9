// Uses every public header, and something of each that must be linked.
#include <cstdio>

#include "slackline/parameters.h"
#include "slackline/random.h"
#include "slackline/status.h"

int main() {
  slackline::ParameterSpec spec;
  spec.tensors.push_back({"weight", {10, 3}, {0.5f}});
  const slackline::Status fits = slackline::CheckParameterSpec(spec);
  spec.tables.push_back({"rows", 0, {}});
  const slackline::Status refused = slackline::CheckParameterSpec(spec);
  const slackline::RandomStream stream(1, slackline::RandomPurpose::kTest, 0);
  std::printf("%s; %s; %.3f\n", fits.ToString().c_str(), refused.ToString().c_str(),
              stream.Uniform(0));
  return fits.ok() && refused.code() == slackline::StatusCode::kInvalidArgument &&
                 stream.Uniform(0) < 1.0
             ? 0
             : 1;
}
