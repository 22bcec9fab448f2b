/// The Python side of what kernels record: `_native.DeviceBuffer`.
#pragma once

#include <nanobind/nanobind.h>

namespace proton::bindings {

void add_device_buffer(nanobind::module_& module);

}  // namespace proton::bindings
