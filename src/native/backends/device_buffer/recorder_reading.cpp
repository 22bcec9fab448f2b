// From a launch that has ended to its bytes in host memory, on a stream of our own; and back to
// zero.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "backends/device_buffer/recorder.h"
#include "base/clock.h"

namespace proton::device_buffer {
namespace {

constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING
constexpr unsigned kPortable = 1;     // CU_MEMHOSTALLOC_PORTABLE
constexpr int64_t kCopyLimitNs = 20'000'000'000;
constexpr int64_t kCopyPollNs = 20'000;
constexpr size_t kStagingBytes = size_t{16} << 20;
constexpr size_t kBatch = 64;         // launches that are copied together
constexpr uint32_t kRowBytes = 4096;  // that could be copied in the time that one more row takes

}  // namespace

void Recorder::read(std::vector<LaunchPointer> launches) {
  std::stable_sort(launches.begin(), launches.end(),
                   [](const auto& a, const auto& b) { return std::less<>()(a->state, b->state); });
  size_t first = 0;
  while (first < launches.size()) {
    size_t last = first, bytes = 0;
    while (last < launches.size() && launches[last]->state == launches[first]->state &&
           last - first < kBatch &&
           (bytes == 0 || bytes + launches[last]->bytes <= kStagingBytes)) {
      bytes += launches[last++]->bytes;
    }
    read_batch(std::span(launches).subspan(first, last - first));
    first = last;
  }
}

void Recorder::read_batch(std::span<const LaunchPointer> launches) {
  ContextState& state = *launches[0]->state;
  make_current(state);
  size_t bytes = 0;
  for (const LaunchPointer& launch : launches) bytes += launch->bytes;
  CudaResult result = reserve_staging(state, bytes);
  std::byte* at = state.staging;
  for (const LaunchPointer& launch : launches) {
    if (launch->kernel == nullptr) continue;
    if (launch->block->host != nullptr) {
      launch->bytes_read = launch->block->host + (launch->address - launch->block->address);
      continue;
    }
    launch->bytes_read = at;
    at += launch->bytes;
    if (result == kCudaSuccess) result = copy(*launch, false);
  }
  if (result == kCudaSuccess) result = wait_for_copies(state);
  if (result == kCudaSuccess) {
    decode_all(launches);
  } else {
    for (const LaunchPointer& launch : launches) {
      drop(*launch, result);
      driver_.destroy_event(launch->event);
    }
  }
  if (result == kCudaSuccess) {
    reuse_zeroed(state);  // the copies came behind
    zero(launches);
    if (std::ranges::find(zeroing_, &state) == zeroing_.end()) zeroing_.push_back(&state);
  }
  std::lock_guard lock(mutex_);
  stats_.in_flight -= launches.size();
}

CudaResult Recorder::reserve_staging(ContextState& state, size_t bytes) {
  if (state.side_stream == nullptr) {
    CudaResult result = driver_.create_stream(&state.side_stream, kNonBlocking);
    if (result == kCudaSuccess)
      result = driver_.create_event(&state.side_event, kEventDisableTiming);
    if (result != kCudaSuccess) return result;
  }
  if (state.staging_bytes >= bytes) return kCudaSuccess;
  if (state.staging != nullptr) driver_.free_host(state.staging);
  state.staging = nullptr;
  state.staging_bytes = 0;
  void* memory = nullptr;
  const size_t size = std::max(bytes, kStagingBytes);
  const CudaResult result = driver_.allocate_host(&memory, size, kPortable);
  if (result != kCudaSuccess) return result;
  state.staging = static_cast<std::byte*>(memory);
  state.staging_bytes = size;
  return kCudaSuccess;
}

/// Headers, and of rings as much as launches of the kernel have used so far; or the whole of them.
CudaResult Recorder::copy(Launch& launch, bool is_whole) {
  const Geometry geometry = launch.kernel->geometry(launch.grid_ctas);
  const CudaStream stream = launch.state->side_stream;
  if (most_written_.size() <= launch.kernel_number) {
    most_written_.resize(launch.kernel_number + 1, UINT32_MAX);
  }
  const uint32_t expected = most_written_[launch.kernel_number];
  const uint64_t size = launch.kernel->keeps_bytes ? launch.bytes : geometry.size_bytes();
  const uint64_t rings = geometry.header_offset(0);
  launch.copied_ring_bytes =
      is_whole || expected > geometry.ring_bytes - std::min(geometry.ring_bytes, kRowBytes)
          ? geometry.ring_bytes
          : expected;
  if (launch.copied_ring_bytes == geometry.ring_bytes) {
    return driver_.copy_to_host(launch.bytes_read, launch.address, size, stream);
  }
  if (launch.copied_ring_bytes > 0) {
    Copy2d rows;
    rows.source_device = launch.address;
    rows.target_host = launch.bytes_read;
    rows.source_pitch = rows.target_pitch = geometry.ring_bytes;
    rows.width_bytes = launch.copied_ring_bytes;
    rows.height = geometry.slot_count();
    if (const CudaResult result = driver_.copy_rows(&rows, stream); result != kCudaSuccess) {
      return result;
    }
  }
  return driver_.copy_to_host(launch.bytes_read + rings, launch.address + rings, size - rings,
                              stream);
}

CudaResult Recorder::wait_for_copies(ContextState& state) {
  CudaResult result = driver_.record_event(state.side_event, state.side_stream);
  const int64_t limit_ns = now_ns() + kCopyLimitNs;
  for (int turn = 0; result == kCudaSuccess; ++turn) {
    result = driver_.query_event(state.side_event);
    if (result != kCudaNotReady) return result;
    if (now_ns() > limit_ns) return kTimeout;
    if (turn > 20) std::this_thread::sleep_for(std::chrono::nanoseconds(kCopyPollNs));
    result = kCudaSuccess;
  }
  return result;
}

/// Has the memory of launches of one context zeroed.
void Recorder::zero(std::span<const LaunchPointer> launches) {
  ContextState& state = *launches[0]->state;
  for (const LaunchPointer& launch : launches) {
    if (launch->block->host != nullptr) {
      std::memset(launch->block->host + (launch->address - launch->block->address), 0,
                  launch->bytes);
    } else if (driver_.set_bytes(launch->address, 0, launch->bytes, state.side_stream) !=
               kCudaSuccess) {
      continue;  // the context is gone, and the memory with it
    }
    state.zeroing.emplace_back(launch->block, launch->event);
  }
  driver_.record_event(state.side_event, state.side_stream);
}

/// The side stream has got there.
void Recorder::reuse_zeroed(ContextState& state) {
  std::lock_guard lock(mutex_);
  for (const auto& [block, event] : state.zeroing) {
    block->is_zero = true;
    state.events.push_back(event);
    state.pool.give_back(block);
  }
  state.zeroing.clear();
}

/// Whether some memory is still being zeroed.
bool Recorder::poll_zeroing() {
  bool is_left = false;
  for (ContextState* state : zeroing_) {
    make_current(*state);
    const CudaResult result = driver_.query_event(state->side_event);
    if (result == kCudaSuccess) reuse_zeroed(*state);
    if (result != kCudaSuccess && result != kCudaNotReady) state->zeroing.clear();
    is_left |= !state->zeroing.empty();
  }
  if (!is_left) zeroing_.clear();
  return is_left;
}

}  // namespace proton::device_buffer
