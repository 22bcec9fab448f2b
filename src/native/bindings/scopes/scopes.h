/// The type `proton.scope` and the functions beside it, in the raw C-API, and what both need to
/// leave scopes. GIL held.
#pragma once

#include <Python.h>

#include "bindings/scopes/current.h"
#include "session/scopes/context_stack.h"
#include "session/scopes/scope_events.h"

namespace proton::bindings {

/// Adds `Scope` and the scope functions to the module; false: a Python error is set.
bool add_scope_type(PyObject* module);
bool add_scope_functions(PyObject* module);

/// Books in the active sessions that `entry` was left, with metrics (a mapping, None or null).
/// False: a Python error is set; everything that could be booked is booked.
bool book_exit(ThreadState& thread, ScopeEntry& entry, PyObject* metrics);

/// The same where sessions may be inactive, or none may want to know.
inline bool finish_entry(ThreadState& thread, ScopeEntry& entry, PyObject* metrics) {
  if (!process.is_recording() || (metrics == nullptr && !is_exit_wanted(entry))) return true;
  return book_exit(thread, entry, metrics);
}

/// Takes `entry` off the stack of `current`; entries still open above it are closed and counted.
/// The caller ends `entry` with drop_entry.
void take_off(Current& current, ScopeEntry* entry);

/// An exit that has no entry here: forgiven after a fork, counted otherwise.
void count_unmatched_exit(ThreadState& thread);

}  // namespace proton::bindings
