#include "backends/device_buffer/recorder/replay_counters.h"

#include <algorithm>

namespace proton::device_buffer {

uint32_t ReplayCounters::add(CudaStream stream, CudaResult& result) {
  result = refusal_;
  if (result == kCudaSuccess && size_ == modules_.size() * kReplayCounters) {
    result = refusal_ = add_module();
  }
  if (result != kCudaSuccess) return kNone;
  const auto& [function, counters] = modules_.back();
  DeviceAddress counter = counters + size_ % kReplayCounters * sizeof(uint64_t);
  void* arguments[] = {&counter};
  result = driver_.launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr);
  return result == kCudaSuccess ? size_++ : kNone;
}

CudaResult ReplayCounters::add_module() {
  const RelaxedCapture relaxed(driver_);
  void* module = nullptr;
  Module added;
  size_t bytes = 0;
  CudaResult result = driver_.load_module(&module, kReplayCounterPtx);
  if (result == kCudaSuccess) {
    result = driver_.find_function(&added.function, module, kReplayCounterName);
  }
  if (result == kCudaSuccess) {
    result = driver_.find_global(&added.counters, &bytes, module, kReplayCountersName);
  }
  if (result == kCudaSuccess) modules_.push_back(added);
  return result;
}

CudaResult ReplayCounters::copy(std::byte* target, uint32_t count, CudaStream stream) const {
  CudaResult result = kCudaSuccess;
  for (size_t at = 0; at < modules_.size() && count > 0 && result == kCudaSuccess; ++at) {
    const uint32_t here = std::min(count, kReplayCounters);
    const size_t bytes = here * sizeof(uint64_t);
    result = driver_.copy_to_host(target, modules_[at].counters, bytes, stream);
    target += bytes;
    count -= here;
  }
  return result;
}

}  // namespace proton::device_buffer
