/// What the CUDA driver says about its devices.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/driver.h"
#include "model/value.h"

namespace proton {

/// CUdevice_attribute.
enum DeviceAttribute : int {
  kClockRate = 13,
  kMultiprocessorCount = 16,
  kMaxThreadsPerMultiprocessor = 39,
  kMemoryClockRate = 36,
  kMemoryBusWidth = 37,
  kL2CacheBytes = 38,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kSharedBytesPerMultiprocessor = 81,
  kRegistersPerMultiprocessor = 82,
  kReservedSharedBytesPerBlock = 111,
  kMaxBlocksPerMultiprocessor = 106,
};

/// The attributes of every device, in order of their ids: name, arch, num_sms, clock_rate and
/// memory_clock_rate (kHz), bus_width (bits) and more. Throws BackendError.
std::vector<Value::Map> list_devices(const CudaDriver& driver);

/// The highest compute capability of the devices, 100 for 10.0; 0 where there is none. The driver
/// must be initialised.
int newest_capability(const CudaDriver& driver);

/// The newest CUDA version that the driver serves, 13000 for 13.0.
int driver_version(const CudaDriver& driver);

}  // namespace proton
