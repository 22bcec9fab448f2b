/// Names of NVTX ranges as names of scopes. Torch's emit_nvtx adds numbers to the name of an
/// operator that differ at every call; a tree with a node for each would tell nothing, so they are
/// left out. Sizes, which one has to ask for, stay.
#pragma once

#include <string>
#include <string_view>

namespace proton::bindings {

inline constexpr std::string_view kNoName = "<unnamed>";

/// `aten::add, seq = 12, op_id = 7, sizes = [[2]]` -> `aten::add, sizes = [[2]]`. The result is
/// `name` itself or stands in `buffer`.
std::string_view plain_name(std::string_view name, std::string& buffer);

}  // namespace proton::bindings
