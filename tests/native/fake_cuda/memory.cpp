/// Memory that can be looked at: "device memory" is the host's, zeroing and copying really happen,
/// when they are called or when a graph is replayed; and kernels that leave records in a buffer.
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>

#include "driver.h"
#include "fake_cuda.h"

namespace fake {
namespace {

constexpr int kOutOfMemory = 2;
constexpr uint32_t kMemcpy2DAsync = 289;
constexpr size_t kPage = 4096;

/// CUDA_MEMCPY2D.
struct Copy2d {
  size_t source_x, source_y;
  int source_memory;
  const void* source_host;
  const char* source_device;
  void* source_array;
  size_t source_pitch, target_x, target_y;
  int target_memory;
  char* target_host;
  uint64_t target_device;
  void* target_array;
  size_t target_pitch, width, height;
};
static_assert(sizeof(Copy2d) == 128);

constexpr size_t kFreedBytes = size_t{64} << 20;

/// Allocations by address, and the last ones that were freed: those are kept, so that nobody else
/// gets them and a write to them is seen.
class Allocations {
 public:
  void add(void* memory, size_t bytes) {
    const std::lock_guard lock(mutex_);
    sizes_[static_cast<char*>(memory)] = bytes;
  }
  void free(void* memory) {
    const std::lock_guard lock(mutex_);
    const auto found = sizes_.find(static_cast<char*>(memory));
    if (found == sizes_.end()) return;
    freed_bytes_ += found->second;
    freed_.push_back(*found);
    sizes_.erase(found);
    while (freed_bytes_ > kFreedBytes) {
      freed_bytes_ -= freed_.front().second;
      std::free(freed_.front().first);
      freed_.pop_front();
    }
  }
  bool is_freed(const void* memory) {
    const std::lock_guard lock(mutex_);
    for (const auto& [first, bytes] : freed_) {
      if (memory >= first && memory < first + bytes) return true;
    }
    return false;
  }

 private:
  std::mutex mutex_;
  std::map<char*, size_t> sizes_;
  std::deque<std::pair<char*, size_t>> freed_;  // the oldest first
  size_t freed_bytes_ = 0;
};

// Never destroyed: threads of the program may still call at exit.
Allocations& allocations() {
  static auto* const only = new Allocations;
  return *only;
}

/// Whether work on the GPU may use this memory.
bool is_ours(const void* memory) {
  if (!allocations().is_freed(memory)) return true;
  violate("work on the GPU used memory that was freed");
  return false;
}

int free_memory(void* memory) {
  if (memory != nullptr) allocations().free(memory);
  return 0;
}

int allocate(void** memory, size_t bytes) {
  const auto most = static_cast<size_t>(state().options.memory_bytes.load());
  if (most != 0 && bytes > most) return kOutOfMemory;
  *memory = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  if (*memory == nullptr) return kOutOfMemory;
  std::memset(*memory, 0xA5, bytes);  // what is not zeroed is rubbish
  allocations().add(*memory, bytes);
  return 0;
}

uint32_t submit_copy(uint32_t cbid, const char* name, uint64_t bytes, void* stream) {
  Work work;
  work.type = kMemcpyNode;
  work.copy_kind = 2;
  work.bytes = bytes;
  work.duration_ns = 1;
  return submit(cbid, name, nullptr, work, stream_of(stream), 0);
}

}  // namespace

void touch_memory(const Work& work) {
  if (work.memory != nullptr && !is_ours(work.memory)) return;
  if (work.type == kMemsetNode && work.memory != nullptr) {
    std::memset(work.memory, work.value, work.bytes);
  }
  if (work.type == kKernelNode && work.memory != nullptr && work.function != nullptr) {
    const std::string& records = work.function->records;
    std::memcpy(work.memory, records.data(), records.size());
  }
}

}  // namespace fake

using namespace fake;

FAKE_EXPORT(cuMemAlloc_v2, void** memory, size_t bytes) {
  FAKE_ENTER(cuMemAlloc_v2);
  return allocate(memory, bytes);
}

FAKE_EXPORT(cuMemFree_v2, void* memory) {
  FAKE_ENTER(cuMemFree_v2);
  sleep_ns(state().options.free_delay_ns.load());
  return free_memory(memory);
}

FAKE_EXPORT(cuMemHostAlloc, void** memory, size_t bytes, unsigned) {
  FAKE_ENTER(cuMemHostAlloc);
  return allocate(memory, bytes);
}

FAKE_EXPORT(cuMemFreeHost, void* memory) {
  FAKE_ENTER(cuMemFreeHost);
  return free_memory(memory);
}

FAKE_EXPORT(cuMemcpyDtoHAsync_v2, void* target, const void* source, size_t bytes, void* stream) {
  FAKE_ENTER(cuMemcpyDtoHAsync_v2);
  if (submit_copy(kMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", bytes, stream) == 0) {
    return kCudaContextIsDestroyed;
  }
  if (is_ours(source)) std::memcpy(target, source, bytes);
  return 0;
}

FAKE_EXPORT(cuMemcpy2DAsync_v2, const Copy2d* copy, void* stream) {
  FAKE_ENTER(cuMemcpy2DAsync_v2);
  const uint64_t bytes = copy->width * copy->height;
  if (submit_copy(kMemcpy2DAsync, "cuMemcpy2DAsync_v2", bytes, stream) == 0) {
    return kCudaContextIsDestroyed;
  }
  for (size_t row = 0; row < copy->height && is_ours(copy->source_device); ++row) {
    std::memcpy(copy->target_host + row * copy->target_pitch,
                copy->source_device + row * copy->source_pitch, copy->width);
  }
  return 0;
}

FAKE_EXPORT(cuMemsetD8Async, void* memory, unsigned char value, size_t bytes, void* stream) {
  FAKE_ENTER(cuMemsetD8Async);
  Work work;
  work.type = kMemsetNode;
  work.value = value;
  work.bytes = bytes;
  work.duration_ns = 1;
  work.memory = memory;
  const uint32_t correlation =
      submit(kMemsetD8Async, "cuMemsetD8Async", nullptr, work, stream_of(stream), 0);
  return correlation != 0 ? 0 : int{kCudaContextIsDestroyed};
}

FAKE_EXPORT(cuStreamDestroy_v2, void* stream) {
  FAKE_ENTER(cuStreamDestroy_v2);
  return stream == nullptr ? int{kCudaInvalidHandle} : 0;
}

FAKE_VISIBLE void fake_function_records(void* function, const void* bytes, uint64_t size) {
  static_cast<Function*>(function)->records.assign(static_cast<const char*>(bytes), size);
}

FAKE_VISIBLE uint32_t fake_launch_recording(void* function, void* buffer, void* stream) {
  Work work;
  work.function = static_cast<Function*>(function);
  work.memory = buffer;
  return submit(kLaunchKernel, "cuLaunchKernel", nullptr, work, stream_of(stream), 0);
}
