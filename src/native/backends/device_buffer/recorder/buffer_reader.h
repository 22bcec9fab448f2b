/// Reads buffers of launches that have ended: copies them on a stream of our own, has them decoded
/// and reported, and zeroes them for the next launch. For one thread, the follower's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backends/device_buffer/decoded_buffer.h"
#include "backends/device_buffer/recorder/buffer_pool.h"
#include "backends/device_buffer/recorder/launch.h"
#include "backends/device_buffer/recorder/reporter.h"

namespace proton::device_buffer {

class BufferReader {
 public:
  BufferReader(BufferPool& pool, Reporter& reporter)
      : driver_(pool.driver()), pool_(pool), reporter_(reporter) {}

  /// The calling thread is the one that reads from now on.
  void begin();
  void make_current(ContextMemory& memory);

  /// Reads the buffers of launches that have ended, and has their memory back.
  void read(std::vector<LaunchPointer> launches);
  /// Has the bytes of one planned launch in host memory, and leaves its buffer alone.
  CudaResult fetch(Launch& launch);
  /// Decodes the bytes of one launch, and reports them.
  void decode(Launch& launch) { decode(launch, decoders_[0], false); }
  /// How much of a buffer is to be copied: headers, and of rings as much as launches of the kernel
  /// have used so far, without what lies between; or the whole. A buffer that is smaller than its
  /// kernel says is dropped, and has no kernel any more.
  void plan_copy(Launch& launch, bool is_whole);

  CudaResult reserve_staging(ContextMemory& memory, size_t bytes);
  CudaResult wait_for_copies(ContextMemory& memory);
  void drop(const Launch& launch, CudaResult result);
  /// The launch will not be read: its memory is lost, as a kernel may still write to it.
  void drop_with_event(const Launch& launch, CudaResult result);

  /// Looks whether memory is zero; true: some is not yet.
  bool poll_zeroing();
  bool is_zeroing() const { return !zeroing_.empty(); }
  /// Gives the driver back what nobody uses.
  void free_memory();

 private:
  void read_batch(std::span<LaunchPointer> launches, std::vector<LaunchPointer>& again);
  CudaResult copy(const Launch& launch);
  void decode_all(std::span<LaunchPointer> launches, std::vector<LaunchPointer>& again);
  void decode(Launch& launch, Decoder& decoder, bool is_late);
  void zero(ContextMemory& memory, std::span<const LaunchPointer> launches);

  const CudaDriver& driver_;
  BufferPool& pool_;
  Reporter& reporter_;
  CudaContext current_ = nullptr;
  std::vector<ContextMemory*> zeroing_;  // those with memory that is being zeroed
  std::vector<uint32_t> expected_;       // by kernel: bytes of a ring that are used, so far
  std::array<Decoder, 4> decoders_;      // its own, then its helpers'
};

}  // namespace proton::device_buffer
