/// `InKernel`: the recorder of kernels that record about themselves.
#pragma once

#include <nanobind/nanobind.h>

namespace proton::bindings {

void add_recorder(nanobind::module_& module);

}  // namespace proton::bindings
