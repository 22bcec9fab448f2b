/// Reads numbers and texts out of bytes that nobody vouches for. Past the end every read gives 0 or
/// nothing and `ok()` turns false for good, so that a parser checks once a step, not once a field.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace proton::cubin {

using Bytes = std::span<const std::byte>;

/// `count` bytes from `start`; nothing when they are not all there.
inline Bytes part_of(Bytes bytes, uint64_t start, uint64_t count) {
  if (start > bytes.size() || count > bytes.size() - start) return {};
  return bytes.subspan(start, count);
}

/// Longer than any name that a compiler writes, short enough to look for the end of many.
inline constexpr size_t kLongestText = 1 << 16;

/// The text at `start`, up to its zero byte; empty when it is not there or has no end.
inline std::string_view text_at(Bytes bytes, uint64_t start) {
  if (start >= bytes.size()) return {};
  const auto* first = reinterpret_cast<const char*>(bytes.data()) + start;
  const void* end = std::memchr(first, 0, std::min(bytes.size() - start, kLongestText));
  if (end == nullptr) return {};
  return {first, static_cast<size_t>(static_cast<const char*>(end) - first)};
}

class Reader {
 public:
  explicit Reader(Bytes bytes, uint64_t start = 0) : bytes_(bytes), at_(start) {
    if (start > bytes.size()) fail();
  }

  bool ok() const { return is_ok_; }
  bool at_end() const { return at_ >= bytes_.size(); }
  uint64_t position() const { return at_; }

  uint8_t u8() { return number<uint8_t>(); }
  uint16_t u16() { return number<uint16_t>(); }
  uint32_t u32() { return number<uint32_t>(); }
  uint64_t u64() { return number<uint64_t>(); }

  /// A number of `size` bytes, 1 to 8, least significant first.
  uint64_t unsigned_of(uint64_t size) {
    uint64_t value = 0;
    const Bytes found = bytes(size);
    if (found.empty() || size > sizeof value) return fail();
    std::memcpy(&value, found.data(), size);
    return value;
  }

  /// A number in groups of seven bits (LEB128). Bits past the 64th are lost.
  uint64_t uleb() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const uint8_t group = u8();
      if (shift < 64) value |= uint64_t{group & 0x7fu} << shift;
      if (group < 0x80) return value;
    }
  }
  int64_t sleb() {
    uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const uint8_t group = u8();
      if (shift < 64) value |= uint64_t{group & 0x7fu} << shift;
      shift += 7;
      if (group >= 0x80) continue;
      if (shift < 64 && (group & 0x40) != 0) value |= ~uint64_t{0} << shift;
      return static_cast<int64_t>(value);
    }
  }

  std::string_view text() {
    const std::string_view found = text_at(bytes_, at_);
    if (found.empty() && (at_end() || bytes_[at_] != std::byte{0})) {
      fail();
      return {};
    }
    at_ += found.size() + 1;
    return found;
  }

  Bytes bytes(uint64_t count) {
    const Bytes found = part_of(bytes_, at_, count);
    if (found.size() != count) {
      fail();
      return {};
    }
    at_ += count;
    return found;
  }
  void skip(uint64_t count) { bytes(count); }

 private:
  template <typename T>
  T number() {
    T value = 0;
    const Bytes found = bytes(sizeof value);
    if (!found.empty()) std::memcpy(&value, found.data(), sizeof value);
    return value;
  }

  uint64_t fail() {
    is_ok_ = false;
    at_ = bytes_.size();
    return 0;
  }

  Bytes bytes_;
  uint64_t at_;
  bool is_ok_ = true;
};

}  // namespace proton::cubin
