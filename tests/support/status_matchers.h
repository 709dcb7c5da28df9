// IsOk() and StatusIs(code, substring): matchers for Status and Result. There is deliberately no
// matcher for "some error": a test names the one that it means.
#ifndef SLACKLINE_TESTS_SUPPORT_STATUS_MATCHERS_H_
#define SLACKLINE_TESTS_SUPPORT_STATUS_MATCHERS_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <utility>

#include "slackline/status.h"

namespace slackline {

inline std::ostream& operator<<(std::ostream& out, const Status& status) {
  return out << status.ToString();
}
inline std::ostream& operator<<(std::ostream& out, StatusCode code) {
  return out << StatusCodeName(code);
}

namespace status_matchers_internal {
inline const Status& StatusOf(const Status& status) { return status; }
template <typename T>
const Status& StatusOf(const Result<T>& result) {
  return result.status();
}
}  // namespace status_matchers_internal

MATCHER(IsOk, "is ok") {
  const Status& status = status_matchers_internal::StatusOf(arg);
  *result_listener << "which is " << status;
  return status.ok();
}

// `substring` must occur in the message: the value or name that makes it useful.
MATCHER_P2(StatusIs, code, substring,
           std::string(StatusCodeName(code)) + " with \"" + std::string(substring) + "\"") {
  const Status& status = status_matchers_internal::StatusOf(arg);
  *result_listener << "which is " << status;
  return status.code() == code && status.message().find(substring) != std::string::npos;
}

}  // namespace slackline

#endif  // SLACKLINE_TESTS_SUPPORT_STATUS_MATCHERS_H_
