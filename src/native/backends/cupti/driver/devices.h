/// What the CUDA driver says about its devices.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backends/cupti/driver/library.h"
#include "model/value.h"

namespace proton::cupti {

/// The attributes of every device, in order of their ids: name, arch, num_sms, clock_rate and
/// memory_clock_rate (kHz), bus_width (bits) and more. Throws BackendError.
std::vector<Value::Map> list_devices(const Library& library);

/// The highest compute capability of the devices, 100 for 10.0; 0 where there is none. The driver
/// must be initialised.
int newest_capability(const Library& library);

/// The newest CUDA version that the driver serves, 13000 for 13.0.
int driver_version(const Library& library);

}  // namespace proton::cupti
