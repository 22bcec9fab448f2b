// enter_scope, exit_scope, states and launch metadata: functions on the caller's stack.
#include <string_view>

#include "base/text.h"
#include "bindings/objects/names.h"
#include "bindings/objects/python_objects.h"
#include "bindings/scopes/current.h"
#include "bindings/scopes/scopes.h"
#include "model/losses.h"
#include "session/scopes/process.h"
#include "session/scopes/scope_events.h"

namespace proton::bindings {
namespace {

using FastCall = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

PyMethodDef fast_method(const char* name, FastCall function, const char* doc) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)),
          METH_FASTCALL | METH_KEYWORDS, doc};
}

/// `(name, *, metrics)` of enter_scope and exit_scope. False: a Python error is set.
bool read_arguments(const char* function, PyObject* const* args, Py_ssize_t count,
                    PyObject* keywords, PyObject*& name, PyObject*& metrics) {
  if (count > 1) {
    PyErr_Format(PyExc_TypeError, "%s() takes one positional argument, not %zd", function, count);
    return false;
  }
  if (count == 1) name = args[0];
  for (Py_ssize_t i = 0; keywords != nullptr && i < PyTuple_GET_SIZE(keywords); ++i) {
    PyObject* key = PyTuple_GET_ITEM(keywords, i);
    if (PyUnicode_CompareWithASCIIString(key, "metrics") == 0) {
      metrics = args[count + i];
    } else if (PyUnicode_CompareWithASCIIString(key, "name") == 0 && name == nullptr) {
      name = args[count + i];
    } else {
      PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument %R", function, key);
      return false;
    }
  }
  if (name == Py_None) name = nullptr;
  return true;
}

PyObject* id_of(const ScopeEntry& entry) {
  if (entry.scope_id == 0 || !process.is_recording()) Py_RETURN_NONE;
  return PyLong_FromUnsignedLongLong(entry.scope_id);
}

PyObject* enter_scope(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  PyObject* name = nullptr;
  PyObject* metrics = nullptr;
  if (!read_arguments("enter_scope", args, count, keywords, name, metrics)) return nullptr;
  Reference exact(exact_string(name == nullptr ? Py_None : name, "scope name"));
  if (!exact) return nullptr;
  SampleList samples;  // read first: a bad value leaves the stack alone
  if (process.is_recording() && !read_metrics(metrics, samples)) {
    drop_values(samples);
    return nullptr;
  }
  Current current;
  ScopeEntry& entry = current.push(exact.release(), nullptr);
  bool is_good = true;
  if (process.is_recording()) {
    record_enter(current.thread(), current.stack(), entry);
    try {
      if (!samples.empty()) {
        record_metrics(current.thread(), entry, samples, &current.stack());
      }
    } catch (const Error& error) {
      raise(error);
      is_good = false;
    }
  }
  if (!is_good) {  // the caller sees an error and will not call exit_scope
    take_off(current, &entry);
    drop_entry(&entry);
    return nullptr;
  }
  return current.commit() ? id_of(entry) : nullptr;
}

PyObject* refuse_exit(Current& current, PyObject* name) {
  if (forgive_exit(current.thread())) Py_RETURN_NONE;
  const std::string given = name == nullptr ? "" : concat(" ", repr(name));
  return raise(ErrorKind::kScopeMismatch,
               concat("cannot exit scope", given,
                      ": enter_scope opened none on this thread or task; call enter_scope first"));
}

PyObject* exit_scope(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  PyObject* name = nullptr;
  PyObject* metrics = nullptr;
  if (!read_arguments("exit_scope", args, count, keywords, name, metrics)) return nullptr;
  if (name != nullptr && !PyUnicode_Check(name)) return exact_string(name, "scope name");
  Current current;
  ScopeEntry* entry = current.stack().find(current.home(), nullptr);
  if (entry == nullptr) return refuse_exit(current, name);
  auto* open_name = static_cast<PyObject*>(entry->name);
  if (name != nullptr && PyUnicode_Compare(open_name, name) != 0) {
    return raise(ErrorKind::kScopeMismatch,
                 concat("cannot exit scope ", repr(name), ": the innermost open one is ",
                        repr(open_name), "; exit that one first"));
  }
  if (current.stack().top == entry) {
    take_off(current, entry);
  } else {  // a `with` block inside it is still open: it goes when that one does
    entry->is_closed = true;
    share_entry(entry);
  }
  bool is_good = current.commit();
  is_good = finish_entry(current.thread(), *entry, metrics) && is_good;
  PyObject* id = is_good ? id_of(*entry) : nullptr;
  drop_entry(entry);
  return id;
}

/// After a change of states or launch metadata: whoever reads without a lock must see it.
PyObject* commit_stack(Current& current) {
  if (process.is_recording()) publish(current.thread(), current.stack());
  if (!current.commit()) return nullptr;
  Py_RETURN_NONE;
}

PyObject* enter_state(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  PyObject* name = nullptr;
  PyObject* metrics = nullptr;
  if (!read_arguments("enter_state", args, count, keywords, name, metrics)) return nullptr;
  if (metrics != nullptr) {
    return PyErr_Format(PyExc_TypeError, "enter_state() takes a name, and no metrics");
  }
  Reference exact(exact_string(name == nullptr ? Py_None : name, "state name"));
  if (!exact) return nullptr;
  bool is_exact;
  std::string text = to_utf8(exact.get(), is_exact);
  if (!is_exact) process.count_loss(losses::kInvalidText);
  Current current;
  ContextStack& stack = current.stack();
  stack.state =
      std::make_shared<const StateEntry>(StateEntry{std::move(text), current.home(), stack.state});
  return commit_stack(current);
}

PyObject* exit_state(PyObject*, PyObject*) {
  Current current;
  ContextStack& stack = current.stack();
  if (stack.state == nullptr || stack.state->home != current.home()) {
    if (forgive_exit(current.thread())) Py_RETURN_NONE;
    return raise(
        ErrorKind::kScopeMismatch,
        "cannot exit a state: none is open on this thread or task; call enter_state first");
  }
  stack.state = std::shared_ptr<const StateEntry>(stack.state->parent);
  return commit_stack(current);
}

PyObject* enter_op(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count < 1 || count > 2) {
    return PyErr_Format(PyExc_TypeError, "enter_op() takes a name and metrics");
  }
  OpEntry op;
  if (args[0] != Py_None) {
    Reference exact(exact_string(args[0], "kernel name"));
    if (!exact) return nullptr;
    bool is_exact;
    op.name = to_utf8(exact.get(), is_exact);
    if (!is_exact) process.count_loss(losses::kInvalidText);
  }
  if (count == 2 && !read_metrics(args[1], op.metrics)) {
    drop_values(op.metrics);
    return nullptr;
  }
  Current current;
  if (!op.metrics.device().empty()) {
    op.launch = process.values.last_launch();
    op.captured_nodes = count_captured();
  }
  op.home = current.home();
  op.parent = current.stack().op;
  current.stack().op = std::make_shared<const OpEntry>(std::move(op));
  return commit_stack(current);
}

PyObject* exit_op(PyObject*, PyObject*) {
  Current current;
  ContextStack& stack = current.stack();
  if (stack.op != nullptr && stack.op->home == current.home()) {
    if (process.is_recording()) {
      record_launch(*stack.op);
    } else {
      drop_values(stack.op->metrics);
    }
    stack.op = std::shared_ptr<const OpEntry>(stack.op->parent);
  }
  return commit_stack(current);
}

constexpr const char* kParked = "proton.parked_scopes";

/// Takes the scopes that were entered inside `scope` off the stack, open as they are.
PyObject* park_scopes(PyObject*, PyObject* scope) {
  Current current;
  ContextStack& stack = current.stack();
  const ScopeEntry* base = stack.find(current.home(), scope);
  if (base == nullptr || stack.top == base) Py_RETURN_NONE;
  ScopeEntry* chain = current.pop();
  size_t count = 1;
  for (; stack.top != base; ++count) drop_entry(current.pop());  // the one above holds it
  if (process.is_recording()) publish(current.thread(), stack);
  Reference parked(PyCapsule_New(chain, kParked, [](PyObject* capsule) {
    drop_entry(static_cast<ScopeEntry*>(PyCapsule_GetPointer(capsule, kParked)));
  }));
  if (!parked) {
    drop_entry(chain);
    return nullptr;
  }
  PyCapsule_SetContext(parked.get(), reinterpret_cast<void*>(count));
  return current.commit() ? parked.release() : nullptr;
}

/// Puts them back, above what is open now; once.
PyObject* unpark_scopes(PyObject*, PyObject* parked) {
  if (parked == Py_None) Py_RETURN_NONE;
  auto* chain = static_cast<ScopeEntry*>(PyCapsule_GetPointer(parked, kParked));
  if (chain == nullptr) return nullptr;
  const auto count = reinterpret_cast<size_t>(PyCapsule_GetContext(parked));
  if (count == 0) Py_RETURN_NONE;
  PyCapsule_SetContext(parked, nullptr);
  PyCapsule_SetDestructor(parked, nullptr);
  Current current;
  current.put_back(chain, count);
  return commit_stack(current);
}

PyObject* context_path(PyObject*, PyObject*) {
  Current current;
  Reference names(PyList_New(0));
  if (!names) return nullptr;
  const ScopeEntry* entry = effective_top(current.thread(), current.stack());
  for (; entry != nullptr; entry = entry->parent) {
    if (PyList_Append(names.get(), static_cast<PyObject*>(entry->name)) < 0) return nullptr;
  }
  return PyList_Reverse(names.get()) < 0 ? nullptr : names.release();
}

PyObject* lead_thread(PyObject*, PyObject*) {
  Current current;
  process.threads.lead(current.thread());
  Py_RETURN_NONE;
}

PyObject* thread_count(PyObject*, PyObject*) {
  process.threads.reap();
  return PyLong_FromSize_t(process.threads.live().size());
}

PyObject* reset_after_fork(PyObject*, PyObject*) {
  process.reset_after_fork();
  Py_RETURN_NONE;
}

PyObject* set_converter(PyObject*, PyObject* function) {
  set_metric_converter(function);
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    fast_method("enter_scope", enter_scope,
                "enter_scope($module, /, name, *, metrics=None)\n--\n\n"
                "Open a scope until exit_scope; its id, or None while nothing records."),
    fast_method("exit_scope", exit_scope,
                "exit_scope($module, /, name=None, *, metrics=None)\n--\n\n"
                "Close the innermost scope that enter_scope opened; its id, or None."),
    fast_method("enter_state", enter_state,
                "enter_state($module, /, name)\n--\n\nLabel what is launched until exit_state."),
    {"exit_state", exit_state, METH_NOARGS,
     "exit_state($module, /)\n--\n\nLeave the innermost state."},
    {"enter_op", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(enter_op)),
     METH_FASTCALL, "Launch metadata of the kernel being launched: name and metrics."},
    {"exit_op", exit_op, METH_NOARGS, "The launch is over."},
    {"park_scopes", park_scopes, METH_O,
     "Take off what is open inside a scope, for unpark_scopes."},
    {"unpark_scopes", unpark_scopes, METH_O, "Put back what park_scopes took off."},
    {"context_path", context_path, METH_NOARGS, "The shadow path of the calling thread or task."},
    {"lead_thread", lead_thread, METH_NOARGS, "Threads without scopes follow the caller."},
    {"thread_count", thread_count, METH_NOARGS, "How many threads hold native state."},
    {"reset_after_fork", reset_after_fork, METH_NOARGS, "Forget what is the parent process's."},
    {"set_metric_converter", set_converter, METH_O, "What turns tensors into numbers."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool book_exit(ThreadState& thread, ScopeEntry& entry, PyObject* metrics) {
  SampleList samples;
  const bool is_good = read_metrics(metrics, samples);
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  if (!is_good) PyErr_Fetch(&type, &value, &traceback);
  try {
    if (samples.empty() && !entry.has_metrics) {
      record_exit(thread, entry, samples);
    } else {
      Current current;  // for its state
      record_exit(thread, entry, samples, &current.stack());
    }
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

bool add_scope_functions(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace proton::bindings
