/// A launch of a kernel that records: the kernel as its compiler described it, the buffer that the
/// launch was given, and what is known of the launch until its buffer is zero again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/device_buffer/decode.h"
#include "backends/device_buffer/layout.h"
#include "backends/device_buffer/recorder/block_pool.h"
#include "backends/device_buffer/recorder/replay_counters.h"
#include "model/ids.h"

namespace proton::device_buffer {

struct ContextMemory;
struct Target;

/// What a region is called.
struct RegionLabel {
  std::string name;
  std::string source;     // "mm.py:22", or empty
  bool is_event = false;  // its passages may overlap others of their warp
};

/// Never changes once the recorder knows it.
struct RecordingKernel {
  std::string name;
  std::vector<Region> regions;      // as the decoder needs them
  std::vector<RegionLabel> labels;  // of the same regions
  uint32_t clock_bits = kShortClockBits;
  uint32_t ring_bytes = 0;     // of a stream of records
  uint32_t stream_count = 1;   // streams of a CTA
  uint32_t scratch_bytes = 0;  // of the buffer, for every CTA of the grid
  uint32_t cta_every = 1;      // one CTA of so many records
  std::vector<uint32_t> ctas;  // those that record; empty: see `cta_every`
  bool has_mailbox = false;    // it tells the host when a ring is full, and waits a little
  bool keeps_bytes = false;    // its buffers are handed over whole, besides
  RecordCost cost{};           // of its records

  /// How the buffer of a grid of so many CTAs is divided.
  Geometry geometry(uint64_t grid_ctas) const {
    const uint64_t every = std::max<uint32_t>(cta_every, 1);
    const uint64_t recorded = ctas.empty() ? (grid_ctas + every - 1) / every : ctas.size();
    return {static_cast<uint32_t>(recorded), stream_count, ring_bytes};
  }

  /// Streams that a grid of so many CTAs can fill.
  uint64_t expected_warps(uint64_t grid_ctas) const {
    if (ctas.empty()) return geometry(grid_ctas).slot_count();
    const auto there = std::count_if(ctas.begin(), ctas.end(),
                                     [&](uint32_t cta) { return uint64_t{cta} < grid_ctas; });
    return static_cast<uint64_t>(there) * stream_count;
  }
};

/// A buffer for one launch, or for all replays of a captured one.
struct LaunchBuffer {
  ContextMemory* memory = nullptr;
  Block* block = nullptr;
  DeviceAddress address = 0;
  size_t bytes = 0;
  CudaStream stream = nullptr;
  uint64_t lane = 0;
  int64_t start_ns = 0;
  uint64_t era = 0;  // of the reporter, when it was asked for
  bool is_captured = false;
  uint32_t replay_counter = ReplayCounters::kNone;
  bool is_scrap = false;  // there was no memory: nobody reads it, and others may write to it

  /// Where the host sees it; null: in the device's memory.
  std::byte* host() const {
    return block->host == nullptr ? nullptr : block->host + (address - block->address);
  }
  /// Whether its memory is to come back once the stream has got there.
  bool comes_back() const { return !is_scrap && !is_captured; }
};

/// Where a launch belongs in a session.
struct Destination {
  std::shared_ptr<Target> target;
  ContextId context;
  int phase;
};

/// A launch whose buffer is to be read, or is to come back. One thread at a time has it.
struct Launch : LaunchBuffer {
  explicit Launch(const LaunchBuffer& buffer) : LaunchBuffer(buffer) {}

  uint64_t number = 0;
  uint32_t kernel_number = 0;
  const RecordingKernel* kernel = nullptr;  // null: not known, or not to be read
  uint64_t grid_ctas = 0;
  uint64_t note = 0;
  CudaEvent event = nullptr;
  int64_t end_ns = 0;  // when it was seen to have ended
  CudaResult failure = kCudaSuccess;
  uint64_t replays_seen = 0;  // in its counter, when it was last looked at
  std::vector<Destination> destinations;
  std::vector<std::vector<std::byte>> drained;  // by slot, of kernels with a mailbox
  size_t drained_bytes = 0;
  // while it is being read
  Geometry geometry{};        // of the copy
  size_t copied_bytes = 0;    // of the buffer
  uint32_t most_written = 0;  // bytes of its ring that a warp has used, or the whole ring
  std::byte* bytes_read = nullptr;

  bool has_mailbox() const { return kernel != nullptr && kernel->has_mailbox; }
  /// Takes full rings out of the mailbox of a running kernel, and lets its warps go on.
  void drain();
  /// Nobody is to read it: only its memory comes back. Its warps do not wait for the host, either.
  void leave_unread();
};
using LaunchPointer = std::unique_ptr<Launch>;

}  // namespace proton::device_buffer
