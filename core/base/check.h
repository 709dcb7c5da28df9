// SLACKLINE_CHECK: an invariant that only a bug of ours can break. On in every build.
// Never on anything a flag, a file or a peer can influence: that is a Status.
#ifndef SLACKLINE_CORE_BASE_CHECK_H_
#define SLACKLINE_CORE_BASE_CHECK_H_

#include "slackline/status.h"

namespace slackline::internal {
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);
}  // namespace slackline::internal

#define SLACKLINE_CHECK(condition) \
  (static_cast<bool>(condition)    \
       ? static_cast<void>(0)      \
       : ::slackline::internal::CheckFailed(__FILE__, __LINE__, #condition))

#define SLACKLINE_RETURN_IF_ERROR(expression)                                                     \
  do {                                                                                            \
    if (::slackline::Status status_or_ok = (expression); !status_or_ok.ok()) return status_or_ok; \
  } while (false)

#define SLACKLINE_CONCAT_INNER(a, b) a##b
#define SLACKLINE_CONCAT(a, b) SLACKLINE_CONCAT_INNER(a, b)

// SLACKLINE_ASSIGN_OR_RETURN(auto x, F()): binds F()'s value, or returns its Status.
#define SLACKLINE_ASSIGN_OR_RETURN(declaration, expression) \
  SLACKLINE_ASSIGN_OR_RETURN_IMPL(SLACKLINE_CONCAT(result_, __LINE__), declaration, expression)
#define SLACKLINE_ASSIGN_OR_RETURN_IMPL(result, declaration, expression) \
  auto result = (expression);                                            \
  if (!result.ok()) return result.status();                              \
  declaration = std::move(result).value()

#endif  // SLACKLINE_CORE_BASE_CHECK_H_
