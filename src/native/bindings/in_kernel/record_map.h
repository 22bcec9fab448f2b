/// A kernel's record map, as Python has it, for the decoder. GIL held.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

#include "backends/device_buffer/decode.h"

namespace proton::bindings {

/// A number of the record map; `missing` where it has none. Throws Error.
uint32_t number_in(nanobind::handle mapping, const char* name, uint32_t missing);

/// Whether spans are to be placed without what records cost.
bool is_shifted(nanobind::handle record_map);

/// What of the record map matters to the decoder. Throws Error.
std::vector<device_buffer::Region> regions_of(nanobind::handle record_map);

}  // namespace proton::bindings
