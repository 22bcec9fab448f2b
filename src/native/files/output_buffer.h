/// The buffer between an encoder, which writes a few bytes at a time, and a ByteSink.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/byte_sink.h"

namespace proton {

class OutputBuffer {
 public:
  /// No more than this can be reserved at once.
  static constexpr size_t kMaxReserve = 256;

  explicit OutputBuffer(ByteSink& sink)
      : sink_(sink), bytes_(std::make_unique_for_overwrite<char[]>(kCapacity)) {}

  /// Space for `size` bytes, counted only by `advance`.
  char* reserve(size_t size) {
    if (size > kCapacity - size_) flush();
    return bytes_.get() + size_;
  }
  void advance(size_t size) { size_ += size; }

  void put(char byte) {
    *reserve(1) = byte;
    advance(1);
  }

  void put(std::string_view bytes) {
    if (bytes.size() > kCapacity - size_) flush();
    if (bytes.size() > kCapacity) {
      sink_.write(bytes);
      return;
    }
    std::memcpy(bytes_.get() + size_, bytes.data(), bytes.size());
    size_ += bytes.size();
  }

  void flush() {
    sink_.write({bytes_.get(), size_});
    size_ = 0;
  }

 private:
  static constexpr size_t kCapacity = 256 * 1024;

  ByteSink& sink_;
  std::unique_ptr<char[]> bytes_;
  size_t size_ = 0;
};

}  // namespace proton
