/// Turns what the injected NVTX library reports into ranges of the core. Free of Python; called on
/// any thread, with or without the GIL.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "nvtx/handler.h"

namespace proton::bindings {

/// Opens the injected library, the same file that NVTX opens. Throws Error: what is wrong with it.
void load_nvtx(const std::string& path);

/// Whether calls come here from now on; the library must be loaded. GIL held.
void listen_to_nvtx(bool is_listening);

/// How many modules of the program have found the library; 0: it is not loaded.
uint32_t count_nvtx_modules();

/// In a forked child: nobody listens.
void forget_nvtx() noexcept;

/// For tests: what the library calls.
const nvtx::Handler& nvtx_handler();

inline constexpr std::string_view kNoName = "<unnamed>";

/// The name of a range as the name of a scope. Torch's emit_nvtx adds numbers to the name of an
/// operator that differ at every call; a tree with a node for each would say nothing, so they are
/// left out. Sizes, which one has to ask for, stay.
/// `aten::add, seq = 12, op_id = 7, sizes = [[2]]` -> `aten::add, sizes = [[2]]`. The result is
/// `name` itself or stands in `buffer`.
std::string_view plain_name(std::string_view name, std::string& buffer);

}  // namespace proton::bindings
