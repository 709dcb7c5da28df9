// JobPool: a few threads that run jobs, in the order they were handed in.
//
// The reactor hands jobs in and takes finished ones out; it is woken through `wake` and never
// waits. A job's closure is destroyed on the pool's thread before the job is reported, so what it
// held is free again when the Node hears of it.
//
// Threads: Submit and TakeDone from one thread, the reactor's. `wake` is called on the pool's.
#ifndef SLACKLINE_CORE_RUNTIME_JOB_POOL_H_
#define SLACKLINE_CORE_RUNTIME_JOB_POOL_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "core/base/bounded_queue.h"
#include "core/base/clock.h"
#include "core/runtime/node.h"

namespace slackline {

class JobPool {
 public:
  // Jobs handed in and not yet taken out. A Node's own limits lie far below it.
  static constexpr std::size_t kJobsMax = std::size_t{1} << 16;

  struct Done {
    Job job;  // Its `run` is empty.
    Time started{};
    Duration measured{};
  };

  // REQUIRES threads > 0. `wake` must stay callable until the destructor returns.
  JobPool(std::size_t threads, SteadyClock clock, std::function<void()> wake);
  // Waits for the jobs that are running; those that wait for a thread are dropped.
  ~JobPool();
  JobPool(const JobPool&) = delete;
  JobPool& operator=(const JobPool&) = delete;

  // REQUIRES fewer than kJobsMax jobs to be outstanding.
  void Submit(Job job);
  // A finished job, in the order they finished.
  std::optional<Done> TakeDone();

 private:
  void Work();

  const SteadyClock clock_;
  const std::function<void()> wake_;
  std::size_t outstanding_ = 0;  // The reactor's.
  BoundedQueue<Job> waiting_;
  BoundedQueue<Done> done_;
  std::vector<std::jthread> threads_;  // Last: they use all of the above.
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_RUNTIME_JOB_POOL_H_
