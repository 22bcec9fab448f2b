/// Where work belongs for sessions that record a framework: scopes, then the Python frames with the
/// modules that they call, then the framework's operators.
#pragma once

#include <atomic>

#include "model/ids.h"

namespace proton::bindings {

/// Whether frames are read. While they are not, such sessions have scopes alone: those of the
/// command, until the program imports a framework. Any thread.
extern std::atomic<bool> reads_frames;

/// Scopes, state, frames and modules of the calling thread, without operators; of a thread without
/// Python frames, the lead's scopes. Any thread; takes the GIL for what it sees for the first time.
ContextId framework_here() noexcept;

}  // namespace proton::bindings
