/// The Python frames of the calling thread, with or without the GIL. Plain C: see the source.
#pragma once

#include <Python.h>

#ifdef __cplusplus
extern "C" {
#endif

struct proton_frame {
  PyCodeObject* code;  // borrowed from the frame
  int offset;          // of the instruction, as PyFrame_GetLasti tells it
};

/// Fills `frames`, innermost first, and returns how many there are, which may be more than
/// `capacity`; -1: this build of Python does not let us look. `state` is the calling thread's own.
int proton_read_frames(PyThreadState* state, struct proton_frame* frames, int capacity);

#ifdef __cplusplus
}
#endif
