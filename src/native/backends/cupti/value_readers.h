/// The reading kernel in every CUDA context that has values to read: its module, its ring, and the
/// launch. Nothing here waits for the GPU. Callers hold a lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/cupti/driver/library.h"
#include "backends/cupti/metric_kernel.h"

namespace proton::cupti {

/// One run of the kernel.
struct ValueRun {
  uint64_t id;
  std::vector<uint64_t> elements;  // int64 or double
};

/// The host's side of the ring that the reading kernel writes to: memory of ours that the driver
/// only registers, so that it can be read whatever becomes of the context.
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

/// A tensor that a metric's value is.
struct ValueSource {
  uint64_t address = 0;
  int64_t stride_bytes = 0;
  uint32_t count = 1;
  ElementKind kind = ElementKind::kFloat32;
  bool is_scalar = true;  // else a list, even of one element
  int device = 0;
  void* stream = nullptr;
};

struct ValueReader {
  Context context = nullptr;
  uint64_t context_id = 0;  // handles of destroyed contexts are used again
  int device = 0;
  void* function = nullptr;
  uint64_t ring_address = 0;  // the device's
  std::unique_ptr<ValueRing> ring;
};

/// Makes the context of a device current on the calling thread, for as long as it lives.
class ContextGuard {
 public:
  /// Keeps the current context where it is one of `device`. Throws BackendError.
  ContextGuard(const Library& library, int device);
  ~ContextGuard();
  ContextGuard(const ContextGuard&) = delete;
  ContextGuard& operator=(const ContextGuard&) = delete;

  Context context() const { return context_; }

 private:
  const Library& library_;
  Context context_ = nullptr;
  bool is_pushed_ = false;
};

class ValueReaders {
 public:
  static constexpr uint32_t kDefaultBits = 18;  // 4 MiB: more than the records of several buffers

  /// The one of a context, made at first sight. Throws BackendError. Capturing is not disturbed.
  ValueReader& find(const Library& library, Context context, int device);

  void set_open(bool is_open);
  void set_capacity_bits(uint32_t bits) { capacity_bits_ = bits; }
  uint32_t capacity_bits() const { return capacity_bits_; }

  void drain(std::vector<ValueRun>& runs);
  uint64_t take_dropped();

 private:
  std::vector<std::unique_ptr<ValueReader>> readers_;
  std::vector<ValueRun> last_runs_;  // of contexts that are gone
  uint32_t capacity_bits_ = kDefaultBits;
  bool is_open_ = false;
};

/// Throws BackendError where the driver refuses `function`.
void check_cuda(const Library& library, CudaResult result, const char* function);

}  // namespace proton::cupti
