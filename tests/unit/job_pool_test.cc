#include "core/runtime/job_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <semaphore>
#include <set>
#include <utility>
#include <vector>

#include "core/base/clock.h"

namespace slackline {
namespace {

// A pool whose wake-ups the test can wait for, as the reactor does.
struct WokenPool {
  explicit WokenPool(std::size_t threads)
      : pool(std::make_unique<JobPool>(threads, clock, [this] { woken.release(); })) {}

  void Submit(std::uint64_t id, std::function<void()> run) {
    pool->Submit({.id = JobId{id}, .index = id, .run = std::move(run)});
  }
  // Waits for the next finished job.
  JobPool::Done Take() {
    woken.acquire();
    std::optional<JobPool::Done> done = pool->TakeDone();
    EXPECT_TRUE(done.has_value()) << "woken for nothing";
    return done.has_value() ? std::move(*done) : JobPool::Done{};
  }

  SteadyClock clock;
  std::counting_semaphore<> woken{0};
  std::unique_ptr<JobPool> pool;  // Last: it wakes the above.
};

TEST(JobPoolTest, OneThreadRunsJobsInTheOrderTheyWereHandedIn) {
  WokenPool pool(1);
  std::vector<std::uint64_t> ran;
  for (std::uint64_t id = 1; id <= 50; ++id) pool.Submit(id, [&ran, id] { ran.push_back(id); });

  for (std::uint64_t id = 1; id <= 50; ++id) {
    const JobPool::Done done = pool.Take();
    EXPECT_EQ(done.job.id, JobId{id});
    EXPECT_EQ(done.job.index, id);
  }

  EXPECT_FALSE(pool.pool->TakeDone().has_value());
  ASSERT_EQ(ran.size(), 50u);
  for (std::uint64_t i = 0; i < 50; ++i) EXPECT_EQ(ran[i], i + 1);
}

TEST(JobPoolTest, AsManyJobsRunAtOnceAsThereAreThreads) {
  WokenPool pool(3);
  std::latch together(3);  // Passed only if all three run at the same time.
  for (std::uint64_t id = 1; id <= 3; ++id) pool.Submit(id, [&] { together.arrive_and_wait(); });

  std::set<JobId> done;
  for (int i = 0; i < 3; ++i) done.insert(pool.Take().job.id);

  EXPECT_EQ(done, (std::set<JobId>{JobId{1}, JobId{2}, JobId{3}}));
}

TEST(JobPoolTest, JobsAreReportedInTheOrderTheyFinished) {
  WokenPool pool(2);
  std::latch go(1);
  pool.Submit(1, [&] { go.wait(); });
  pool.Submit(2, [] {});

  EXPECT_EQ(pool.Take().job.id, JobId{2});
  EXPECT_FALSE(pool.pool->TakeDone().has_value());
  go.count_down();
  EXPECT_EQ(pool.Take().job.id, JobId{1});
}

TEST(JobPoolTest, WhatAJobHeldIsFreeWhenItIsReported) {
  WokenPool pool(1);
  auto held = std::make_shared<int>(1);
  pool.Submit(1, [held] {});

  const JobPool::Done done = pool.Take();

  EXPECT_EQ(held.use_count(), 1);
  EXPECT_FALSE(done.job.run);
}

TEST(JobPoolTest, MeasuresWhenAJobBeganAndHowLongItTook) {
  WokenPool pool(1);
  Time inside_began{};
  Time inside_ended{};
  pool.Submit(1, [&] {
    inside_began = pool.clock.Now();
    inside_ended = pool.clock.Now();
  });

  const JobPool::Done done = pool.Take();

  EXPECT_LE(done.started, inside_began);
  EXPECT_GE(done.started + done.measured, inside_ended);
  EXPECT_LE(done.started + done.measured, pool.clock.Now());
}

TEST(JobPoolTest, ItsEndWaitsForWhatRunsAndDropsWhatWaits) {
  WokenPool pool(1);
  std::latch running(1);
  std::latch go(1);
  std::atomic<bool> finished{false};
  std::atomic<bool> second_ran{false};
  pool.Submit(1, [&] {
    running.count_down();
    go.wait();
    finished = true;
  });
  running.wait();
  // The only thread is taken. Dropping the second job, and nothing else, lets the first one end.
  std::shared_ptr<void> held(nullptr, [&](void*) { go.count_down(); });
  pool.Submit(2, [&second_ran, held = std::move(held)] { second_ran = true; });

  pool.pool.reset();

  EXPECT_TRUE(finished);
  EXPECT_FALSE(second_ran);
}

TEST(JobPoolTest, ManyJobsOnManyThreadsAreEachReportedOnce) {
  constexpr std::uint64_t kJobs = 2000;
  WokenPool pool(4);
  std::atomic<std::uint64_t> sum{0};
  for (std::uint64_t id = 1; id <= kJobs; ++id) pool.Submit(id, [&sum, id] { sum += id; });

  std::set<JobId> done;
  for (std::uint64_t i = 0; i < kJobs; ++i) done.insert(pool.Take().job.id);

  EXPECT_EQ(done.size(), kJobs);
  EXPECT_EQ(sum, kJobs * (kJobs + 1) / 2);
}

}  // namespace
}  // namespace slackline
