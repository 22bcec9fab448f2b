/// The parts of the module `proton._native` that nanobind makes: each adds its types and functions.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "model/sampled_code.h"

namespace proton::bindings {

void add_columns(nanobind::module_& module);
void add_convert(nanobind::module_& module);
void add_cubin(nanobind::module_& module);
void add_cupti(nanobind::module_& module);
void add_device_buffer(nanobind::module_& module);
void add_device_memory(nanobind::module_& module);
void add_device_values(nanobind::module_& module);
void add_read(nanobind::module_& module);
void add_recorder(nanobind::module_& module);
void add_session(nanobind::module_& module);
void add_torch(nanobind::module_& module);

/// The code of a sampled function, from the cubins that the process keeps. Null: no cubin of the
/// module is kept, or it has no such function. Any thread, with or without the GIL.
std::shared_ptr<const SampledCode> find_sampled_code(uint64_t module, std::string_view symbol);

}  // namespace proton::bindings
