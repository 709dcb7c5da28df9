#include "core/runtime/job_pool.h"

#include <utility>

#include "core/base/check.h"

namespace slackline {

JobPool::JobPool(std::size_t threads, SteadyClock clock, std::function<void()> wake)
    : clock_(clock), wake_(std::move(wake)), waiting_(kJobsMax), done_(kJobsMax) {
  SLACKLINE_CHECK(threads > 0);
  threads_.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { Work(); });
  }
}

JobPool::~JobPool() {
  waiting_.Close();
  while (waiting_.TryPop().has_value()) {
  }
  threads_.clear();  // Joins.
}

void JobPool::Submit(Job job) {
  SLACKLINE_CHECK(outstanding_ < kJobsMax);
  ++outstanding_;
  SLACKLINE_CHECK(waiting_.TryPush(std::move(job)));
}

std::optional<JobPool::Done> JobPool::TakeDone() {
  std::optional<Done> done = done_.TryPop();
  if (done.has_value()) --outstanding_;
  return done;
}

void JobPool::Work() {
  while (std::optional<Job> job = waiting_.Pop()) {
    const Time started = clock_.Now();
    job->run();
    job->run = nullptr;
    // There is room: no more jobs are outstanding than the queue holds.
    SLACKLINE_CHECK(done_.TryPush({std::move(*job), started, clock_.Now() - started}));
    wake_();
  }
}

}  // namespace slackline
