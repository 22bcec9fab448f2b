/// The Python side of cubins: `_native.Cubin`.
#pragma once

#include <nanobind/nanobind.h>

namespace proton::bindings {

void add_cubin(nanobind::module_& module);

}  // namespace proton::bindings
