// Buffer: a shared, reference-counted range of bytes. It is what messages carry.
//
// A Buffer is a view (offset, size) of a block that all its copies and slices keep alive. The block
// is freed, by whichever thread drops the last reference, through the release function it was made
// with: heap memory, a received socket message and (later) pinned, shared or device memory look the
// same to whoever passes them on.
//
// Whoever can see a Buffer may read it; only the holder of the one and only reference may write
// (`unique()`), so what a reader was given never changes under it.
//
// Threads: copies of a Buffer may live on different threads; one Buffer object is used by one
// thread at a time.
#ifndef SLACKLINE_CORE_BASE_BUFFER_H_
#define SLACKLINE_CORE_BASE_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "core/base/check.h"

namespace slackline {

class Buffer {
 public:
  static constexpr std::size_t kAlignment = 64;

  Buffer() = default;  // Empty: size 0, no block.

  // A new block of `size` bytes, aligned to kAlignment, contents unspecified.
  static Buffer Allocate(std::size_t size);
  // A new block holding a copy of `bytes`.
  static Buffer CopyOf(std::span<const std::byte> bytes);
  static Buffer CopyOf(std::span<const float> values) { return CopyOf(std::as_bytes(values)); }
  // Foreign memory; `release` runs once, on the thread that drops the last reference.
  static Buffer Adopt(std::byte* data, std::size_t size, std::function<void()> release);
  // A size without bytes, for simulations in which only time is of interest. data() is null.
  static Buffer TimingOnly(std::size_t size);

  Buffer(const Buffer& other);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer other) noexcept;
  ~Buffer();

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // True where the size is all there is.
  bool timing_only() const { return size_ != 0 && data_ == nullptr; }
  std::span<const std::byte> bytes() const { return {data_, data_ == nullptr ? 0 : size_}; }

  // True when no other Buffer shares the block: writing then surprises nobody. What other threads
  // did with their references before dropping them has happened before this returns true.
  bool unique() const;
  // REQUIRES unique().
  std::span<std::byte> mutable_bytes();

  // As fp32. REQUIRES size() % 4 == 0 and an aligned start; AlignedFor<float>() says so.
  std::span<const float> floats() const;
  std::span<float> mutable_floats();
  template <typename T>
  bool AlignedFor() const {
    return size_ % sizeof(T) == 0 && reinterpret_cast<std::uintptr_t>(data_) % alignof(T) == 0;
  }

  // The bytes [offset, offset + size) of this one, sharing its block. REQUIRES the range to fit.
  Buffer Slice(std::size_t offset, std::size_t size) const;

 private:
  struct Block;
  Buffer(Block* block, std::byte* data, std::size_t size)
      : block_(block), data_(data), size_(size) {}

  Block* block_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_BASE_BUFFER_H_
