/// JSON-like Python values (headers, autotune records, device attributes) as the core's Value.
/// GIL held; throws nanobind's python_error with the Python error set.
#pragma once

#include <nanobind/nanobind.h>

#include "model/value.h"

namespace proton::bindings {

Value to_value(nanobind::handle object);
Value::Map to_map(nanobind::handle mapping);

}  // namespace proton::bindings
