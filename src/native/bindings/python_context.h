/// The Python stack as a path: frames are (code object, instruction offset) pairs while recording
/// and become `file:line@function` only when written. Frames of proton itself are left out.
/// GIL held.
#pragma once

#include <Python.h>

#include <cstdint>
#include <string>
#include <vector>

#include "model/ids.h"
#include "session/thread_state.h"

namespace proton::bindings {

struct SeenFrame {
  PyCodeObject* code;
  int offset;
  PathId path;  // of this frame, within the cache's epoch
};

/// The stack that a thread showed last, outermost frame first: the next one mostly starts alike.
struct FrameCache {
  std::vector<SeenFrame> frames;
  uint32_t epoch = 0;
};

/// Sets the hooks of the core that concern frames. `package` is the folder of the proton package.
void init_python_context(const std::string& package);

void clear_frame_tables();

}  // namespace proton::bindings
