/// Memory that kernels record into: blocks of one CUDA context, used again and again. Whoever gives
/// one back has zeroed it. Callers hold a lock and have the context current.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backends/cuda/driver.h"

namespace proton::device_buffer {

/// Device memory, or (`host` is set) memory of the host that the device writes to.
struct Block {
  DeviceAddress address = 0;
  std::byte* host = nullptr;
  size_t size_bytes = 0;
  bool is_zero = false;  // as far as `clean_bytes`; a new one of the device is not
  size_t clean_bytes = 0;
  size_t slab = 0;  // that it was cut out of
};

class BlockPool {
 public:
  static constexpr size_t kAlignment = 256;              // what the driver promises
  static constexpr size_t kMostBytes = size_t{1} << 30;  // in all

  BlockPool(const CudaDriver& driver, size_t most_bytes)
      : driver_(driver), most_bytes_(most_bytes) {}

  /// A free block of at least `bytes`; null: the pool has reached its limit, or memory has ended
  /// (`result` says so). `is_kept`: it will not come back, and shares its memory with no other.
  /// Where the block is not zero, the caller zeroes those `bytes`; whoever had it before may have
  /// zeroed fewer.
  Block* take(size_t bytes, bool is_host, bool is_kept, CudaResult& result);
  void give_back(Block* block) { free_.push_back(block); }
  /// A block that others may write to at the same time, and that nobody reads; null: no memory. It
  /// stays as long as the context: a launch may be about to use it, or a graph at each replay.
  Block* scrap(size_t bytes, CudaResult& result);
  /// Memory none of which is in use, scraps not included; the pool has it no more. To be released
  /// without a lock that launching threads need: the driver may wait for the device.
  std::vector<Block> take_unused();
  static void release(const CudaDriver& driver, std::span<const Block> memory);
  size_t size_bytes() const { return size_bytes_; }

 private:
  /// One allocation of the driver, which takes its time over each: blocks of one size are cut out
  /// of it, the more of them there are already, the more.
  struct Slab {
    Block memory;
    size_t blocks = 1;
    size_t free_blocks = 0;
  };

  bool add_slab(size_t block_bytes, bool is_host, bool is_kept, CudaResult& result);
  size_t blocks_to_add(size_t block_bytes) const;
  std::unique_ptr<Block> allocate(size_t bytes, bool is_host, CudaResult& result);

  const CudaDriver& driver_;
  const size_t most_bytes_;
  size_t size_bytes_ = 0;
  std::vector<Slab> slabs_;  // by number; without blocks: freed
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<Block*> free_;
  std::vector<std::unique_ptr<Block>> scraps_;  // the largest last; launches may use older ones
  unsigned long long scraps_context_ = 0;       // the driver's number of the context they are in
};

}  // namespace proton::device_buffer
