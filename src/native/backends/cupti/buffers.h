/// The memory that CUPTI fills with records: a pool of large buffers that are used again, because
/// fresh pages cost more than the records. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace proton::cupti {

inline constexpr size_t kDefaultBufferBytes = size_t{4} << 20;
inline constexpr size_t kSmallestBufferBytes = size_t{64} << 10;
inline constexpr size_t kLargestBufferBytes = size_t{1} << 30;

class BufferPool {
 public:
  /// The size of buffers from now on; those of another size go when they come back.
  void set_size(size_t bytes);
  size_t size() const { return size_; }

  /// Null: no memory.
  uint8_t* take(size_t& bytes) noexcept;
  void give_back(uint8_t* buffer, size_t bytes) noexcept;

  /// How many buffers exist, with CUPTI or here.
  size_t count() const;

  void reset_after_fork();

 private:
  /// More than this many idle ones are given back to the system.
  static constexpr size_t kIdleLimit = 16;

  mutable std::mutex mutex_;
  size_t size_ = kDefaultBufferBytes;
  size_t count_ = 0;
  std::vector<uint8_t*> idle_;
};

}  // namespace proton::cupti
