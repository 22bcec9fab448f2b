/// Theoretical occupancy: how many of the warps that a multiprocessor can hold a launch may fill,
/// by its block size, registers and shared memory. Computed when a snapshot is made, from what the
/// driver says about the device, so that launches pay nothing for it. Private to session/.
#pragma once

#include <cstdint>
#include <optional>

#include "model/event.h"
#include "model/value.h"

namespace proton {

/// What one multiprocessor has to give.
struct SmLimits {
  int64_t major = 0;  // of the compute capability
  int64_t max_threads = 0;
  int64_t max_blocks = 0;
  int64_t registers = 0;
  int64_t shared_bytes = 0;
  int64_t reserved_shared_bytes = 0;  // of every block, taken by the driver

  /// From the attributes of a device; none where one is missing or the device is no NVIDIA GPU.
  static std::optional<SmLimits> from(const Value::Map& attributes);
};

/// Blocks of such a launch that fit on a multiprocessor at once; 0: not even one.
int64_t resident_blocks(const SmLimits& limits, const LaunchShape& shape);

/// Share of the warps, 0 to 1, to four decimals. None where the shape says too little, or where the
/// launch could not have run: then the limits are not those of its device.
std::optional<double> occupancy_of(const SmLimits& limits, const LaunchShape& shape);

}  // namespace proton
