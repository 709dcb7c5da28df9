// BoundedQueue: how values cross from one thread to another. First in, first out.
//
// When it is full, Push waits and TryPush refuses; which of them is right is the caller's choice.
// After Close nothing goes in, and what is in still comes out.
//
// Threads: any number at each end.
#ifndef SLACKLINE_CORE_BASE_BOUNDED_QUEUE_H_
#define SLACKLINE_CORE_BASE_BOUNDED_QUEUE_H_

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "core/base/check.h"
#include "core/base/mutex.h"

namespace slackline {

template <typename T>
class BoundedQueue {
 public:
  // REQUIRES capacity > 0.
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {
    SLACKLINE_CHECK(capacity > 0);
  }

  // Waits for room. False, and `value` is gone, if the queue is or gets closed.
  bool Push(T value) {
    {
      MutexLock lock(mutex_);
      while (!closed_ && items_.size() == capacity_) room_.Wait(mutex_);
      if (closed_) return false;
      items_.push_back(std::move(value));
    }
    filled_.NotifyOne();
    return true;
  }

  // Never waits. False if the queue is full or closed; `value` is then as it was.
  bool TryPush(T&& value) {
    {
      MutexLock lock(mutex_);
      if (closed_ || items_.size() == capacity_) return false;
      items_.push_back(std::move(value));
    }
    filled_.NotifyOne();
    return true;
  }

  // Waits for a value. Nothing only when the queue is closed and empty.
  std::optional<T> Pop() {
    std::optional<T> value;
    {
      MutexLock lock(mutex_);
      while (!closed_ && items_.empty()) filled_.Wait(mutex_);
      value = TakeFront();
    }
    room_.NotifyOne();
    return value;
  }

  // Never waits.
  std::optional<T> TryPop() {
    std::optional<T> value;
    {
      MutexLock lock(mutex_);
      value = TakeFront();
    }
    room_.NotifyOne();
    return value;
  }

  // Wakes everybody who waits.
  void Close() {
    {
      MutexLock lock(mutex_);
      closed_ = true;
    }
    room_.NotifyAll();
    filled_.NotifyAll();
  }

  std::size_t size() const {
    MutexLock lock(mutex_);
    return items_.size();
  }

 private:
  std::optional<T> TakeFront() SLACKLINE_REQUIRES(mutex_) {
    if (items_.empty()) return std::nullopt;
    std::optional<T> value(std::move(items_.front()));
    items_.pop_front();
    return value;
  }

  const std::size_t capacity_;
  mutable Mutex mutex_;
  CondVar room_;
  CondVar filled_;
  std::deque<T> items_ SLACKLINE_GUARDED_BY(mutex_);
  bool closed_ SLACKLINE_GUARDED_BY(mutex_) = false;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_BASE_BOUNDED_QUEUE_H_
