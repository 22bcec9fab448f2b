#include "bindings/scopes/leaving.h"

#include "bindings/errors.h"
#include "bindings/scopes/metric_values.h"
#include "model/losses.h"
#include "session/scopes/process.h"
#include "session/scopes/scope_events.h"

namespace proton::bindings {

bool book_exit(ThreadState& thread, ScopeEntry& entry, PyObject* metrics) {
  SampleList samples;
  const bool is_good = read_metrics(metrics, samples);
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  if (!is_good) PyErr_Fetch(&type, &value, &traceback);
  try {
    record_exit(thread, entry, samples);
  } catch (const Error& error) {
    if (is_good) {
      raise(error);
      return false;
    }
  }
  if (!is_good) PyErr_Restore(type, value, traceback);
  return is_good;
}

void take_off(Current& current, ScopeEntry* entry) {
  ContextStack& stack = current.stack();
  while (stack.top != entry) {
    ScopeEntry* above = current.pop();
    if (!above->is_closed) {
      process.count_loss(losses::kUnclosedScope);
      if (process.is_recording()) record_exit(current.thread(), *above, SampleList());
    }
    drop_entry(above);
  }
  current.pop();
  while (stack.top != nullptr && stack.top->home == current.home() && stack.top->is_closed) {
    drop_entry(current.pop());
  }
  if (process.is_recording()) publish(current.thread(), stack);
}

void count_unmatched_exit(ThreadState& thread) {
  if (thread.forgiven_exits > 0) {
    --thread.forgiven_exits;
    return;
  }
  process.count_loss(losses::kUnmatchedExit);
}

}  // namespace proton::bindings
