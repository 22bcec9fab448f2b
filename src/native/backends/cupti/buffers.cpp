#include "backends/cupti/buffers.h"

#include <sys/mman.h>

#include <new>

namespace proton::cupti {

void BufferPool::set_size(size_t bytes) {
  std::lock_guard lock(mutex_);
  if (bytes == size_) return;
  for (uint8_t* buffer : idle_) munmap(buffer, size_);
  count_ -= idle_.size();
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
  void* fresh = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) {
    bytes = 0;
    return nullptr;
  }
  ++count_;
  return static_cast<uint8_t*>(fresh);
}

void BufferPool::give_back(uint8_t* buffer, size_t bytes) noexcept {
  std::lock_guard lock(mutex_);
  if (bytes == size_ && idle_.size() < kIdleLimit) {
    try {
      idle_.push_back(buffer);
      return;
    } catch (const std::bad_alloc&) {
    }
  }
  munmap(buffer, bytes);
  --count_;
}

size_t BufferPool::count() const {
  std::lock_guard lock(mutex_);
  return count_;
}

void BufferPool::reset_after_fork() { new (&mutex_) std::mutex; }

}  // namespace proton::cupti
