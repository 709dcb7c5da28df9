// Status and Result: how every expected failure is reported.
//
// Two classes of trouble exist. What the outside can cause (a bad flag, a lost peer, garbage on a
// socket) is a Status that the caller must look at. What only a bug can cause is a SLACKLINE_CHECK
// (core/base/check.h) that stops the process. There are no other ways to fail: no -1, no nullptr,
// no exception across a module's door.
#ifndef SLACKLINE_STATUS_H_
#define SLACKLINE_STATUS_H_

#include <optional>
#include <string>
#include <utility>

namespace slackline {

// A code exists only where a caller would act differently on it.
enum class StatusCode {
  kOk = 0,
  kInvalidArgument = 1,  // The request can never succeed as it is; fix the flag, file or message.
  kNotFound = 2,         // A named thing is not there.
  kFailedPrecondition = 3,  // Right request, wrong state; someone must act first.
  kUnavailable = 4,         // Try again; the peer is not there yet or not there any more.
  kDeadlineExceeded = 5,    // A wait ended without what it waited for.
  kResourceExhausted = 6,   // A stated limit was reached.
  kDataLoss = 7,            // Bytes are not what they claim to be.
  kInternal = 8,            // A library or the operating system failed in a way we cannot handle.
};

// The code's name as written in messages and logs, e.g. "invalid-argument".
const char* StatusCodeName(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // Ok.
  // `message` says what, with which values, and what to do next.
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  static Status Ok() { return Status(); }

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // "ok", or "<code name>: <message>".
  std::string ToString() const;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

Status InvalidArgument(std::string message);
Status NotFound(std::string message);
Status FailedPrecondition(std::string message);
Status Unavailable(std::string message);
Status DeadlineExceeded(std::string message);
Status ResourceExhausted(std::string message);
Status DataLoss(std::string message);
Status Internal(std::string message);

// A value, or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: implicit by design.
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: REQUIRES !status.ok().

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  // REQUIRES ok().
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace slackline

#endif  // SLACKLINE_STATUS_H_
