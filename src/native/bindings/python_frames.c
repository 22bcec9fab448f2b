/* The frames of the calling thread, read without the GIL: a thread that gave the lock up for a
 * call into C has a stack that nobody else changes, and its frames keep their code alive. The
 * layout is that of the Python we are compiled for, which is why this is C: its headers are. */
#define Py_BUILD_CORE 1
#include <Python.h>

#if PY_VERSION_HEX < 0x030E0000 && __has_include(<internal/pycore_frame.h>)
#include <internal/pycore_code.h>
#include <internal/pycore_frame.h>
#define PROTON_HAS_FRAMES 1
#else
#define PROTON_HAS_FRAMES 0
#endif

#include "bindings/python_frames.h"

#if PROTON_HAS_FRAMES

static _PyInterpreterFrame *top_frame(PyThreadState *state) {
#if PY_VERSION_HEX >= 0x030D0000
  return state->current_frame;
#else
  return state->cframe == NULL ? NULL : state->cframe->current_frame;
#endif
}

static PyCodeObject *code_of(_PyInterpreterFrame *frame) {
#if PY_VERSION_HEX >= 0x030D0000
  return (PyCodeObject *)frame->f_executable;
#else
  return frame->f_code;
#endif
}

static int offset_of(_PyInterpreterFrame *frame) {
  return _PyInterpreterFrame_LASTI(frame) * (int)sizeof(_Py_CODEUNIT);
}

int proton_read_frames(PyThreadState *state, struct proton_frame *frames, int capacity) {
  int count = 0;
  for (_PyInterpreterFrame *frame = top_frame(state); frame != NULL; frame = frame->previous) {
    if (_PyFrame_IsIncomplete(frame)) continue;
    if (count < capacity) {
      frames[count].code = code_of(frame);
      frames[count].offset = offset_of(frame);
    }
    ++count;
  }
  return count;
}

#else

int proton_read_frames(PyThreadState *state, struct proton_frame *frames, int capacity) {
  (void)state, (void)frames, (void)capacity;
  return -1;
}

#endif
