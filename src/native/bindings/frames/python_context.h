/// The Python stack as a path: frames are (code object, instruction offset) pairs while recording
/// and become `file:line@function` only when written. Frames of proton itself are left out.
/// GIL held.
#pragma once

#include <Python.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "bindings/frames/frame_stack.h"
#include "model/ids.h"
#include "session/scopes/thread_state.h"

namespace proton::bindings {

/// The stack that a thread showed last, within an epoch.
struct FrameCache {
  FrameStack stack;
  uint32_t epoch = 0;
};

/// Positions that are no frames of the user's.
inline constexpr uint32_t kInternal = 0;  // proton itself: left out of the path
inline constexpr uint32_t kLauncher = 1;  // runs the target of the `proton` command: paths start
                                          // above it

/// Code objects are 16-byte aligned and kept alive, so that (code, offset) fits one exact key as
/// long as offsets stay below 2^20; longer functions share their last position.
inline uint64_t position_key(const PyCodeObject* code, int offset) {
  const auto limited = static_cast<uint64_t>(offset < 0 ? 0 : std::min(offset, (1 << 20) - 1));
  return (reinterpret_cast<uint64_t>(code) >> 4) << 20 | limited;
}

/// Whether Python is ending: nobody gets the GIL any more. Any thread.
inline bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

/// The number of a place in a code object, valid within the epoch; keeps the code alive.
uint32_t intern_position(PyCodeObject* code, int offset);

/// The path one position below `parent`.
PathId path_below(PathId parent, uint32_t position);

/// The path of a thread's frames, whichever it is.
PathId capture_frames_of(PyThreadState* state);

/// Sets the hooks of the core that concern frames. `package` is the folder of the proton package.
void init_python_context(const std::string& package);

void clear_frame_tables();

}  // namespace proton::bindings
