/// What kernels recorded, between Python and the core: a kernel's record map for the decoder, a
/// decoded launch for a session, recorded numbers for Python. GIL held.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/device_buffer/decode.h"
#include "backends/device_buffer/decoded_buffer.h"
#include "backends/device_buffer/recorder/reporter.h"
#include "backends/device_buffer/region_contexts.h"
#include "bindings/objects/session_object.h"

namespace proton::bindings {

/// A number of the record map; `missing` where it has none. Throws Error.
uint32_t number_in(nanobind::handle mapping, const char* name, uint32_t missing);

/// Whether spans are to be placed without what records cost.
bool is_shifted(nanobind::handle record_map);

/// What of the record map matters to the decoder. Throws Error.
std::vector<device_buffer::Region> regions_of(nanobind::handle record_map);

/// What its regions are called, by their ids. Throws Error.
std::vector<device_buffer::RegionLabel> labels_of(nanobind::handle record_map);

/// Books one launch; see `Session.add_in_kernel` in _native.pyi.
void add_in_kernel(PySession& self, const device_buffer::DecodedBuffer& decoded,
                   nanobind::handle record_map, nanobind::str kernel,
                   const std::string& device_type, uint32_t device_id,
                   std::optional<ContextId> context, std::optional<int> phase);

/// What could not be read or trusted, by kind; kinds that never happened are left out.
inline nanobind::dict losses_of(const device_buffer::Losses& losses) {
  nanobind::dict counts;
  visit_losses(losses, [&](const char* name, uint64_t count) {
    if (count != 0) counts[name] = count;
  });
  return counts;
}

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
