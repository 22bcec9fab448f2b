/// Metric values on a device: what the converter of tensors gives in their place. GIL held.
#pragma once

#include <nanobind/nanobind.h>

#include "model/metric.h"
#include "session/metrics/metric_table.h"

namespace proton::bindings {

/// A value whose reading is under way; whoever does not book it lets go of it.
struct PyDeviceValue {
  ValueId id;
  bool is_integer;  // the tensor's numbers
  uint32_t count;
  bool is_scalar;
  bool is_captured;
};

/// Whether `object` is one; then `value` is it.
bool is_device_value(PyObject* object, PyDeviceValue& value);

void add_device_values(nanobind::module_& module);

}  // namespace proton::bindings
