/// The Python side of what kernels count about memory: `_native.DeviceMemory`.
#pragma once

#include <nanobind/nanobind.h>

namespace proton::bindings {

void add_device_memory(nanobind::module_& module);

}  // namespace proton::bindings
