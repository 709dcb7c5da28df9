#include "core/base/buffer.h"

#include <atomic>
#include <cstring>
#include <new>
#include <utility>

namespace slackline {

struct Buffer::Block {
  std::atomic<std::uint32_t> references{1};
  std::function<void()> release;
};

Buffer Buffer::Allocate(std::size_t size) {
  if (size == 0) return Buffer();
  constexpr std::align_val_t kAlign{kAlignment};
  auto* data = static_cast<std::byte*>(::operator new(size, kAlign));
  return Adopt(data, size, [data] { ::operator delete(data, kAlign); });
}

Buffer Buffer::CopyOf(std::span<const std::byte> bytes) {
  Buffer copy = Allocate(bytes.size());
  if (!bytes.empty()) std::memcpy(copy.data_, bytes.data(), bytes.size());
  return copy;
}

Buffer Buffer::Adopt(std::byte* data, std::size_t size, std::function<void()> release) {
  auto* block = new Block;
  block->release = std::move(release);
  return Buffer(block, data, size);
}

Buffer Buffer::TimingOnly(std::size_t size) { return Buffer(nullptr, nullptr, size); }

Buffer::Buffer(const Buffer& other) : block_(other.block_), data_(other.data_), size_(other.size_) {
  if (block_ != nullptr) block_->references.fetch_add(1, std::memory_order_relaxed);
}

Buffer::Buffer(Buffer&& other) noexcept
    : block_(std::exchange(other.block_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

Buffer& Buffer::operator=(Buffer other) noexcept {
  std::swap(block_, other.block_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Buffer::~Buffer() {
  if (block_ == nullptr) return;
  if (block_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    if (block_->release) block_->release();
    delete block_;
  }
}

bool Buffer::unique() const {
  return block_ != nullptr && block_->references.load(std::memory_order_acquire) == 1;
}

std::span<std::byte> Buffer::mutable_bytes() {
  SLACKLINE_CHECK(empty() || unique());
  return {data_, size_};
}

std::span<const float> Buffer::floats() const {
  if (data_ == nullptr) return {};
  SLACKLINE_CHECK(AlignedFor<float>());
  return {reinterpret_cast<const float*>(data_), size_ / sizeof(float)};
}

std::span<float> Buffer::mutable_floats() {
  SLACKLINE_CHECK(empty() || (unique() && AlignedFor<float>()));
  return {reinterpret_cast<float*>(data_), size_ / sizeof(float)};
}

Buffer Buffer::Slice(std::size_t offset, std::size_t size) const {
  SLACKLINE_CHECK(offset <= size_ && size <= size_ - offset);
  if (size == 0) return Buffer();
  if (block_ != nullptr) block_->references.fetch_add(1, std::memory_order_relaxed);
  return Buffer(block_, data_ == nullptr ? nullptr : data_ + offset, size);
}

}  // namespace slackline
