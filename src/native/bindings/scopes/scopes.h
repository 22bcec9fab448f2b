/// The type `proton.scope` and the functions beside it, in the raw C-API, what both need to leave
/// scopes, and metrics as users give them. GIL held.
#pragma once

#include <Python.h>

#include "bindings/scopes/current.h"
#include "session/metrics/metric_table.h"
#include "session/scopes/context_stack.h"
#include "session/scopes/scope_events.h"

namespace proton::bindings {

/// Appends one sample per entry of `metrics` (a mapping, None or null). False: a Python error is
/// set, and `samples` holds those before the bad one.
bool read_metrics(PyObject* metrics, SampleList& samples);

/// Whether what can be judged without converting tensors is good; false: a Python error is set.
bool check_metrics(PyObject* metrics);

/// `function(name, value)` for values that are no number or list; null: none.
void set_metric_converter(PyObject* function);

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

/// Whether an exit that has no entry here is one of those that a fork took the entry of.
inline bool forgive_exit(ThreadState& thread) {
  if (thread.forgiven_exits == 0) return false;
  --thread.forgiven_exits;
  return true;
}

}  // namespace proton::bindings
