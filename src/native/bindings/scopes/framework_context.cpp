// As python_launch.cpp: frames are read without the GIL, and every thread has tables of its own for
// what it has seen. Paths begin below the thread's scopes, and have the modules that frames call.
#include "bindings/scopes/framework_context.h"

#include "base/key_index.h"
#include "bindings/scopes/current.h"
#include "bindings/scopes/python_context.h"
#include "frameworks/torch/observer.h"
#include "session/scopes/process.h"
#include "session/scopes/scope_events.h"

namespace proton::bindings {

std::atomic<bool> reads_frames{false};

namespace {

/// What one thread has seen within an epoch.
struct FrameworkCache {
  uint32_t epoch = 0;
  uint32_t generation = 0;  // of modules
  ModuleStack stack;
  KeyIndex positions;  // (code, offset) -> position
  KeyIndex modules;    // address -> name
  KeyIndex paths;      // (path, frame) -> path
  KeyIndex bases;      // range of a library -> path
  KeyIndex contexts;   // (context, suffix) -> context with launch metadata

  void restart(uint32_t now) {
    epoch = now;
    stack.clear();
    positions.clear();
    modules.clear();
    paths.clear();
    bases.clear();
    contexts.clear();
  }
  void forget_modules(uint32_t now) {
    generation = now;
    stack.clear();
    modules.clear();
  }
};

constinit thread_local FrameworkCache* this_cache __attribute__((tls_model("initial-exec"))) =
    nullptr;

struct CacheExit {
  ~CacheExit() {
    delete this_cache;
    this_cache = nullptr;
  }
};

FrameworkCache& find_cache() {
  if (this_cache == nullptr) {
    static thread_local CacheExit at_exit;
    (void)at_exit;
    this_cache = new FrameworkCache;
  }
  return *this_cache;
}

/// What a frame is in a path; nothing: it is none.
struct Step {
  enum { kFrame, kNone, kRestart, kUnknown } what;
  FrameId frame = {};
};

Step to_step(uint32_t position) {
  if (position == kInternal) return {Step::kNone};
  if (position == kLauncher) return {Step::kRestart};
  return {Step::kFrame, FrameId::python(position)};
}

Step find_step(FrameworkCache& cache, const proton_frame& frame, PyObject* module) {
  if (module != nullptr) {
    const uint32_t* name = cache.modules.find(reinterpret_cast<uint64_t>(module));
    if (name == nullptr) return {Step::kUnknown};
    return {Step::kFrame, FrameId::module(*name)};
  }
  const uint32_t* position = cache.positions.find(position_key(frame.code, frame.offset));
  return position == nullptr ? Step{Step::kUnknown} : to_step(*position);
}

/// The same for what is new to the thread. GIL held.
Step learn_step(FrameworkCache& cache, const proton_frame& frame, PyObject* module) {
  bool is_new;
  if (module != nullptr) {
    const NameId name = intern_module(module, cache.stack.root());
    *cache.modules.find_or_add(reinterpret_cast<uint64_t>(module), is_new) = name;
    return {Step::kFrame, FrameId::module(name)};
  }
  const uint32_t position = intern_position(frame.code, frame.offset);
  *cache.positions.find_or_add(position_key(frame.code, frame.offset), is_new) = position;
  return to_step(position);
}

PathId path_below(FrameworkCache& cache, PathId base, PathId path, const proton_frame& frame,
                  PyObject* module) {
  Step step = find_step(cache, frame, module);
  if (step.what == Step::kUnknown) {
    const WithGil held;
    step = learn_step(cache, frame, module);
  }
  if (step.what == Step::kNone) return path;
  if (step.what == Step::kRestart) return base;
  const uint64_t key = pair_key(path, step.frame.bits());
  if (const uint32_t* known = cache.paths.find(key)) return *known;
  const WithGil held;
  const PathId below = process.paths.child(path, step.frame);
  bool is_new;
  *cache.paths.find_or_add(key, is_new) = below;
  return below;
}

/// The scopes and state that the thread's work stands below.
PathId base_of(FrameworkCache& cache, ContextId context) {
  const ContextId scopes = process.contexts.path(context);
  if (!is_range(scopes)) return scopes;
  bool is_new;
  uint32_t* path = cache.bases.find_or_add(scopes, is_new);
  if (is_new) {
    const WithGil held;
    *path = process.ranges.path(scopes);
  }
  return *path;
}

/// The thread is not in Python code: it works for the lead's. Where the lead stands may take time
/// to find out, which a launch is worth, and an operator of a library's worker is not.
ContextId without_frames(ContextId scopes, bool is_launch) noexcept {
  if (!is_launch) return scopes;
  if (this_thread != nullptr && this_thread == process.threads.lead()) return scopes;
  const PathId path = framework_path_of_lead();
  return path == kRootPath ? scopes : path;
}

/// Adds the launch metadata of the thread.
ContextId with_metadata(ContextId context) {
  const ThreadState* thread = this_thread;
  if (thread == nullptr || !thread->has_own.load(std::memory_order_relaxed)) return context;
  const uint32_t suffix = thread->suffix.load(std::memory_order_relaxed);
  if (suffix == 0) return context;
  FrameworkCache& cache = find_cache();
  // A launch inside of a backward node has not come by `find_here`.
  const uint32_t epoch = process.epoch.load(std::memory_order_acquire);
  if (cache.epoch != epoch) {
    if (cache.stack.is_busy()) return context;  // code of the program's that a look-up ran
    cache.restart(epoch);
  }
  const uint64_t key = pair_key(context, suffix);
  if (const uint32_t* known = cache.contexts.find(key)) return *known;
  const WithGil held;
  Current current;
  const ContextId full =
      process.contexts.intern(process.ranges.path(context), current.stack().op.get());
  bool is_new;
  *cache.contexts.find_or_add(key, is_new) = full;
  return full;
}

ContextId find_here(bool is_launch) noexcept {
  const ContextId current = current_context_unlocked();
  if (current == kNoContext || !reads_frames.load(std::memory_order_relaxed)) return current;
  const ContextId scopes = process.contexts.path(current);
  PyThreadState* state = PyGILState_GetThisThreadState();
  if (state == nullptr || is_finalizing()) return without_frames(scopes, is_launch);
  try {
    FrameworkCache& cache = find_cache();
    if (cache.stack.is_busy()) return scopes;
    const uint32_t epoch = process.epoch.load(std::memory_order_acquire);
    if (cache.epoch != epoch) cache.restart(epoch);
    if (cache.generation != module_generation()) cache.forget_modules(module_generation());
    if (!cache.stack.read(state)) return without_frames(scopes, is_launch);
    const PathId base = base_of(cache, current);
    const auto step = [&](PathId path, const proton_frame& frame, PyObject* module) {
      return path_below(cache, base, path, frame, module);
    };
    return cache.stack.path(step, base);
  } catch (...) {  // out of memory
    if (this_cache != nullptr) this_cache->restart(0);
    return scopes;
  }
}

ContextId capture_framework() {
  if (is_disowned) [[unlikely]]
    return kNoContext;
  if (!reads_frames.load(std::memory_order_relaxed)) return current_context_unlocked();
  ContextId context = torch_observer.context();
  if (context == kNoContext) {
    context = find_here(true);
    torch_observer.note_launch(context);
  }
  try {
    return with_metadata(context);
  } catch (...) {  // out of memory
    return context;
  }
}

}  // namespace

ContextId framework_here() noexcept { return find_here(false); }

PathId framework_path_of(PyThreadState* state, PathId base) {
  FrameworkCache fresh;
  if (!reads_frames.load(std::memory_order_relaxed) || !fresh.stack.read(state)) return base;
  return fresh.stack.path(
      [&](PathId path, const proton_frame& frame, PyObject* module) {
        return path_below(fresh, base, path, frame, module);
      },
      base);
}

void init_framework_context() { process.hooks.capture_framework = capture_framework; }

}  // namespace proton::bindings
