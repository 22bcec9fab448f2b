/// The Python frames of the calling thread, with or without the GIL. Plain C: see the source.
#pragma once

#include <Python.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A frame as it was met. Its instruction lies inside its code, so that it tells the place too, as
/// long as the code is alive.
struct proton_mark {
  const void* instruction;
  void* frame;  // good until the thread goes on
};

struct proton_frame {
  PyCodeObject* code;  // borrowed from the frame
  int offset;          // of the instruction, as PyFrame_GetLasti tells it
};

/// Fills `marks`, innermost first, and returns how many there are, which may be more than
/// `capacity`; -1: this build of Python does not let us look. `changed` becomes 1 more than the
/// last index at which `before` differs. `state` is the calling thread's own, or another's
/// while the caller holds the GIL.
int proton_read_marks(PyThreadState* state, struct proton_mark* marks,
                      const struct proton_mark* before, int capacity, int* changed);

/// Where a frame stands. 0: it has not begun, and is none for the user. A mark that may mean
/// another frame later becomes null.
int proton_read_frame(struct proton_mark* mark, struct proton_frame* frame);

/// The first argument of every frame that runs `code` (null: of the others), as many as there are
/// marks: `self` of a method. Borrowed from the frame. True for the frames that `proton_read_marks`
/// has just met.
void proton_read_selves(const struct proton_mark* marks, int count, const PyCodeObject* code,
                        PyObject** selves);

/// How often the GIL has gone from one thread to another, and who had it last (null: unknown).
/// 0: somebody has it, or this build of Python does not tell. Any thread.
int proton_lock_turns(unsigned long* turns, const PyThreadState** holder);

#ifdef __cplusplus
}
#endif
