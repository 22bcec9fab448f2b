/// Code of sampled functions, from the cubins that the process keeps.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "model/sampled_code.h"

namespace proton::bindings {

/// Null: nobody has the module, or it has no such function. Any thread, with or without the GIL.
std::shared_ptr<const SampledCode> find_sampled_code(uint64_t module, std::string_view symbol);

}  // namespace proton::bindings
