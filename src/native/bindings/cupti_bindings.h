/// The `Cupti` class of the module: the hub that reports to sessions.
#pragma once

#include <nanobind/nanobind.h>

namespace proton::bindings {

void add_cupti(nanobind::module_& module);

}  // namespace proton::bindings
