/// What backends report, before it is placed in a tree or on a timeline.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/ids.h"

namespace proton {

/// One finished kernel. Times are nanoseconds of the host clock.
struct KernelEvent {
  CorrelationId correlation = 0;  // of the on_launch that started it
  std::string_view name;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  std::string_view device_type;  // "CUDA", "HIP", "CPU"
  uint32_t device_id = 0;
  uint64_t lane = 0;  // the stream
};

}  // namespace proton
