#include "core/base/buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

namespace slackline {
namespace {

TEST(Buffer, EmptyHasNoBytes) {
  const Buffer empty;

  EXPECT_TRUE(empty.empty());
  EXPECT_FALSE(empty.unique());
  EXPECT_FALSE(empty.timing_only());
  EXPECT_TRUE(Buffer::Allocate(0).empty());
  EXPECT_TRUE(empty.Slice(0, 0).empty());
}

TEST(Buffer, AllocatesAligned) {
  for (const std::size_t size : {1u, 63u, 64u, 4097u}) {
    const Buffer buffer = Buffer::Allocate(size);

    EXPECT_EQ(buffer.size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.bytes().data()) % Buffer::kAlignment, 0u);
  }
}

TEST(Buffer, CopiesShareTheBlockAndOnlyTheLastMayWrite) {
  Buffer first = Buffer::CopyOf(std::vector<float>{1, 2, 3});
  Buffer second = first;

  EXPECT_FALSE(first.unique());
  EXPECT_EQ(first.bytes().data(), second.bytes().data());
  EXPECT_DEATH(first.mutable_bytes(), "broken invariant");

  second = Buffer();

  EXPECT_TRUE(first.unique());
  first.mutable_floats()[1] = 5;
  EXPECT_EQ(first.floats()[1], 5);
}

TEST(Buffer, SliceKeepsTheBlockAlive) {
  Buffer slice;
  {
    const Buffer whole = Buffer::CopyOf(std::vector<float>{1, 2, 3, 4});
    slice = whole.Slice(4, 8);
    EXPECT_FALSE(slice.unique());
  }

  ASSERT_EQ(slice.size(), 8u);
  EXPECT_EQ(slice.floats()[0], 2);
  EXPECT_EQ(slice.floats()[1], 3);
  EXPECT_TRUE(slice.unique());
}

TEST(Buffer, SliceOutsideIsABug) {
  const Buffer buffer = Buffer::Allocate(8);

  EXPECT_DEATH(buffer.Slice(4, 5), "broken invariant");
  EXPECT_DEATH(buffer.Slice(9, 0), "broken invariant");
  EXPECT_DEATH(buffer.Slice(1, SIZE_MAX), "broken invariant");
}

TEST(Buffer, AdoptedMemoryIsReleasedOnceByTheLastReference) {
  int released = 0;
  std::byte memory[16];
  Buffer adopted = Buffer::Adopt(memory, sizeof memory, [&released] { ++released; });
  Buffer slice = adopted.Slice(8, 8);

  adopted = Buffer();
  EXPECT_EQ(released, 0);

  slice = Buffer();
  EXPECT_EQ(released, 1);
}

TEST(Buffer, MoveLeavesTheSourceEmpty) {
  Buffer source = Buffer::Allocate(8);
  const Buffer target = std::move(source);

  EXPECT_TRUE(source.empty());  // NOLINT: that a moved-from Buffer is empty is the promise.
  EXPECT_TRUE(target.unique());
}

TEST(Buffer, TimingOnlyHasASizeAndNoBytes) {
  const Buffer buffer = Buffer::TimingOnly(std::size_t{1} << 40);

  EXPECT_EQ(buffer.size(), std::size_t{1} << 40);
  EXPECT_TRUE(buffer.timing_only());
  EXPECT_TRUE(buffer.bytes().empty());
  EXPECT_TRUE(buffer.floats().empty());
  EXPECT_TRUE(buffer.Slice(10, 20).timing_only());
}

TEST(Buffer, UnalignedFloatsAreNoticed) {
  const Buffer buffer = Buffer::Allocate(12);

  EXPECT_TRUE(buffer.Slice(4, 8).AlignedFor<float>());
  EXPECT_FALSE(buffer.Slice(1, 8).AlignedFor<float>());
  EXPECT_FALSE(buffer.Slice(0, 7).AlignedFor<float>());
  EXPECT_DEATH(buffer.Slice(1, 8).floats(), "broken invariant");
}

TEST(Buffer, ReferencesMayBeDroppedOnAnotherThread) {
  Buffer buffer = Buffer::CopyOf(std::vector<float>(1000, 1.0f));
  float sum = 0;
  std::thread reader([copy = buffer, &sum]() mutable {
    for (const float value : copy.floats()) sum += value;
    copy = Buffer();
  });

  reader.join();

  EXPECT_TRUE(buffer.unique());
  EXPECT_EQ(sum, 1000.0f);
}

}  // namespace
}  // namespace slackline
