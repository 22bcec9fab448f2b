/// The extremes of recorded numbers as Python has them. GIL held.
#pragma once

#include <nanobind/nanobind.h>

#include "backends/device_buffer/value_sum.h"

namespace proton::bindings {

/// An int or a float, as the kernel recorded it; None where no number was finite.
inline nanobind::object to_number(const device_buffer::ValueSum& values, int64_t integer,
                                  double real) {
  if (values.finite_count() == 0) return nanobind::none();
  if (values.is_float) return nanobind::float_(real);
  return nanobind::int_(integer);
}

inline nanobind::object least_of(const device_buffer::ValueSum& values) {
  return to_number(values, values.integers.min, values.floats.min);
}

inline nanobind::object most_of(const device_buffer::ValueSum& values) {
  return to_number(values, values.integers.max, values.floats.max);
}

}  // namespace proton::bindings
