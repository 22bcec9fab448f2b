#include "backends/device_buffer/recorder/buffer_reader.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/clock.h"
#include "base/text.h"

namespace proton::device_buffer {
namespace {

constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING
constexpr unsigned kPortable = 1;     // CU_MEMHOSTALLOC_PORTABLE
constexpr CudaResult kInvalidValue = 1;
constexpr CudaResult kTimeout = -1;  // of our own
constexpr int64_t kCopyLimitNs = 20'000'000'000;
constexpr int64_t kCopyPollNs = 20'000;
constexpr size_t kStagingBytes = size_t{16} << 20;
constexpr size_t kBatch = 64;   // launches that are copied together
constexpr uint32_t kLine = 64;  // bytes that are not worth dividing
constexpr size_t kMany = 8;     // launches that wait to be decoded

/// Bytes of its ring that some warp has used, or the whole ring.
uint32_t most_written(const std::byte* buffer, const Geometry& geometry) {
  uint32_t most = 0;
  for (uint64_t slot = 0; slot < geometry.slot_count(); ++slot) {
    Header header;
    std::memcpy(&header, buffer + geometry.header_offset(slot), sizeof(header));
    if (header.magic == kMagic) most = std::max(most, header.written_bytes);
  }
  return std::min(most, geometry.ring_bytes);
}

}  // namespace

void BufferReader::begin() {
  pool_.disown(true);
  RelaxedCapture::keep(driver_);
  current_ = nullptr;
}

void BufferReader::make_current(ContextMemory& memory) {
  if (current_ == memory.context) return;
  current_ = driver_.set_context(memory.context) == kCudaSuccess ? memory.context : nullptr;
}

void BufferReader::read(std::vector<LaunchPointer> launches) {
  std::stable_sort(launches.begin(), launches.end(), [](const auto& a, const auto& b) {
    return std::less<>()(a->memory, b->memory);
  });
  while (!launches.empty()) {
    std::vector<LaunchPointer> again;
    size_t first = 0;
    while (first < launches.size()) {
      size_t last = first, bytes = 0;
      for (; last < launches.size() && last - first < kBatch; ++last) {
        Launch& launch = *launches[last];
        if (launch.memory != launches[first]->memory) break;
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

void BufferReader::plan_copy(Launch& launch, bool is_whole) {
  launch.copied_bytes = 0;
  if (launch.kernel == nullptr) return;
  launch.geometry = launch.kernel->geometry(launch.grid_ctas);
  if (launch.geometry.size_bytes() > launch.bytes) {
    drop(launch, kInvalidValue);
    launch.kernel = nullptr;
    return;
  }
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
void BufferReader::read_batch(std::span<LaunchPointer> launches,
                              std::vector<LaunchPointer>& again) {
  ContextMemory& memory = *launches[0]->memory;
  make_current(memory);
  const auto place = [](const Launch& launch) {
    return (launch.copied_bytes + kLine - 1) / kLine * kLine;
  };
  size_t bytes = 0;
  for (const LaunchPointer& launch : launches) bytes += place(*launch);
  CudaResult result = reserve_staging(memory, bytes);
  std::byte* at = memory.staging;
  for (const LaunchPointer& launch : launches) {
    if (launch->kernel == nullptr) continue;
    if (std::byte* const host = launch->host()) {
      launch->bytes_read = host;
      continue;
    }
    launch->bytes_read = at;
    at += place(*launch);
    if (result == kCudaSuccess) result = copy(*launch);
  }
  if (result == kCudaSuccess) result = wait_for_copies(memory);
  if (result == kCudaSuccess) {
    decode_all(launches, again);
    pool_.reuse_zeroed(memory);  // the copies came behind
    zero(memory, launches);
    if (std::ranges::find(zeroing_, &memory) == zeroing_.end()) zeroing_.push_back(&memory);
    return;
  }
  for (const LaunchPointer& launch : launches) drop_with_event(*launch, result);
}

CudaResult BufferReader::reserve_staging(ContextMemory& memory, size_t bytes) {
  if (memory.side_stream == nullptr) {
    CudaResult result = driver_.create_stream(&memory.side_stream, kNonBlocking);
    if (result == kCudaSuccess)
      result = driver_.create_event(&memory.side_event, kEventDisableTiming);
    if (result != kCudaSuccess) return result;
  }
  if (memory.staging_bytes >= bytes) return kCudaSuccess;
  if (memory.staging != nullptr) driver_.free_host(memory.staging);
  memory.staging = nullptr;
  memory.staging_bytes = 0;
  void* allocated = nullptr;
  const size_t size = std::max(bytes, kStagingBytes);
  const CudaResult result = driver_.allocate_host(&allocated, size, kPortable);
  if (result != kCudaSuccess) return result;
  memory.staging = static_cast<std::byte*>(allocated);
  memory.staging_bytes = size;
  return kCudaSuccess;
}

CudaResult BufferReader::copy(const Launch& launch) {
  const CudaStream stream = launch.memory->side_stream;
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

CudaResult BufferReader::wait_for_copies(ContextMemory& memory) {
  CudaResult result = driver_.record_event(memory.side_event, memory.side_stream);
  const int64_t limit_ns = now_ns() + kCopyLimitNs;
  for (int turn = 0; result == kCudaSuccess; ++turn) {
    result = driver_.query_event(memory.side_event);
    if (result != kCudaNotReady) return result;
    if (now_ns() > limit_ns) return kTimeout;
    if (turn > 20) std::this_thread::sleep_for(std::chrono::nanoseconds(kCopyPollNs));
    result = kCudaSuccess;
  }
  return result;
}

/// Has the memory of launches of one context zeroed, neighbours together; null: a launch that needs
/// its memory yet.
void BufferReader::zero(ContextMemory& memory, std::span<const LaunchPointer> launches) {
  std::vector<const Launch*> used;
  for (const LaunchPointer& launch : launches) {
    if (launch == nullptr) continue;
    if (launch->host() == nullptr) {
      used.push_back(launch.get());
      continue;
    }
    std::memset(launch->host(), 0, launch->bytes);
    memory.zeroing.emplace_back(launch->block, launch->event);
  }
  std::ranges::sort(used, {}, [](const Launch* launch) { return launch->block->address; });
  for (size_t first = 0, last = 0; first < used.size(); first = last) {
    const Block& start = *used[first]->block;
    size_t bytes = 0;
    while (last < used.size() && used[last]->block->slab == start.slab &&
           used[last]->block->address == start.address + bytes) {
      bytes += used[last++]->block->size_bytes;
    }
    if (driver_.set_bytes(start.address, 0, bytes, memory.side_stream) != kCudaSuccess) {
      continue;  // the context is gone, and the memory with it
    }
    for (size_t at = first; at < last; ++at) {
      used[at]->block->clean_bytes = used[at]->block->size_bytes;
      memory.zeroing.emplace_back(used[at]->block, used[at]->event);
    }
  }
  driver_.record_event(memory.side_event, memory.side_stream);
}

bool BufferReader::poll_zeroing() {
  bool is_left = false;
  for (ContextMemory* memory : zeroing_) {
    make_current(*memory);
    const CudaResult result = driver_.query_event(memory->side_event);
    if (result == kCudaSuccess) pool_.reuse_zeroed(*memory);
    if (result != kCudaSuccess && result != kCudaNotReady) memory->zeroing.clear();
    is_left |= !memory->zeroing.empty();
  }
  if (!is_left) zeroing_.clear();
  return is_left;
}

/// With some help where there are many, so that launches are not read slower than they are made;
/// then clocks are fitted roughly whatever that costs them. `again` gets those of which too little
/// was copied; from now on more is.
void BufferReader::decode_all(std::span<LaunchPointer> launches,
                              std::vector<LaunchPointer>& again) {
  const bool is_late = launches.size() >= kMany;
  std::atomic<size_t> next{0};
  const auto work = [&](Decoder& decoder) {
    for (size_t at = next++; at < launches.size(); at = next++) {
      Launch& launch = *launches[at];
      if (launch.kernel == nullptr) continue;
      launch.most_written = most_written(launch.bytes_read, launch.geometry);
      if (launch.most_written <= launch.geometry.kept_bytes()) decode(launch, decoder, is_late);
    }
  };
  const size_t cores = std::max(1u, std::thread::hardware_concurrency() / 4);
  std::vector<std::thread> helpers;
  for (size_t i = 1; is_late && i < std::min(cores, decoders_.size()); ++i) {
    helpers.emplace_back(work, std::ref(decoders_[i]));
  }
  work(decoders_[0]);
  for (std::thread& helper : helpers) helper.join();
  for (LaunchPointer& launch : launches) {
    if (launch->kernel == nullptr || launch->host() != nullptr) continue;
    uint32_t& expected = expected_[launch->kernel_number];
    const uint32_t used = launch->most_written;
    expected = expected == UINT32_MAX ? used : std::max(expected, used);
    if (used > launch->geometry.kept_bytes()) again.push_back(std::move(launch));
  }
}

void BufferReader::decode(Launch& launch, Decoder& decoder, bool is_late) {
  const RecordingKernel& kernel = *launch.kernel;
  const std::span<const std::byte> bytes(launch.bytes_read, launch.geometry.size_bytes());
  const int64_t started_ns = now_ns();
  DecodeOptions options;
  options.clock_bits = kernel.clock_bits;
  options.cost = kernel.cost;
  options.nominal_cycles_per_ns = launch.memory->cycles_per_ns;
  options.expected_warps = kernel.expected_warps(launch.grid_ctas);
  options.host_offset = &launch.memory->host_offset;
  if (!launch.is_captured) options.kernel = {launch.start_ns, launch.end_ns};
  options.keeps_spans = Reporter::wants_spans(launch);
  options.fit = options.keeps_spans ? ClockFit::kExact
                : is_late           ? ClockFit::kRough
                                    : ClockFit::kQuick;
  std::vector<std::span<const std::byte>> drained(launch.drained.begin(), launch.drained.end());
  try {
    const DecodedBuffer& decoded =
        decoder.decode(bytes, launch.geometry, kernel.regions, options, drained);
    if (decoded.cycles_per_ns > 0) launch.memory->cycles_per_ns = decoded.cycles_per_ns;
    reporter_.report(launch, decoded);
    if (kernel.keeps_bytes) reporter_.keep(launch);
  } catch (const std::exception& error) {
    reporter_.problems().note(concat("records of kernel ", quote(kernel.name), ": ", error.what()));
    Reporter::book_drop(launch);
  }
  ++reporter_.counts.decoded;
  reporter_.counts.decode_ns += static_cast<uint64_t>(now_ns() - started_ns);
}

CudaResult BufferReader::fetch(Launch& launch) {
  ContextMemory& memory = *launch.memory;
  CudaResult result = reserve_staging(memory, launch.copied_bytes);
  if (std::byte* const host = launch.host()) {
    launch.bytes_read = host;
    return result;
  }
  launch.bytes_read = memory.staging;
  if (result == kCudaSuccess) result = copy(launch);
  return result == kCudaSuccess ? wait_for_copies(memory) : result;
}

void BufferReader::drop(const Launch& launch, CudaResult result) {
  reporter_.drop(launch,
                 result == kTimeout ? "copying them took too long" : driver_.describe_cuda(result));
}

void BufferReader::drop_with_event(const Launch& launch, CudaResult result) {
  make_current(*launch.memory);
  drop(launch, result);
  driver_.destroy_event(launch.event);
}

void BufferReader::free_memory() {
  for (ContextMemory* const memory : pool_.contexts()) {
    make_current(*memory);
    pool_.free_unused(*memory);
    if (!memory->zeroing.empty()) continue;  // for long: the next session has it back
    if (memory->staging != nullptr) driver_.free_host(memory->staging);
    if (memory->side_event != nullptr) driver_.destroy_event(memory->side_event);
    if (memory->side_stream != nullptr) driver_.destroy_stream(memory->side_stream);
    memory->staging = nullptr;
    memory->staging_bytes = 0;
    memory->side_event = nullptr;
    memory->side_stream = nullptr;
  }
}

}  // namespace proton::device_buffer
