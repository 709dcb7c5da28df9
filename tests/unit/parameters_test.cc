#include "slackline/parameters.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/status_matchers.h"

namespace slackline {
namespace {

ParameterSpec OneTensor(std::vector<std::uint64_t> shape) {
  return {.tensors = {{.name = "w", .shape = std::move(shape), .init = {}}}, .tables = {}};
}
ParameterSpec OneTable(std::uint64_t width) {
  return {.tensors = {}, .tables = {{.name = "rows", .width = width, .init = {}}}};
}

TEST(CheckParameterSpec, TakesWhatFits) {
  EXPECT_THAT(CheckParameterSpec({}), IsOk());
  EXPECT_THAT(CheckParameterSpec(OneTensor({})), IsOk());
  EXPECT_THAT(CheckParameterSpec(OneTensor({kElementsMax})), IsOk());
  EXPECT_THAT(CheckParameterSpec(OneTensor({~0ull, ~0ull, 0})), IsOk());  // Empty all the same.
  EXPECT_THAT(CheckParameterSpec(OneTable(kTableWidthMax)), IsOk());
}

TEST(CheckParameterSpec, RefusesSizesThatOverflow) {
  const std::uint64_t half = std::uint64_t{1} << 32;

  EXPECT_THAT(CheckParameterSpec(OneTensor({half, half})),
              StatusIs(StatusCode::kInvalidArgument, "tensor w of shape 4294967296x4294967296"));
  EXPECT_THAT(CheckParameterSpec(OneTensor({kElementsMax + 1})),
              StatusIs(StatusCode::kInvalidArgument, "more than 1152921504606846976 elements"));
  ParameterSpec two = OneTensor({kElementsMax});
  two.tensors.push_back({.name = "b", .shape = {1}, .init = {}});
  EXPECT_THAT(CheckParameterSpec(two), StatusIs(StatusCode::kInvalidArgument, "with tensor b"));
}

TEST(CheckParameterSpec, RefusesWhatExceedsALimit) {
  EXPECT_THAT(CheckParameterSpec(OneTensor(std::vector<std::uint64_t>(kExtentsMax + 1, 1))),
              StatusIs(StatusCode::kInvalidArgument, "tensor w has 9 extents"));
  EXPECT_THAT(CheckParameterSpec(OneTable(0)),
              StatusIs(StatusCode::kInvalidArgument, "table rows has rows of 0 values"));
  EXPECT_THAT(CheckParameterSpec(OneTable(kTableWidthMax + 1)),
              StatusIs(StatusCode::kInvalidArgument, "rows of 16777217 values"));

  ParameterSpec long_name = OneTensor({1});
  long_name.tensors[0].name = std::string(kNameBytesMax + 1, 'x');
  EXPECT_THAT(CheckParameterSpec(long_name),
              StatusIs(StatusCode::kInvalidArgument, "a tensor's name has 257 bytes"));

  ParameterSpec many;
  many.tensors.resize(kTensorsMax + 1);
  EXPECT_THAT(CheckParameterSpec(many), StatusIs(StatusCode::kInvalidArgument, "65537 tensors"));
}

TEST(CheckParameterSpec, RefusesABoundThatIsNoBound) {
  for (const float bound :
       {-1.0f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    ParameterSpec spec = OneTensor({1});
    spec.tensors[0].init.uniform_bound = bound;

    EXPECT_THAT(CheckParameterSpec(spec),
                StatusIs(StatusCode::kInvalidArgument, "tensor w begins uniform within"))
        << bound;
  }
}

TEST(CheckParameterSpec, RefusesACenterThatIsNotFinite) {
  for (const float center :
       {-std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    ParameterSpec spec = OneTensor({1});
    spec.tensors[0].init.center = center;

    EXPECT_THAT(CheckParameterSpec(spec),
                StatusIs(StatusCode::kInvalidArgument, "tensor w begins around"))
        << center;
  }
}

}  // namespace
}  // namespace slackline
