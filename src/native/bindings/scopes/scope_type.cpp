// `Scope`: a context manager whose enter and exit cost little more than CPython's own `with`.
#include "bindings/objects/names.h"
#include "bindings/objects/python_objects.h"
#include "bindings/scopes/current.h"
#include "bindings/scopes/scopes.h"
#include "model/losses.h"
#include "session/scopes/process.h"
#include "session/scopes/scope_events.h"

namespace proton::bindings {
namespace {

struct ScopeObject {
  PyObject_HEAD PyObject* name;  // an exact str; null until initialized
  PyObject* metrics;             // a mapping; null: None
  uint64_t latest_id;
  bool is_timed;
};

PyTypeObject* scope_type_pointer();
PyObject* decorator = nullptr;  // counted

constexpr int kFreeLimit = 64;
ScopeObject* free_objects[kFreeLimit];
int free_count = 0;

ScopeObject* as_scope(PyObject* object) { return reinterpret_cast<ScopeObject*>(object); }

bool set_up(ScopeObject* self, PyObject* name, PyObject* metrics, bool is_timed) {
  PyObject* exact = exact_string(name, "scope name");
  if (exact == nullptr) return false;
  if (metrics == Py_None) metrics = nullptr;
  if (metrics != nullptr && process.is_recording() && !check_metrics(metrics)) {
    Py_DECREF(exact);
    return false;
  }
  Py_XSETREF(self->name, exact);
  Py_XSETREF(self->metrics, Py_XNewRef(metrics));
  self->is_timed = is_timed;
  return true;
}

PyObject* scope_new(PyTypeObject* type, PyObject*, PyObject*) { return type->tp_alloc(type, 0); }

int scope_init(PyObject* object, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"name", "metrics", "timed", nullptr};
  PyObject* name;
  PyObject* metrics = nullptr;
  int is_timed = 0;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O$p:scope", const_cast<char**>(names), &name,
                                   &metrics, &is_timed)) {
    return -1;
  }
  return set_up(as_scope(object), name, metrics, is_timed != 0) ? 0 : -1;
}

/// `scope(...)` through tp_init, for calls with keywords.
PyObject* call_slowly(PyObject* const* args, Py_ssize_t count, PyObject* keyword_names) {
  Reference positional(PyTuple_New(count));
  Reference keywords(PyDict_New());
  if (!positional || !keywords) return nullptr;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyTuple_SET_ITEM(positional.get(), i, Py_NewRef(args[i]));
  }
  for (Py_ssize_t i = 0; keyword_names != nullptr && i < PyTuple_GET_SIZE(keyword_names); ++i) {
    PyObject* key = PyTuple_GET_ITEM(keyword_names, i);
    if (PyDict_SetItem(keywords.get(), key, args[count + i]) < 0) return nullptr;
  }
  Reference object(scope_new(scope_type_pointer(), nullptr, nullptr));
  if (!object || scope_init(object.get(), positional.get(), keywords.get()) < 0) return nullptr;
  return object.release();
}

PyObject* scope_vectorcall(PyObject*, PyObject* const* args, size_t flags, PyObject* keywords) {
  const Py_ssize_t count = PyVectorcall_NARGS(flags);
  if (keywords != nullptr || count < 1 || count > 2) return call_slowly(args, count, keywords);
  ScopeObject* self;
  if (free_count > 0) {
    self = free_objects[--free_count];
    PyObject_Init(reinterpret_cast<PyObject*>(self), scope_type_pointer());
  } else {
    self = PyObject_New(ScopeObject, scope_type_pointer());
    if (self == nullptr) return nullptr;
  }
  self->name = nullptr;
  self->metrics = nullptr;
  self->latest_id = 0;
  self->is_timed = false;
  if (count == 1 && PyUnicode_CheckExact(args[0])) {
    self->name = Py_NewRef(args[0]);
  } else if (!set_up(self, args[0], count == 2 ? args[1] : nullptr, false)) {
    Py_DECREF(self);
    return nullptr;
  }
  return reinterpret_cast<PyObject*>(self);
}

void scope_dealloc(PyObject* object) {
  ScopeObject* self = as_scope(object);
  Py_CLEAR(self->name);
  Py_CLEAR(self->metrics);
  if (Py_TYPE(object) == scope_type_pointer() && free_count < kFreeLimit) {
    free_objects[free_count++] = self;
  } else {
    Py_TYPE(object)->tp_free(object);
  }
}

PyObject* enter_slowly(ScopeObject* self) {
  if (self->name == nullptr) {
    return raise(ErrorKind::kUsage, "the scope has no name; call super().__init__(name) first");
  }
  Current current;
  ScopeEntry& entry = current.push(Py_NewRef(self->name), Py_NewRef(self));
  entry.is_timed = self->is_timed;
  if (process.is_recording()) {
    record_enter(current.thread(), current.stack(), entry);
    self->latest_id = entry.scope_id;
  } else {
    self->latest_id = 0;
  }
  return current.commit() ? Py_NewRef(self) : nullptr;
}

PyObject* scope_enter(PyObject* object, PyObject*) {
  ScopeObject* self = as_scope(object);
  ThreadState* thread = thread_in_base_context();
  if (thread == nullptr || thread->is_foreign || self->name == nullptr) return enter_slowly(self);
  ScopeEntry& entry = thread->stack.push(thread, Py_NewRef(self->name), Py_NewRef(object));
  entry.is_timed = self->is_timed;
  if (process.is_recording()) {
    record_enter(*thread, thread->stack, entry);
    self->latest_id = entry.scope_id;
  } else {
    self->latest_id = 0;
  }
  return Py_NewRef(object);
}

/// Books and drops an entry that was taken off. An error in the metrics gives way to the
/// exception that ends the block.
bool finish(ThreadState& thread, ScopeObject* self, ScopeEntry* entry, bool is_failing) {
  const bool is_good = finish_entry(thread, *entry, self->metrics);
  drop_entry(entry);
  if (is_good || !is_failing) return is_good;
  PyErr_Clear();
  process.count_loss(losses::kBadMetric);
  return true;
}

PyObject* exit_slowly(ScopeObject* self, bool is_failing) {
  Current current;
  ScopeEntry* entry = current.stack().find(current.home(), self);
  if (entry == nullptr) {
    if (!forgive_exit(current.thread())) process.count_loss(losses::kUnmatchedExit);
    Py_RETURN_NONE;
  }
  take_off(current, entry);
  const bool is_committed = current.commit();
  if (!finish(current.thread(), self, entry, is_failing) || !is_committed) return nullptr;
  Py_RETURN_NONE;
}

PyObject* scope_exit(PyObject* object, PyObject* const* args, Py_ssize_t count) {
  ScopeObject* self = as_scope(object);
  const bool is_failing = count > 0 && args[0] != Py_None;
  ThreadState* thread = thread_in_base_context();
  if (thread == nullptr || thread->is_foreign) return exit_slowly(self, is_failing);
  ScopeEntry* top = thread->stack.top;
  if (top == nullptr || top->owner != object || top->is_closed ||
      (top->parent != nullptr && top->parent->is_closed)) {
    return exit_slowly(self, is_failing);
  }
  ScopeEntry* entry = pop_own(*thread);
  if (!process.is_recording()) {
    drop_entry(entry);
    Py_RETURN_NONE;
  }
  publish(*thread, thread->stack);
  if (!finish(*thread, self, entry, is_failing)) return nullptr;
  Py_RETURN_NONE;
}

PyObject* scope_call(PyObject* self, PyObject* args, PyObject* keywords) {
  PyObject* function;
  static const char* names[] = {"function", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:scope", const_cast<char**>(names),
                                   &function)) {
    return nullptr;
  }
  if (decorator == nullptr) {
    return raise(ErrorKind::kUsage, "no decorator is set; import proton before decorating");
  }
  return PyObject_CallFunctionObjArgs(decorator, self, function, nullptr);
}

PyObject* scope_repr(PyObject* object) {
  ScopeObject* self = as_scope(object);
  return PyUnicode_FromFormat("proton.scope(%R)", self->name == nullptr ? Py_None : self->name);
}

PyObject* get_id(PyObject* object, void*) {
  ScopeObject* self = as_scope(object);
  Current current;
  const ScopeEntry* entry = current.stack().find(current.home(), self);
  const uint64_t id = entry != nullptr ? entry->scope_id : self->latest_id;
  if (id == 0) Py_RETURN_NONE;
  return PyLong_FromUnsignedLongLong(id);
}

PyObject* get_name(PyObject* object, void*) {
  ScopeObject* self = as_scope(object);
  return Py_NewRef(self->name == nullptr ? Py_None : self->name);
}

int set_name(PyObject* object, PyObject* value, void*) {
  if (value == nullptr) {
    PyErr_SetString(PyExc_AttributeError, "the name of a scope cannot be deleted");
    return -1;
  }
  PyObject* exact = exact_string(value, "scope name");
  if (exact == nullptr) return -1;
  Py_XSETREF(as_scope(object)->name, exact);
  return 0;
}

PyObject* get_metrics(PyObject* object, void*) {
  ScopeObject* self = as_scope(object);
  return Py_NewRef(self->metrics == nullptr ? Py_None : self->metrics);
}

int set_metrics(PyObject* object, PyObject* value, void*) {
  if (value == Py_None) value = nullptr;
  Py_XSETREF(as_scope(object)->metrics, Py_XNewRef(value));
  return 0;
}

PyMethodDef methods[] = {
    {"__enter__", scope_enter, METH_NOARGS,
     "__enter__($self, /)\n--\n\nOpen the scope on this thread or task."},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(scope_exit)),
     METH_FASTCALL,
     "__exit__($self, exc_type=None, exc=None, traceback=None, /)\n--\n\n"
     "Close the scope and book its metrics."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef attributes[] = {
    {"name", get_name, set_name, "The name of the region.", nullptr},
    {"metrics", get_metrics, set_metrics, "Booked when the scope is left.", nullptr},
    {"id", get_id, nullptr, "Of the latest entry here; None while nothing records.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
PyTypeObject scope_type = {
    .ob_base = PyVarObject_HEAD_INIT(nullptr, 0).tp_name = "proton.scope",
    .tp_basicsize = sizeof(ScopeObject),
    .tp_dealloc = scope_dealloc,
    .tp_repr = scope_repr,
    .tp_call = scope_call,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc =
        "scope(name, metrics=None)\n--\n\n"
        "A user-named region: context manager and decorator.\n\n"
        "Args:\n"
        "    name: What the region is called; a frame of the tree below the scopes around it.\n"
        "    metrics: Names to numbers, lists of numbers or tensors, booked when it is left.\n\n"
        "Example:\n"
        "    >>> with scope(\"step\", {\"tokens\": 512}):\n"
        "    ...     kernel[grid](x)",
    .tp_methods = methods,
    .tp_getset = attributes,
    .tp_init = scope_init,
    .tp_new = scope_new,
    .tp_vectorcall = scope_vectorcall,
};
#pragma GCC diagnostic pop

PyTypeObject* scope_type_pointer() { return &scope_type; }

PyObject* set_scope_decorator(PyObject*, PyObject* function) {
  Py_XSETREF(decorator, Py_NewRef(function));
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"set_scope_decorator", set_scope_decorator, METH_O, "What calling a scope object does."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool add_scope_type(PyObject* module) {
  return PyType_Ready(&scope_type) == 0 &&
         PyModule_AddObjectRef(module, "Scope", reinterpret_cast<PyObject*>(&scope_type)) == 0 &&
         PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace proton::bindings
