/// Which stack the running code is on: its thread's, or its task's. GIL held.
///
/// A thread's base context uses the thread's own stack. Inside an entered contextvars.Context
/// (every asyncio task and callback runs in one) the stack is an immutable object in a
/// ContextVar, so that a task starts with its creator's path and then goes its own way.
#pragma once

#include <Python.h>

#include "session/scopes/context_stack.h"
#include "session/scopes/thread_state.h"

namespace proton::bindings {

/// The calling thread, if it is in its base context and was here before in the same one: the fast
/// path. Null otherwise; then ask `Current`.
inline ThreadState* thread_in_base_context() {
  ThreadState* thread = this_thread;
  if (thread == nullptr || thread->is_in_task) return nullptr;
  return thread->host_context == _PyThreadState_UncheckedGet()->context ? thread : nullptr;
}

/// The stack of the running thread or task. Changes of a task's stack last only after `commit`.
class Current {
 public:
  Current();
  ~Current();
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

  ThreadState& thread() const { return thread_; }
  ContextStack& stack() { return is_task_ ? task_stack_ : thread_.stack; }
  const void* home() const { return home_; }

  /// Opens a scope; takes over the references.
  ScopeEntry& push(PyObject* name, PyObject* owner);
  /// Takes the top entry off; end it with `drop_entry`.
  ScopeEntry* pop();
  /// Puts back a chain of `count` entries that were taken off, below `chain`, which is the last of
  /// them and whose reference it takes over. They belong to the running thread or task from now on.
  void put_back(ScopeEntry* chain, size_t count);
  /// False: a Python error is set.
  bool commit();

 private:
  ThreadState& thread_;
  bool is_task_;
  const void* home_;
  ContextStack task_stack_;
};

/// Takes the top entry off a thread's own stack.
inline ScopeEntry* pop_own(ThreadState& thread) {
  ContextStack& stack = thread.stack;
  ScopeEntry* entry = stack.pop();
  if (stack.top != nullptr && stack.top->home != &thread) {  // a foreign thread's last scope
    drop_entry(stack.top);
    stack.top = nullptr;
  }
  return entry;
}

/// Frames the thread saw last, for python_context.cpp.
void* frame_cache(ThreadState& thread);

/// Sets the hooks of the core that concern threads; false: a Python error is set.
bool init_current();

}  // namespace proton::bindings
