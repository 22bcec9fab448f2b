/// What instrumented kernels recorded, from the decoder to a session.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "backends/device_buffer/decoded_buffer.h"
#include "bindings/session_object.h"

namespace proton::bindings {

/// Books one launch; see `Session.add_in_kernel` in _native.pyi.
void add_in_kernel(PySession& self, const device_buffer::DecodedBuffer& decoded,
                   nanobind::handle record_map, nanobind::str kernel,
                   const std::string& device_type, uint32_t device_id,
                   std::optional<ContextId> context, std::optional<int> phase);

}  // namespace proton::bindings
