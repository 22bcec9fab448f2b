#include "backends/device_buffer/recorder/buffer_pool.h"

#include <algorithm>

#include "base/clock.h"
#include "base/text.h"

namespace proton::device_buffer {
namespace {

uint64_t lane_of(ContextMemory& memory, CudaStream stream) {
  const auto place = std::ranges::find(memory.streams, stream);
  const auto lane = static_cast<uint64_t>(place - memory.streams.begin());
  if (place == memory.streams.end()) memory.streams.push_back(stream);
  return lane;
}

DeviceAddress aligned(DeviceAddress address, size_t alignment) {
  const size_t align = std::max<size_t>(alignment, 1);
  return (address + align - 1) / align * align;
}

}  // namespace

void BufferPool::set_limit(size_t bytes) {
  std::lock_guard lock(mutex_);
  most_bytes_ = bytes;
}

void BufferPool::check(CudaResult result, const char* function) const {
  driver_.check_cuda(result, function,
                     result == kCudaOutOfMemory
                         ? "leave room on the GPU for the records, or record fewer warps and CTAs"
                         : "see `proton doctor` for what is installed");
}

CudaContext BufferPool::current_context() const {
  CudaContext context = nullptr;
  check(driver_.current_context(&context), "cuCtxGetCurrent");
  if (context != nullptr) return context;
  check(driver_.retain_primary_context(&context, 0), "cuDevicePrimaryCtxRetain");
  check(driver_.set_context(context), "cuCtxSetCurrent");
  return context;
}

ContextMemory& BufferPool::current_memory() {
  CudaContext const context = current_context();
  for (const auto& memory : contexts_) {
    if (memory->context == context) return *memory;
  }
  int device = 0;
  check(driver_.current_device(&device), "cuCtxGetDevice");
  return *contexts_.emplace_back(
      std::make_unique<ContextMemory>(driver_, context, device, most_bytes_));
}

LaunchBuffer BufferPool::take(size_t bytes, size_t alignment, CudaStream stream,
                              bool in_host_memory) {
  std::lock_guard lock(mutex_);
  ContextMemory& memory = current_memory();
  int capturing = 0;
  if (driver_.is_capturing(stream, &capturing) != kCudaSuccess) capturing = 0;
  const size_t slack = alignment > BlockPool::kAlignment ? alignment : 0;
  CudaResult result;
  LaunchBuffer buffer;
  buffer.memory = &memory;
  buffer.block = memory.blocks.take(bytes + slack, in_host_memory, capturing != 0, result);
  if (buffer.block == nullptr) {
    if (result != kCudaSuccess) {
      problems_.note(concat("no memory for the records of a launch (", bytes,
                            " bytes): ", driver_.describe_cuda(result)));
    }
    buffer.block = memory.blocks.scrap(bytes + slack, result);
    check(result, "cuMemAlloc");
    buffer.is_scrap = true;
  }
  buffer.address = aligned(buffer.block->address, alignment);
  buffer.bytes = bytes;
  buffer.stream = stream;
  buffer.lane = lane_of(memory, stream);
  buffer.is_captured = capturing != 0;
  // A graph zeroes its buffer at every replay; other buffers are zeroed when they have been read.
  if (buffer.is_captured || !buffer.block->is_zero) {
    if (const CudaResult failure = prepare(buffer); failure != kCudaSuccess) {
      if (!buffer.is_scrap) memory.blocks.give_back(buffer.block);  // nothing uses it
      check(failure, "cuMemsetD8Async");
    }
  }
  buffer.block->is_zero = false;
  buffer.start_ns = now_ns();
  return buffer;
}

/// Puts in front of the launch what zeroes its memory and, in a graph, counts its replays. The
/// count comes first: a kernel may be one that begins before the kernel in front of it has ended.
CudaResult BufferPool::prepare(LaunchBuffer& buffer) {
  const bool was_ours = disown_(true);
  CudaResult result = kCudaSuccess;
  if (buffer.is_captured) {
    buffer.replay_counter = buffer.memory->replays.add(buffer.stream, result);
    if (result != kCudaSuccess) {
      problems_.note(concat("replays of a graph are not counted: ", driver_.describe_cuda(result),
                            "; what the last one left counts as one launch at every flush"));
    }
  }
  result = buffer.is_scrap ? kCudaSuccess
                           : driver_.set_bytes(buffer.address, 0, buffer.bytes, buffer.stream);
  disown_(was_ours);
  return result;
}

DeviceAddress BufferPool::scrap(size_t bytes, size_t alignment) {
  std::lock_guard lock(mutex_);
  CudaResult result;
  const size_t slack = std::max<size_t>(alignment, 1);
  const Block* const block = current_memory().blocks.scrap(bytes + slack, result);
  check(result, "cuMemAlloc");
  return aligned(block->address, alignment);
}

CudaResult BufferPool::record_event(Launch& launch) {
  std::lock_guard lock(mutex_);
  auto& events = launch.memory->events;
  if (!events.empty()) {
    launch.event = events.back();
    events.pop_back();
  } else if (const CudaResult result = driver_.create_event(&launch.event, kEventDisableTiming);
             result != kCudaSuccess) {
    return result;
  }
  return driver_.record_event(launch.event, launch.stream);
}

void BufferPool::reuse_zeroed(ContextMemory& memory) {
  std::lock_guard lock(mutex_);
  for (const auto& [block, event] : memory.zeroing) {
    block->is_zero = true;
    memory.events.push_back(event);
    memory.blocks.give_back(block);
  }
  memory.zeroing.clear();
}

void BufferPool::leave_behind(const LaunchBuffer& buffer) {
  std::lock_guard lock(mutex_);
  left_behind_.push_back(buffer);
}

std::vector<LaunchBuffer> BufferPool::take_left_behind() {
  std::lock_guard lock(mutex_);
  std::vector<LaunchBuffer> buffers = std::exchange(left_behind_, {});
  std::erase_if(buffers, [&](const LaunchBuffer& buffer) { return has_gone(*buffer.memory); });
  return buffers;
}

size_t BufferPool::replay_counters(ContextMemory& memory) {
  std::lock_guard lock(mutex_);
  return memory.replays.size();
}

CudaResult BufferPool::copy_replays(ContextMemory& memory, size_t count) {
  std::lock_guard lock(mutex_);
  return memory.replays.copy(memory.staging, static_cast<uint32_t>(count), memory.side_stream);
}

std::vector<ContextMemory*> BufferPool::contexts() {
  std::lock_guard lock(mutex_);
  std::vector<ContextMemory*> contexts;
  for (const auto& memory : contexts_) contexts.push_back(memory.get());
  return contexts;
}

bool BufferPool::has_gone(const ContextMemory& memory) const {
  unsigned long long id = 0;
  return driver_.context_id(memory.context, &id) != kCudaSuccess || id != memory.id;
}

void BufferPool::free_unused(ContextMemory& memory) {
  std::vector<CudaEvent> events;
  std::vector<Block> blocks;
  {
    std::lock_guard lock(mutex_);
    events.swap(memory.events);
    blocks = memory.blocks.take_unused();
  }
  for (const CudaEvent event : events) driver_.destroy_event(event);
  BlockPool::release(driver_, blocks);
}

size_t BufferPool::size_bytes() {
  std::lock_guard lock(mutex_);
  size_t bytes = 0;
  for (const auto& memory : contexts_) bytes += memory->blocks.size_bytes();
  return bytes;
}

}  // namespace proton::device_buffer
