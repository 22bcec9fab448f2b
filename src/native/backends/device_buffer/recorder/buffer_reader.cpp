// From a launch that has ended to its bytes in host memory, on a stream of our own; and back to
// zero.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "backends/device_buffer/recorder/recorder.h"
#include "base/clock.h"

namespace proton::device_buffer {
namespace {

constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING
constexpr unsigned kPortable = 1;     // CU_MEMHOSTALLOC_PORTABLE
constexpr int64_t kCopyLimitNs = 20'000'000'000;
constexpr int64_t kCopyPollNs = 20'000;
constexpr size_t kStagingBytes = size_t{16} << 20;
constexpr size_t kBatch = 64;   // launches that are copied together
constexpr uint32_t kLine = 64;  // bytes that are not worth dividing

}  // namespace

void Recorder::read(std::vector<LaunchPointer> launches) {
  std::stable_sort(launches.begin(), launches.end(),
                   [](const auto& a, const auto& b) { return std::less<>()(a->state, b->state); });
  while (!launches.empty()) {
    std::vector<LaunchPointer> again;
    size_t first = 0;
    while (first < launches.size()) {
      size_t last = first, bytes = 0;
      for (; last < launches.size() && last - first < kBatch; ++last) {
        Launch& launch = *launches[last];
        if (launch.state != launches[first]->state) break;
        plan_copy(launch, false);
        if (last > first && bytes + launch.copied_bytes > kStagingBytes) break;
        bytes += launch.copied_bytes;
      }
      read_batch(std::span(launches).subspan(first, last - first), again);
      first = last;
    }
    launches = std::move(again);
  }
}

/// How much of a buffer is to be copied: headers, and of rings as much as launches of the kernel
/// have used so far, without what lies between; or the whole.
void Recorder::plan_copy(Launch& launch, bool is_whole) {
  launch.copied_bytes = 0;
  if (launch.kernel == nullptr || !has_room(launch)) return;
  launch.geometry = launch.kernel->geometry(launch.grid_ctas);
  if (launch.block->host != nullptr) return;
  if (expected_.size() <= launch.kernel_number) {
    expected_.resize(launch.kernel_number + 1, UINT32_MAX);
  }
  const uint32_t expected = expected_[launch.kernel_number], ring = launch.geometry.ring_bytes;
  if (launch.kernel->keeps_bytes) {
    launch.copied_bytes = launch.bytes;
    return;
  }
  if (!is_whole && expected < ring) {
    launch.geometry.left_out_bytes = ring - std::min(ring, (expected + kLine - 1) / kLine * kLine);
  }
  launch.copied_bytes = launch.geometry.size_bytes();
}

/// One copy of them all; `again` gets those of which it turned out to be too little.
void Recorder::read_batch(std::span<LaunchPointer> launches, std::vector<LaunchPointer>& again) {
  ContextState& state = *launches[0]->state;
  make_current(state);
  const auto place = [](const Launch& launch) {
    return (launch.copied_bytes + kLine - 1) / kLine * kLine;
  };
  size_t bytes = 0;
  for (const LaunchPointer& launch : launches) bytes += place(*launch);
  CudaResult result = reserve_staging(state, bytes);
  std::byte* at = state.staging;
  for (const LaunchPointer& launch : launches) {
    if (launch->kernel == nullptr) continue;
    if (launch->block->host != nullptr) {
      launch->bytes_read = launch->block->host + (launch->address - launch->block->address);
      continue;
    }
    launch->bytes_read = at;
    at += place(*launch);
    if (result == kCudaSuccess) result = copy(*launch);
  }
  if (result == kCudaSuccess) result = wait_for_copies(state);
  if (result == kCudaSuccess) {
    const size_t before = again.size();
    decode_all(launches, again);
    reuse_zeroed(state);  // the copies came behind
    zero(state, launches);
    if (std::ranges::find(zeroing_, &state) == zeroing_.end()) zeroing_.push_back(&state);
    std::lock_guard lock(mutex_);
    stats_.in_flight -= launches.size() - (again.size() - before);
    return;
  }
  for (const LaunchPointer& launch : launches) {
    drop(*launch, result);
    driver_.destroy_event(launch->event);
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

CudaResult Recorder::copy(const Launch& launch) {
  const CudaStream stream = launch.state->side_stream;
  const Geometry& geometry = launch.geometry;
  if (geometry.left_out_bytes == 0) {
    return driver_.copy_to_host(launch.bytes_read, launch.address, launch.copied_bytes, stream);
  }
  if (geometry.kept_bytes() > 0) {
    Copy2d rows;
    rows.source_device = launch.address;
    rows.target_host = launch.bytes_read;
    rows.source_pitch = geometry.ring_bytes;
    rows.target_pitch = rows.width_bytes = geometry.kept_bytes();
    rows.height = geometry.slot_count();
    if (const CudaResult result = driver_.copy_rows(&rows, stream); result != kCudaSuccess) {
      return result;
    }
  }
  const uint64_t headers = geometry.header_offset(0);
  return driver_.copy_to_host(launch.bytes_read + headers,
                              launch.address + geometry.slot_count() * geometry.ring_bytes,
                              geometry.size_bytes() - headers, stream);
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

/// Has the memory of launches of one context zeroed, neighbours together; null: a launch that needs
/// its memory yet.
void Recorder::zero(ContextState& state, std::span<const LaunchPointer> launches) {
  std::vector<const Launch*> used;
  for (const LaunchPointer& launch : launches) {
    if (launch == nullptr) continue;
    if (launch->block->host == nullptr) {
      used.push_back(launch.get());
      continue;
    }
    std::memset(launch->block->host + (launch->address - launch->block->address), 0, launch->bytes);
    state.zeroing.emplace_back(launch->block, launch->event);
  }
  std::ranges::sort(used, {}, [](const Launch* launch) { return launch->block->address; });
  for (size_t first = 0, last = 0; first < used.size(); first = last) {
    const Block& start = *used[first]->block;
    size_t bytes = 0;
    while (last < used.size() && used[last]->block->slab == start.slab &&
           used[last]->block->address == start.address + bytes) {
      bytes += used[last++]->block->size_bytes;
    }
    if (driver_.set_bytes(start.address, 0, bytes, state.side_stream) != kCudaSuccess) {
      continue;  // the context is gone, and the memory with it
    }
    for (size_t at = first; at < last; ++at) {
      used[at]->block->clean_bytes = used[at]->block->size_bytes;
      state.zeroing.emplace_back(used[at]->block, used[at]->event);
    }
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
