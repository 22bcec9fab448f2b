/* The frames of the calling thread, read without the GIL: a thread that gave the lock up for a
 * call into C has a stack that nobody else changes, and its frames keep their code alive. The
 * layout is that of the Python we are compiled for, which is why this is C: its headers are. */
#define Py_BUILD_CORE 1
#include <Python.h>

#if PY_VERSION_HEX < 0x030E0000 && __has_include(<internal/pycore_frame.h>)
#include <internal/pycore_code.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>
#define PROTON_HAS_FRAMES 1
#else
#define PROTON_HAS_FRAMES 0
#endif

#include "bindings/scopes/python_frames.h"

#if PROTON_HAS_FRAMES

static _PyInterpreterFrame* top_frame(PyThreadState* state) {
#if PY_VERSION_HEX >= 0x030D0000
  return state->current_frame;
#else
  return state->cframe == NULL ? NULL : state->cframe->current_frame;
#endif
}

static PyCodeObject* code_of(_PyInterpreterFrame* frame) {
#if PY_VERSION_HEX >= 0x030D0000
  return (PyCodeObject*)frame->f_executable;
#else
  return frame->f_code;
#endif
}

static const void* instruction_of(_PyInterpreterFrame* frame) {
#if PY_VERSION_HEX >= 0x030D0000
  return frame->instr_ptr;
#else
  return frame->prev_instr;
#endif
}

int proton_read_marks(PyThreadState* state, struct proton_mark* marks,
                      const struct proton_mark* before, int capacity, int* changed) {
  int count = 0;
  int last = 0;
  for (_PyInterpreterFrame* frame = top_frame(state); frame != NULL; frame = frame->previous) {
    if (count < capacity) {
      const void* instruction = instruction_of(frame);
      last = before[count].instruction == instruction ? last : count + 1;
      marks[count].instruction = instruction;
      marks[count].frame = frame;
    }
    ++count;
  }
  *changed = last;
  return count;
}

int proton_read_frame(struct proton_mark* mark, struct proton_frame* result) {
  _PyInterpreterFrame* frame = (_PyInterpreterFrame*)mark->frame;
  if (_PyFrame_IsIncomplete(frame)) {
#if PY_VERSION_HEX >= 0x030C0000
    if (frame->owner == FRAME_OWNED_BY_CSTACK) return 0;
#endif
    mark->instruction = NULL; /* nobody keeps its code alive */
    return 0;
  }
  result->code = code_of(frame);
  result->offset = _PyInterpreterFrame_LASTI(frame) * (int)sizeof(_Py_CODEUNIT);
  return 1;
}

void proton_read_selves(const struct proton_mark* marks, int count, const PyCodeObject* code,
                        PyObject** selves) {
  for (int i = 0; i < count; ++i) {
    _PyInterpreterFrame* frame = (_PyInterpreterFrame*)marks[i].frame;
    selves[i] = NULL;
    if ((const PyCodeObject*)code_of(frame) != code) continue;
    PyObject* self = frame->localsplus[0];
    /* an argument that an inner function uses lies in a cell, once the function has begun */
    selves[i] = self != NULL && PyCell_Check(self) ? PyCell_GET(self) : self;
  }
}

int proton_lock_turns(unsigned long* turns, const PyThreadState** holder) {
#if PY_VERSION_HEX >= 0x030C0000
  const struct _gil_runtime_state* lock = PyInterpreterState_Main()->ceval.gil;
#else
  const struct _gil_runtime_state* lock = &_PyRuntime.ceval.gil;
#endif
  /* The count first: it grows after the lock is taken. Twice: it and the holder belong together. */
  *turns = __atomic_load_n(&lock->switch_number, __ATOMIC_ACQUIRE);
  *holder =
      (const PyThreadState*)__atomic_load_n((const uintptr_t*)&lock->last_holder, __ATOMIC_ACQUIRE);
  if (__atomic_load_n(&lock->switch_number, __ATOMIC_RELAXED) != *turns) *holder = NULL;
  return __atomic_load_n((const int*)&lock->locked, __ATOMIC_ACQUIRE) == 0;
}

#else

int proton_read_marks(PyThreadState* state, struct proton_mark* marks,
                      const struct proton_mark* before, int capacity, int* changed) {
  (void)state, (void)marks, (void)before, (void)capacity, (void)changed;
  return -1;
}

int proton_read_frame(struct proton_mark* mark, struct proton_frame* frame) {
  (void)mark, (void)frame;
  return 0;
}

void proton_read_selves(const struct proton_mark* marks, int count, const PyCodeObject* code,
                        PyObject** selves) {
  (void)marks, (void)code;
  for (int i = 0; i < count; ++i) selves[i] = NULL;
}

int proton_lock_turns(unsigned long* turns, const PyThreadState** holder) {
  *turns = 0;
  *holder = NULL;
  return 0;
}

#endif
