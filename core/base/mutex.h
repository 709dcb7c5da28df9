// Mutex, MutexLock and CondVar: the standard ones, annotated so that clang's -Wthread-safety knows
// which lock guards what (libstdc++'s own are not annotated).
#ifndef SLACKLINE_CORE_BASE_MUTEX_H_
#define SLACKLINE_CORE_BASE_MUTEX_H_

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define SLACKLINE_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define SLACKLINE_THREAD_ATTRIBUTE(x)
#endif
#define SLACKLINE_GUARDED_BY(mutex) SLACKLINE_THREAD_ATTRIBUTE(guarded_by(mutex))
#define SLACKLINE_REQUIRES(mutex) SLACKLINE_THREAD_ATTRIBUTE(requires_capability(mutex))

namespace slackline {

class SLACKLINE_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() SLACKLINE_THREAD_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  void Unlock() SLACKLINE_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class SLACKLINE_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) SLACKLINE_THREAD_ATTRIBUTE(acquire_capability(mutex))
      : mutex_(mutex) {
    mutex_.Lock();
  }
  ~MutexLock() SLACKLINE_THREAD_ATTRIBUTE(release_capability()) { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class CondVar {
 public:
  // Lets go of `mutex` while it waits. May return early: call it in a loop over the condition.
  void Wait(Mutex& mutex) SLACKLINE_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();  // The caller's MutexLock unlocks it.
  }
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_BASE_MUTEX_H_
