/// The memory that CUPTI fills with records: a pool of large buffers that are used again, because
/// fresh pages cost more than the records. They are handed out zeroed: CUPTI would otherwise do it
/// itself, on the launching thread. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <vector>

namespace proton::cupti {

inline constexpr size_t kDefaultBufferBytes = size_t{4} << 20;
inline constexpr size_t kSmallestBufferBytes = size_t{64} << 10;
inline constexpr size_t kLargestBufferBytes = size_t{1} << 30;

/// Throws Error where CUPTI has no use for buffers of this size.
void expect_buffer_size(size_t bytes);

class BufferPool {
 public:
  /// The size of buffers from now on; those of another size go when they come back.
  void set_size(size_t bytes);
  size_t size() const { return size_; }

  /// Null: no memory.
  uint8_t* take(size_t& bytes) noexcept;
  /// The first `used` bytes were written to. One that another tool gave CUPTI stays as it is.
  void give_back(uint8_t* buffer, size_t bytes, size_t used) noexcept;

  /// Has some buffers ready, with memory behind them, so that no launch has to wait for it.
  void prepare() noexcept;

  /// How many buffers exist, with CUPTI or here.
  size_t count() const;

  void reset_after_fork();

 private:
  /// More than this many idle ones are given back to the system.
  static constexpr size_t kIdleLimit = 16;
  /// One is filled while another one is read.
  static constexpr size_t kPrepared = 2;
  static constexpr size_t kPreparedBytes = size_t{8} << 20;  // each, at most

  uint8_t* make(int flags) noexcept;
  void unmake(uint8_t* buffer, size_t bytes) noexcept;

  mutable std::mutex mutex_;
  size_t size_ = kDefaultBufferBytes;
  std::set<uint8_t*> made_;  // and not unmade
  std::vector<uint8_t*> idle_;
};

}  // namespace proton::cupti
