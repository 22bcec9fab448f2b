/// Buffers for launches, with the events that tell when they can be read, in every CUDA context of
/// the process. Any thread; the lock is held for calls of the driver that do not wait for the
/// device.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backends/device_buffer/clock_map.h"
#include "backends/device_buffer/recorder/block_pool.h"
#include "backends/device_buffer/recorder/launch.h"
#include "backends/device_buffer/recorder/problems.h"
#include "backends/device_buffer/recorder/replay_counters.h"

namespace proton::device_buffer {

/// What the recorder has in a CUDA context. Never freed: the context may come again.
struct ContextMemory {
  ContextMemory(const CudaDriver& driver, CudaContext context, int device, size_t most_bytes)
      : context(context), device(device), blocks(driver, most_bytes), replays(driver) {
    driver.context_id(context, &id);
  }

  const CudaContext context;
  unsigned long long id = 0;  // the driver's, which no other context ever has
  const int device;
  HostOffset host_offset;
  std::atomic<double> cycles_per_ns{0};  // of the last kernel that was long enough to tell
  // with the lock of the pool
  BlockPool blocks;
  ReplayCounters replays;
  std::vector<CudaEvent> events;    // free ones
  std::vector<CudaStream> streams;  // by the number of their lane
  // of the thread that reads
  CudaStream side_stream = nullptr;
  CudaEvent side_event = nullptr;
  std::byte* staging = nullptr;
  size_t staging_bytes = 0;
  std::vector<std::pair<Block*, CudaEvent>> zeroing;  // on the side stream
};

class BufferPool {
 public:
  BufferPool(const CudaDriver& driver, Problems& problems) : driver_(driver), problems_(problems) {}

  const CudaDriver& driver() const { return driver_; }
  /// `disown` is called to say that what the calling thread asks of the driver from now on is ours,
  /// or no longer; it returns what was so before.
  void set_disown(bool (*disown)(bool is_ours)) { disown_ = disown; }
  bool disown(bool is_ours) const { return disown_(is_ours); }
  /// How much memory buffers may have in each context, for contexts that are not yet known.
  void set_limit(size_t bytes);

  /// A buffer for a launch on `stream`: zeroed once the stream gets there. `in_host_memory`: of
  /// kernels with a mailbox. Throws BackendError: no memory.
  LaunchBuffer take(size_t bytes, size_t alignment, CudaStream stream, bool in_host_memory);
  /// A buffer for a launch that nobody is told of. Throws BackendError.
  DeviceAddress scrap(size_t bytes, size_t alignment);
  /// Puts an event behind a launch.
  CudaResult record_event(Launch& launch);
  /// Has the memory back that is being zeroed, and its events: the side stream has got there.
  void reuse_zeroed(ContextMemory& memory);

  /// A thread has ended and not said whether it made the launch.
  void leave_behind(const LaunchBuffer& buffer);
  /// Such buffers of contexts that are still there.
  std::vector<LaunchBuffer> take_left_behind();

  /// Starts copying the counters of replays to the staging memory, for `count` of them.
  size_t replay_counters(ContextMemory& memory);
  CudaResult copy_replays(ContextMemory& memory, size_t count);

  std::vector<ContextMemory*> contexts();
  /// Whether the context is no more, or another one is in its place.
  bool has_gone(const ContextMemory& memory) const;
  /// Gives the driver back what no launch uses; the context is current. Launching threads are not
  /// kept from launching meanwhile: the driver may wait for the device.
  void free_unused(ContextMemory& memory);
  size_t size_bytes();

  /// The current context; a thread that has none gets the one that Triton would give it next.
  /// Throws BackendError.
  CudaContext current_context() const;
  /// Throws BackendError naming `function` unless `result` is success.
  void check(CudaResult result, const char* function) const;

 private:
  ContextMemory& current_memory();
  CudaResult prepare(LaunchBuffer& buffer);

  const CudaDriver& driver_;
  Problems& problems_;
  bool (*disown_)(bool is_ours) = [](bool) { return false; };
  std::mutex mutex_;  // guards what follows
  size_t most_bytes_ = BlockPool::kMostBytes;
  std::vector<std::unique_ptr<ContextMemory>> contexts_;
  std::vector<LaunchBuffer> left_behind_;
};

}  // namespace proton::device_buffer
