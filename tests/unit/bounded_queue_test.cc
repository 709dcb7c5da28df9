#include "core/base/bounded_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <latch>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace slackline {
namespace {

TEST(BoundedQueueTest, GivesBackInTheOrderOfArrival) {
  BoundedQueue<int> queue(3);
  for (int value = 1; value <= 3; ++value) EXPECT_TRUE(queue.TryPush(int{value}));

  EXPECT_EQ(queue.size(), 3u);
  EXPECT_EQ(queue.TryPop(), 1);
  EXPECT_EQ(queue.Pop(), 2);
  EXPECT_EQ(queue.Pop(), 3);
  EXPECT_EQ(queue.TryPop(), std::nullopt);
}

TEST(BoundedQueueTest, AFullQueueRefusesAndLeavesTheValueAsItWas) {
  BoundedQueue<std::unique_ptr<int>> queue(1);
  ASSERT_TRUE(queue.TryPush(std::make_unique<int>(1)));
  auto second = std::make_unique<int>(2);

  EXPECT_FALSE(queue.TryPush(std::move(second)));

  ASSERT_NE(second, nullptr);
  EXPECT_EQ(**queue.TryPop(), 1);
  EXPECT_TRUE(queue.TryPush(std::move(second)));
  EXPECT_EQ(**queue.TryPop(), 2);
}

TEST(BoundedQueueTest, AfterCloseNothingGoesInAndWhatIsInComesOut) {
  BoundedQueue<int> queue(4);
  ASSERT_TRUE(queue.Push(1));
  ASSERT_TRUE(queue.Push(2));

  queue.Close();

  EXPECT_FALSE(queue.Push(3));
  EXPECT_FALSE(queue.TryPush(4));
  EXPECT_EQ(queue.Pop(), 1);
  EXPECT_EQ(queue.TryPop(), 2);
  EXPECT_EQ(queue.Pop(), std::nullopt);
  EXPECT_EQ(queue.TryPop(), std::nullopt);
}

// The threads below may or may not wait already when the main one goes on; both ways the outcome
// must be the same, and a wake-up that is lost shows as a test that never ends.

TEST(BoundedQueueTest, PopWaitsForAValue) {
  BoundedQueue<int> queue(1);
  std::latch begun(1);
  std::optional<int> got;
  std::jthread taker([&] {
    begun.count_down();
    got = queue.Pop();
  });
  begun.wait();

  ASSERT_TRUE(queue.TryPush(7));

  taker.join();
  EXPECT_EQ(got, 7);
}

TEST(BoundedQueueTest, PushWaitsForRoom) {
  for (const bool by_try : {false, true}) {
    BoundedQueue<int> queue(1);
    ASSERT_TRUE(queue.Push(1));
    std::latch begun(1);
    bool pushed = false;
    std::jthread giver([&] {
      begun.count_down();
      pushed = queue.Push(2);
    });
    begun.wait();
    EXPECT_EQ(queue.size(), 1u);  // Never more than its capacity.

    EXPECT_EQ(by_try ? queue.TryPop() : queue.Pop(), 1);

    giver.join();
    EXPECT_TRUE(pushed);
    EXPECT_EQ(queue.TryPop(), 2);
  }
}

TEST(BoundedQueueTest, CloseWakesEverybodyWhoWaits) {
  BoundedQueue<int> empty(1);
  BoundedQueue<int> full(1);
  ASSERT_TRUE(full.Push(1));
  constexpr int kEach = 3;
  std::latch begun(2 * kEach);
  std::vector<std::optional<int>> popped(kEach, 1);
  std::vector<int> pushed(kEach, 1);
  std::vector<std::jthread> threads;
  for (int i = 0; i < kEach; ++i) {
    threads.emplace_back([&, i] {
      begun.count_down();
      popped[static_cast<std::size_t>(i)] = empty.Pop();
    });
    threads.emplace_back([&, i] {
      begun.count_down();
      pushed[static_cast<std::size_t>(i)] = full.Push(2) ? 1 : 0;
    });
  }
  begun.wait();

  empty.Close();
  full.Close();

  threads.clear();  // Joins.
  EXPECT_EQ(popped, std::vector<std::optional<int>>(kEach));
  EXPECT_EQ(pushed, std::vector<int>(kEach, 0));
  EXPECT_EQ(full.Pop(), 1);
}

TEST(BoundedQueueTest, ManyGiversAndTakersLoseAndRepeatNothing) {
  constexpr int kGivers = 3;
  constexpr int kTakers = 3;
  constexpr int kEach = 5000;
  BoundedQueue<int> queue(4);
  std::vector<std::vector<int>> taken(kTakers);
  {
    std::vector<std::jthread> takers;
    for (std::vector<int>& mine : taken) {
      takers.emplace_back([&] {
        while (const std::optional<int> value = queue.Pop()) mine.push_back(*value);
      });
    }
    {
      std::vector<std::jthread> givers;
      for (int giver = 0; giver < kGivers; ++giver) {
        givers.emplace_back([&, giver] {
          for (int i = 0; i < kEach; ++i) EXPECT_TRUE(queue.Push(giver * kEach + i));
        });
      }
    }
    queue.Close();
  }

  std::vector<int> all;
  for (const std::vector<int>& mine : taken) {
    // What one giver gave, each taker sees in that order.
    std::vector<int> newest(kGivers, -1);
    for (const int value : mine) {
      int& before = newest[static_cast<std::size_t>(value / kEach)];
      EXPECT_LT(before, value);
      before = value;
    }
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), static_cast<std::size_t>(kGivers * kEach));
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<int>(i));
}

}  // namespace
}  // namespace slackline
