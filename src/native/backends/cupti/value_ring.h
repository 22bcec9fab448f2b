/// The host's side of the ring that the reading kernel writes to: memory of ours that the driver
/// only registers, so that it can be read whatever becomes of the context. Callers hold a lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cupti/metric_kernel.h"

namespace proton::cupti {

/// One run of the kernel.
struct ValueRun {
  uint64_t id;
  std::vector<uint64_t> elements;  // int64 or double
};

class ValueRing {
 public:
  /// `capacity_bits` is the logarithm of the number of cells. Throws std::bad_alloc.
  explicit ValueRing(uint32_t capacity_bits);
  ~ValueRing();
  ValueRing(const ValueRing&) = delete;
  ValueRing& operator=(const ValueRing&) = delete;

  void* memory() { return header_; }
  size_t size_bytes() const { return sizeof(RingHeader) + (sizeof(RingCell) << bits_); }
  uint32_t capacity_bits() const { return bits_; }

  /// Whether reads that are part of graphs are to be made.
  void set_open(bool is_open);

  /// Appends the runs that are complete, in the order in which they began.
  void drain(std::vector<ValueRun>& runs);

  /// Runs without room since it was last asked.
  uint64_t take_dropped();

 private:
  RingCell* cells() { return reinterpret_cast<RingCell*>(header_ + 1); }

  RingHeader* header_;
  uint32_t bits_;
  uint64_t consumed_ = 0;
  uint64_t dropped_ = 0;
};

}  // namespace proton::cupti
