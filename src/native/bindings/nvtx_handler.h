/// Turns what the injected NVTX library reports into ranges of the core. Free of Python; called on
/// any thread, with or without the GIL.
#pragma once

#include <cstdint>
#include <string>

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

}  // namespace proton::bindings
