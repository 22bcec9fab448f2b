/// How often captured launches were replayed. In front of each stands a kernel of our own, as PTX
/// that every driver since CUDA 12 compiles, which adds one to a counter in device memory: part of
/// its module, so that the driver zeroes it. The host only reads: whoever does remembers what was
/// there before, and no replay under way is disturbed. Counters are never freed, as graphs are not
/// known to be gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cuda/driver.h"
#include "backends/cuda/own_kernels.h"

namespace proton::device_buffer {

inline constexpr const char* kReplayCountersName = "proton_replays";
inline constexpr uint32_t kReplayCounters = 4096;  // of a module

inline constexpr const char* kReplayCounterPtx = R"(
.version 6.0
.target sm_50
.address_size 64

.visible .global .align 8 .u64 proton_replays[4096];

.visible .entry proton_count_replay(.param .u64 counter)
{
  .reg .b64 %v<2>;

  ld.param.u64 %v0, [counter];
  cvta.to.global.u64 %v0, %v0;
  mov.u64 %v1, 1;
  red.global.add.u64 [%v0], %v1;
  ret;
}
)";

/// Those of one CUDA context. Callers hold a lock and have the context current.
class ReplayCounters {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit ReplayCounters(const CudaDriver& driver) : driver_(driver) {}

  /// The number of a counter of what follows on `stream`, which is being captured; kNone: it is not
  /// counted, and `result` says why.
  uint32_t add(CudaStream stream, CudaResult& result);
  uint32_t size() const { return size_; }
  /// Starts copying the first `count` of them, as one uint64_t each.
  CudaResult copy(std::byte* target, uint32_t count, CudaStream stream) const;

 private:
  struct Module {
    void* function = nullptr;
    DeviceAddress counters = 0;
  };

  CudaResult add_module();

  const CudaDriver& driver_;
  std::vector<Module> modules_;  // all counters of those before the last are in use
  uint32_t size_ = 0;
  CudaResult refusal_ = kCudaSuccess;  // to load the module; not asked for again
};

}  // namespace proton::device_buffer
