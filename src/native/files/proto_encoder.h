/// Protobuf's wire format, field by field, into a growing buffer: the little of it that traces
/// need.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace proton {

/// Sizes are bounded before bytes are put, so that putting them is a store each.
class ProtoEncoder {
 public:
  void clear() { size_ = 0; }
  size_t size() const { return size_; }
  std::string_view view() const { return {bytes_.get(), size_}; }

  void varint_field(uint32_t field, uint64_t value) {
    ensure(2 * kMaxVarint);
    put_varint(uint64_t{field} << 3 | kVarint);
    put_varint(value);
  }
  void fixed64_field(uint32_t field, uint64_t value) {
    ensure(kMaxVarint + sizeof value);
    put_varint(uint64_t{field} << 3 | kFixed64);
    for (size_t i = 0; i < sizeof value; ++i) bytes_[size_++] = static_cast<char>(value >> (8 * i));
  }
  void double_field(uint32_t field, double value) {
    fixed64_field(field, std::bit_cast<uint64_t>(value));
  }
  /// A string, bytes or a message that was encoded on its own.
  void bytes_field(uint32_t field, std::string_view bytes) {
    ensure(2 * kMaxVarint + bytes.size());
    put_varint(uint64_t{field} << 3 | kLength);
    put_varint(bytes.size());
    put(bytes);
  }
  /// Fields that were encoded before.
  void append(std::string_view fields) {
    ensure(fields.size());
    put(fields);
  }

 private:
  static constexpr size_t kMaxVarint = 10;
  enum WireType : uint8_t { kVarint = 0, kFixed64 = 1, kLength = 2 };

  void ensure(size_t more) {
    if (more > capacity_ - size_) grow(more);
  }
  void grow(size_t more) {
    const size_t capacity = 2 * (size_ + more) + 256;
    auto bytes = std::make_unique_for_overwrite<char[]>(capacity);
    if (size_ > 0) std::memcpy(bytes.get(), bytes_.get(), size_);
    bytes_ = std::move(bytes);
    capacity_ = capacity;
  }
  void put_varint(uint64_t value) {
    while (value >= 0x80) {
      bytes_[size_++] = static_cast<char>(value | 0x80);
      value >>= 7;
    }
    bytes_[size_++] = static_cast<char>(value);
  }
  void put(std::string_view bytes) {
    if (bytes.empty()) return;
    std::memcpy(bytes_.get() + size_, bytes.data(), bytes.size());
    size_ += bytes.size();
  }

  std::unique_ptr<char[]> bytes_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace proton
