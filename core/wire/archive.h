// Turns message bodies into bytes and back. A message's `Fields` names its fields once;
// WriteArchive and ReadArchive walk them alike, so the two directions cannot disagree.
//
// Layout: integers and IEEE-754 numbers little-endian and unpadded; bool one byte, 0 or 1; enum as
// its underlying integer; string and vector a 32-bit count and then the items; a nested struct its
// fields.
#ifndef SLACKLINE_CORE_WIRE_ARCHIVE_H_
#define SLACKLINE_CORE_WIRE_ARCHIVE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "slackline/parameters.h"

namespace slackline {

namespace archive_internal {
template <typename T>
inline constexpr bool kIsPlain = std::is_arithmetic_v<T> || std::is_enum_v<T>;
}  // namespace archive_internal

// How the public vocabulary types, which know no archives, lie on the wire.
template <typename Archive>
void ArchiveFields(Archive& archive, Initializer& init) {
  archive(init.uniform_bound, init.center);
}
template <typename Archive>
void ArchiveFields(Archive& archive, TensorSpec& tensor) {
  archive(tensor.name, tensor.shape, tensor.init);
}
template <typename Archive>
void ArchiveFields(Archive& archive, TableSpec& table) {
  archive(table.name, table.width, table.init);
}
template <typename Archive>
void ArchiveFields(Archive& archive, ParameterSpec& spec) {
  archive(spec.tensors, spec.tables);
}
template <typename Archive, typename T>
void ArchiveFields(Archive& archive, T& value) {
  value.Fields(archive);
}

class WriteArchive {
 public:
  explicit WriteArchive(std::vector<std::byte>& out) : out_(out) {}

  template <typename... Ts>
  void operator()(const Ts&... fields) {
    (Put(fields), ...);
  }

 private:
  template <typename T>
  void Put(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      Put(static_cast<std::uint8_t>(value));
    } else if constexpr (archive_internal::kIsPlain<T>) {
      const auto bytes = std::as_bytes(std::span(&value, 1));
      out_.insert(out_.end(), bytes.begin(), bytes.end());
    } else {
      ArchiveFields(*this, const_cast<T&>(value));  // Fields serves both directions.
    }
  }
  void Put(const std::string& text) {
    Put(static_cast<std::uint32_t>(text.size()));
    const auto bytes = std::as_bytes(std::span(text));
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }
  template <typename T>
  void Put(const std::vector<T>& items) {
    Put(static_cast<std::uint32_t>(items.size()));
    for (const T& item : items) Put(item);
  }

  std::vector<std::byte>& out_;
};

// Reads what a peer claims to be a body. Never reads past the end, and allocates for no more items
// than the bytes at hand can hold. After the first misfit ok() is false, nothing more is read, and
// what was read is worth nothing.
class ReadArchive {
 public:
  explicit ReadArchive(std::span<const std::byte> bytes) : bytes_(bytes) {}

  // True when everything fitted and nothing is left over.
  bool Complete() const { return ok_ && bytes_.empty(); }
  bool ok() const { return ok_; }

  template <typename... Ts>
  void operator()(Ts&... fields) {
    (Get(fields), ...);
  }

 private:
  template <typename T>
  void Get(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t byte = 0;
      Get(byte);
      if (byte > 1) ok_ = false;
      if (ok_) value = byte == 1;
    } else if constexpr (archive_internal::kIsPlain<T>) {
      if (!ok_ || bytes_.size() < sizeof value) {
        ok_ = false;
        return;
      }
      std::memcpy(&value, bytes_.data(), sizeof value);
      bytes_ = bytes_.subspan(sizeof value);
    } else {
      ArchiveFields(*this, value);
    }
  }
  void Get(std::string& text) {
    std::uint32_t size = 0;
    Get(size);
    if (!ok_ || bytes_.size() < size) {
      ok_ = false;
      return;
    }
    text.assign(reinterpret_cast<const char*>(bytes_.data()), size);
    bytes_ = bytes_.subspan(size);
  }
  template <typename T>
  void Get(std::vector<T>& items) {
    std::uint32_t count = 0;
    Get(count);
    if (!ok_ || count > bytes_.size() / SmallestBytes<T>()) {
      ok_ = false;
      return;
    }
    items.clear();
    items.reserve(count);
    for (std::uint32_t i = 0; i < count && ok_; ++i) Get(items.emplace_back());
  }

  // What a T takes at least: a default-made one has no text and no items.
  template <typename T>
  static std::size_t SmallestBytes() {
    static const std::size_t size = [] {
      std::vector<std::byte> bytes;
      WriteArchive archive(bytes);
      archive(T{});
      return bytes.size();
    }();
    return size;
  }

  std::span<const std::byte> bytes_;
  bool ok_ = true;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_WIRE_ARCHIVE_H_
