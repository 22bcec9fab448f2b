#include "bindings/scopes/current.h"

#include <new>
#include <string_view>

#include "bindings/objects/python_objects.h"
#include "bindings/scopes/python_context.h"
#include "session/scopes/process.h"
#include "session/scopes/scope_events.h"

namespace proton::bindings {
namespace {

PyObject* path_variable = nullptr;  // ContextVar holding a TaskView

constexpr const char* kThreadKey = "proton.thread";

/// What the bindings keep for a thread.
struct HostPart {
  PyObject* context = nullptr;  // counted, so that its address cannot be used again
  FrameCache frames;
};

/// A task's stack at one moment; never changes.
struct TaskView {
  PyObject_HEAD ContextStack stack;
  uint32_t fork_count;  // of the process that made it
};

void dealloc_view(PyObject* self) {
  auto* view = reinterpret_cast<TaskView*>(self);
  ScopeEntry* top = view->stack.top;
  view->stack.~ContextStack();
  PyObject_Free(self);
  drop_entry(top);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
PyTypeObject view_type = {
    .ob_base = PyVarObject_HEAD_INIT(nullptr, 0).tp_name = "proton._native.TaskPath",
    .tp_basicsize = sizeof(TaskView),
    .tp_dealloc = dealloc_view,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "The scopes that are open in a task.",
};
#pragma GCC diagnostic pop

/// Whether Python's threading module started the calling thread (or it is the main thread).
bool is_known_to_threading() {
  Reference name(PyUnicode_FromString("threading"));
  Reference module(name ? PyImport_GetModule(name.get()) : nullptr);
  if (!module) {  // nobody can have started a thread through it
    PyErr_Clear();
    return true;
  }
  Reference threads(PyObject_CallMethod(module.get(), "enumerate", nullptr));
  if (!threads || !PyList_Check(threads.get())) {
    PyErr_Clear();
    return true;
  }
  const unsigned long ident = PyThread_get_thread_ident();
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(threads.get()); ++i) {
    PyObject* thread = PyList_GET_ITEM(threads.get(), i);
    Reference value(PyObject_GetAttrString(thread, "ident"));
    if (!value || !PyLong_Check(value.get())) {
      PyErr_Clear();
      continue;
    }
    if (PyLong_AsUnsignedLong(value.get()) != ident) continue;
    // What threading makes up when asked about a thread that it did not start.
    return std::string_view(Py_TYPE(thread)->tp_name) != "_DummyThread";
  }
  return false;
}

/// Has the state of a thread of Python's released when Python ends the thread, so that nothing is
/// left once `join` returns. Foreign threads lose their Python state after every call: theirs is
/// released when the system ends them.
void retire_with_python(ThreadState& thread) {
  PyObject* dict = PyThreadState_GetDict();  // borrowed
  Reference capsule(PyCapsule_New(&thread, kThreadKey, [](PyObject* capsule) {
    auto* thread = static_cast<ThreadState*>(PyCapsule_GetPointer(capsule, kThreadKey));
    process.threads.retire(*thread);
  }));
  if (dict == nullptr || !capsule || PyDict_SetItemString(dict, kThreadKey, capsule.get()) < 0) {
    PyErr_Clear();
  }
}

ThreadState& find_thread() {
  if (this_thread != nullptr) return *this_thread;
  const bool is_first = process.threads.live().empty();  // the importing one: lives to the end
  ThreadState& thread = process.threads.create();
  thread.host_part = new HostPart;
  thread.is_foreign = !is_known_to_threading();
  if (!is_first && !thread.is_foreign) retire_with_python(thread);
  return thread;
}

/// A context that nobody entered is a thread's base context: entering it succeeds.
bool is_entered(PyObject* context) {
  if (context == nullptr) return false;
  if (PyContext_Enter(context) == 0) {
    PyContext_Exit(context);
    return false;
  }
  PyErr_Clear();
  return true;
}

/// The view of the running task; null when it has none.
Reference current_view() {
  PyObject* view = nullptr;
  if (PyContextVar_Get(path_variable, nullptr, &view) < 0) PyErr_Clear();
  return Reference(view);
}

void follow_task(ThreadState& thread, ScopeEntry* top) {
  ScopeEntry* old = thread.task_top;
  thread.task_top = share_entry(top);
  drop_entry(old);
}

/// Notices that the thread runs in another context than last time.
void update_context(ThreadState& thread) {
  PyObject* context = PyThreadState_Get()->context;
  if (thread.host_context == context) return;
  auto* host = static_cast<HostPart*>(thread.host_part);
  Reference old(host->context);
  host->context = Py_XNewRef(context);
  thread.is_in_task = is_entered(context);
  thread.host_context = PyThreadState_Get()->context;
  if (!thread.is_in_task) {
    follow_task(thread, nullptr);
    if (process.is_recording()) publish(thread, thread.stack);
  }
}

/// A foreign thread's first scope hangs below the lead's range, if that is its innermost.
void follow_range(ScopeEntry& entry, RangeThread* ranges) {
  if (ranges == nullptr) return;
  entry.range.context = Ranges::innermost(*ranges, entry.parent);
  entry.range.epoch = process.epoch;
}

void release_thread(void* host_part) {
  auto* host = static_cast<HostPart*>(host_part);
  if (host == nullptr) return;
  Py_XDECREF(host->context);
  delete host;
}

int reap_pending(void*) {
  process.threads.reap();
  return 0;
}

}  // namespace

Current::Current() : thread_(find_thread()), is_task_(false), home_(&thread_) {
  update_context(thread_);
  if (!thread_.is_in_task) return;
  is_task_ = true;
  home_ = thread_.host_context;
  const Reference view = current_view();
  const auto* seen = reinterpret_cast<TaskView*>(view.get());
  if (seen != nullptr && seen->fork_count != process.fork_count) {
    // A forked child: the scopes and states of the task were the parent's; leaving them is fine.
    thread_.forgiven_exits += count_open(seen->stack);
    if (!commit()) PyErr_Clear();  // an empty stack of the child's own
    seen = nullptr;
  }
  task_stack_ = seen != nullptr ? seen->stack : thread_.stack;
  share_entry(task_stack_.top);
  if (thread_.task_top != task_stack_.top) {
    follow_task(thread_, task_stack_.top);
    if (process.is_recording()) publish(thread_, task_stack_);
  }
}

Current::~Current() { drop_entry(task_stack_.top); }

ScopeEntry& Current::push(PyObject* name, PyObject* owner) {
  ContextStack& here = stack();
  if (here.top == nullptr && thread_.is_foreign) {
    here.top = share_entry(effective_top(thread_, here));
  }
  const ThreadState* followed = here.top != nullptr && here.top->home != home_ && thread_.is_foreign
                                    ? process.threads.lead()
                                    : nullptr;
  ScopeEntry& entry = here.push(home_, name, owner);
  if (followed != nullptr && entry.range.context == kRootPath) {
    follow_range(entry, followed->ranges.load(std::memory_order_acquire));
  }
  entry.thread_number = thread_.number;
  if (is_task_) process.list(entry);
  return entry;
}

ScopeEntry* Current::pop() {
  if (!is_task_) return pop_own(thread_);
  ScopeEntry* entry = task_stack_.pop();
  if (entry->is_listed) process.unlist(*entry);
  return entry;
}

void Current::put_back(ScopeEntry* chain, size_t count) {
  ScopeEntry* lowest = chain;
  for (ScopeEntry* entry = chain; count > 0; --count, entry = entry->parent) {
    entry->home = home_;
    entry->thread_number = thread_.number;
    entry->epoch = 0;  // its path begins elsewhere now
    entry->has_frames_path = false;
    if (is_task_ && !entry->is_listed) process.list(*entry);
    lowest = entry;
  }
  ScopeEntry* old = lowest->parent;
  lowest->parent = stack().top;
  stack().top = chain;
  drop_entry(old);
}

bool Current::commit() {
  if (!is_task_) return true;
  auto* view = PyObject_New(TaskView, &view_type);
  if (view == nullptr) return false;
  new (&view->stack) ContextStack(task_stack_);
  share_entry(view->stack.top);
  view->fork_count = process.fork_count;
  Reference held(reinterpret_cast<PyObject*>(view));
  Reference token(PyContextVar_Set(path_variable, held.get()));
  if (!token) return false;
  follow_task(thread_, task_stack_.top);
  return true;
}

void* frame_cache(ThreadState& thread) { return &static_cast<HostPart*>(thread.host_part)->frames; }

bool init_current() {
  if (PyType_Ready(&view_type) < 0) return false;
  path_variable = PyContextVar_New("proton_path", nullptr);
  process.hooks.release = [](void* object) { Py_DECREF(static_cast<PyObject*>(object)); };
  process.hooks.release_thread = release_thread;
  process.hooks.holds_lock = [] {  // PyGILState_Check says yes whenever it does not know
    PyThreadState* state = PyGILState_GetThisThreadState();
    return state != nullptr && state == _PyThreadState_UncheckedGet();
  };
  process.hooks.schedule_reap = [] {
    if (Py_IsInitialized()) Py_AddPendingCall(reap_pending, nullptr);
  };
  return path_variable != nullptr;
}

}  // namespace proton::bindings
