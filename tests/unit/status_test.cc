#include "slackline/status.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "core/base/check.h"
#include "tests/support/status_matchers.h"

namespace slackline {
namespace {

TEST(Status, OkSaysSo) {
  EXPECT_THAT(Status(), IsOk());
  EXPECT_EQ(Status::Ok().ToString(), "ok");
}

TEST(Status, EveryCodeHasItsMakerAndName) {
  const struct {
    Status status;
    StatusCode code;
    const char* text;
  } kCases[] = {
      {InvalidArgument("x"), StatusCode::kInvalidArgument, "invalid-argument: x"},
      {NotFound("x"), StatusCode::kNotFound, "not-found: x"},
      {FailedPrecondition("x"), StatusCode::kFailedPrecondition, "failed-precondition: x"},
      {Unavailable("x"), StatusCode::kUnavailable, "unavailable: x"},
      {DeadlineExceeded("x"), StatusCode::kDeadlineExceeded, "deadline-exceeded: x"},
      {ResourceExhausted("x"), StatusCode::kResourceExhausted, "resource-exhausted: x"},
      {DataLoss("x"), StatusCode::kDataLoss, "data-loss: x"},
      {Internal("x"), StatusCode::kInternal, "internal: x"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(c.status, StatusIs(c.code, "x"));
    EXPECT_EQ(c.status.ToString(), c.text);
  }
}

TEST(Result, HoldsAValueOrAStatus) {
  const Result<int> value = 7;
  const Result<int> error = NotFound("no such tensor: w");

  EXPECT_THAT(value, IsOk());
  EXPECT_EQ(*value, 7);
  EXPECT_THAT(error, StatusIs(StatusCode::kNotFound, "tensor: w"));
}

TEST(Result, GivesUpWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(3);

  const std::unique_ptr<int> taken = std::move(result).value();

  EXPECT_EQ(*taken, 3);
}

Result<int> Half(int n) {
  if (n % 2 != 0) return InvalidArgument("odd: " + std::to_string(n));
  return n / 2;
}
Result<int> Quarter(int n) {
  SLACKLINE_ASSIGN_OR_RETURN(const int half, Half(n));
  SLACKLINE_ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}
Status OnlyEven(int n) {
  SLACKLINE_RETURN_IF_ERROR(Half(n).status());
  return Status::Ok();
}

TEST(Macros, PassErrorsOn) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_THAT(Quarter(7), StatusIs(StatusCode::kInvalidArgument, "odd: 7"));
  EXPECT_THAT(Quarter(6), StatusIs(StatusCode::kInvalidArgument, "odd: 3"));
  EXPECT_THAT(OnlyEven(2), IsOk());
  EXPECT_THAT(OnlyEven(5), StatusIs(StatusCode::kInvalidArgument, "odd: 5"));
}

TEST(Check, StopsWithPlaceAndCondition) {
  SLACKLINE_CHECK(1 + 1 == 2);
  EXPECT_DEATH(SLACKLINE_CHECK(1 + 1 == 3),
               "status_test.cc:[0-9]+: broken invariant: 1 \\+ 1 == 3");
}

}  // namespace
}  // namespace slackline
