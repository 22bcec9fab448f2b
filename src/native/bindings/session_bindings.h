/// The `Session` class of the module.
#pragma once

#include <nanobind/nanobind.h>

namespace proton::bindings {

void add_session(nanobind::module_& module);

}  // namespace proton::bindings
