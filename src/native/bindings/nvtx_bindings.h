/// The Python side of NVTX: `_native.Nvtx`.
#pragma once

#include <nanobind/nanobind.h>

namespace proton::bindings {

void add_nvtx(nanobind::module_& module);

}  // namespace proton::bindings
