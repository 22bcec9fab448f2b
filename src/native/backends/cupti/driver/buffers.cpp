#include "backends/cupti/driver/buffers.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "base/error.h"
#include "base/text.h"

namespace proton::cupti {

void expect_buffer_size(size_t bytes) {
  if (bytes >= kSmallestBufferBytes && bytes <= kLargestBufferBytes) return;
  throw Error(
      ErrorKind::kUsage,
      concat("a buffer of ", bytes, " bytes is no good for CUPTI; give from ", kSmallestBufferBytes,
             " (64 KiB) to ", kLargestBufferBytes, " (1 GiB) as TRITON_PROFILE_BUFFER_SIZE"));
}

void BufferPool::set_size(size_t bytes) {
  std::lock_guard lock(mutex_);
  if (bytes == size_) return;
  for (uint8_t* buffer : idle_) unmake(buffer, size_);
  idle_.clear();
  size_ = bytes;
}

uint8_t* BufferPool::take(size_t& bytes) noexcept {
  std::lock_guard lock(mutex_);
  bytes = size_;
  if (!idle_.empty()) {
    uint8_t* buffer = idle_.back();
    idle_.pop_back();
    return buffer;
  }
  uint8_t* fresh = make(0);
  if (fresh == nullptr) bytes = 0;
  return fresh;
}

uint8_t* BufferPool::make(int flags) noexcept {
  flags |= MAP_PRIVATE | MAP_ANONYMOUS;
  void* fresh = mmap(nullptr, size_, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (fresh == MAP_FAILED) return nullptr;
  try {
    return *made_.insert(static_cast<uint8_t*>(fresh)).first;
  } catch (const std::bad_alloc&) {
    munmap(fresh, size_);
    return nullptr;
  }
}

void BufferPool::unmake(uint8_t* buffer, size_t bytes) noexcept {
  munmap(buffer, bytes);
  made_.erase(buffer);
}

void BufferPool::prepare() noexcept {
  std::lock_guard lock(mutex_);
  while (size_ <= kPreparedBytes && idle_.size() < kPrepared) {
    uint8_t* fresh = make(MAP_POPULATE);
    if (fresh == nullptr) return;
    try {
      idle_.push_back(fresh);
    } catch (const std::bad_alloc&) {
      return unmake(fresh, size_);
    }
  }
}

void BufferPool::give_back(uint8_t* buffer, size_t bytes, size_t used) noexcept {
  {
    std::lock_guard lock(mutex_);
    if (!made_.contains(buffer)) return;
  }
  std::memset(buffer, 0, std::min(used, bytes));
  std::lock_guard lock(mutex_);
  if (bytes == size_ && idle_.size() < kIdleLimit) {
    try {
      idle_.push_back(buffer);
      return;
    } catch (const std::bad_alloc&) {
    }
  }
  unmake(buffer, bytes);
}

size_t BufferPool::count() const {
  std::lock_guard lock(mutex_);
  return made_.size();
}

void BufferPool::reset_after_fork() { new (&mutex_) std::mutex; }

}  // namespace proton::cupti
