// Launching code gives up the GIL before it calls the driver, and taking it back there would cost
// more than the launch. So frames are read without it, and every thread has tables of its own for
// what it has seen: only a place, a path or launch metadata seen for the first time takes the GIL.
#include "bindings/scopes/python_context.h"

#include "base/key_index.h"
#include "bindings/scopes/current.h"
#include "session/scopes/process.h"
#include "session/scopes/scope_events.h"

namespace proton::bindings {
namespace {

/// What one thread has seen within an epoch.
struct LaunchCache {
  uint32_t epoch = 0;
  FrameStack stack;
  KeyIndex positions;   // (code, offset) -> position
  KeyIndex paths;       // (path, position) -> path
  KeyIndex contexts;    // (path, suffix) -> context
  KeyIndex lead_paths;  // (path, the lead's suffix) -> path with its state

  void restart(uint32_t now) {
    epoch = now;
    stack.clear();
    positions.clear();
    paths.clear();
    contexts.clear();
    lead_paths.clear();
  }
};

constinit thread_local LaunchCache* this_cache __attribute__((tls_model("initial-exec"))) = nullptr;

struct CacheExit {
  ~CacheExit() {
    delete this_cache;
    this_cache = nullptr;
  }
};

LaunchCache& find_cache() {
  if (this_cache == nullptr) {
    static thread_local CacheExit at_exit;
    (void)at_exit;
    this_cache = new LaunchCache;
  }
  return *this_cache;
}

/// The path of one more frame; false: it is new to this thread.
bool step(LaunchCache& cache, const proton_frame& frame, PathId& path) {
  const uint32_t* position = cache.positions.find(position_key(frame.code, frame.offset));
  if (position == nullptr) return false;
  if (*position == kInternal) return true;
  if (*position == kLauncher) {
    path = kRootPath;
    return true;
  }
  const uint32_t* below = cache.paths.find(pair_key(path, *position));
  if (below == nullptr) return false;
  path = *below;
  return true;
}

/// The same for a frame that is new. GIL held.
void learn(LaunchCache& cache, const proton_frame& frame, PathId& path) {
  bool is_new;
  const uint32_t position = intern_position(frame.code, frame.offset);
  *cache.positions.find_or_add(position_key(frame.code, frame.offset), is_new) = position;
  const PathId above = path;
  path = path_below(path, position);
  *cache.paths.find_or_add(pair_key(above, position), is_new) = path;
}

PathId path_of_frames(LaunchCache& cache) {
  return cache.stack.path([&cache](PathId path, const proton_frame& frame) {
    if (!step(cache, frame, path)) {
      const WithGil held;
      learn(cache, frame, path);
    }
    return path;
  });
}

/// Adds the state of the lead, for a thread that has no scope, state or launch metadata open.
PathId with_lead_state(LaunchCache& cache, PathId path) {
  const ThreadState* lead = process.threads.lead();
  uint32_t suffix = lead == nullptr ? 0 : lead->suffix.load(std::memory_order_relaxed);
  if (suffix == 0) return path;
  const auto key = [&] { return pair_key(path, suffix); };
  if (const uint32_t* known = cache.lead_paths.find(key())) return *known;
  const WithGil held;
  suffix = lead->suffix.load(std::memory_order_relaxed);  // stands still while we have the GIL
  if (suffix == 0) return path;
  const std::string& state = process.contexts.state_of(suffix);
  bool is_new;
  uint32_t* context = cache.lead_paths.find_or_add(key(), is_new);
  *context = state.empty() ? path : path_with_state(path, std::string_view(state));
  return *context;
}

/// Adds the state and the launch metadata of the thread.
ContextId with_suffix(LaunchCache& cache, PathId path) {
  const ThreadState* thread = this_thread;
  if (thread == nullptr || !thread->has_own.load(std::memory_order_relaxed)) {
    return with_lead_state(cache, path);
  }
  const uint32_t suffix = thread->suffix.load(std::memory_order_relaxed);
  if (suffix == 0) return path;
  if (thread->is_led.load(std::memory_order_relaxed)) path = with_lead_state(cache, path);
  const uint64_t key = pair_key(path, suffix);
  if (const uint32_t* known = cache.contexts.find(key)) return *known;
  const WithGil held;
  Current current;
  const ContextStack& stack = current.stack();
  const ContextId context = process.contexts.intern(path_with_state(path, stack), stack.op.get());
  bool is_new;
  *cache.contexts.find_or_add(key, is_new) = context;
  return context;
}

/// The thread is not in Python code: it works for the lead's.
ContextId without_frames() noexcept {
  return this_thread != nullptr && this_thread == process.threads.lead() ? kRootPath
                                                                         : path_of_lead();
}

ContextId capture_launch() {
  if (is_disowned) [[unlikely]]
    return kNoContext;
  PyThreadState* state = PyGILState_GetThisThreadState();
  if (state == nullptr || is_finalizing()) return without_frames();
  try {
    LaunchCache& cache = find_cache();
    if (cache.stack.is_busy()) return current_context_unlocked();
    const uint32_t epoch = process.epoch.load(std::memory_order_acquire);
    if (cache.epoch != epoch) cache.restart(epoch);
    if (!cache.stack.read(state)) return without_frames();
    return with_suffix(cache, path_of_frames(cache));
  } catch (...) {  // out of memory
    if (this_cache != nullptr) this_cache->restart(0);
    return current_context_unlocked();
  }
}

}  // namespace

void init_python_launch() { process.hooks.capture_launch = capture_launch; }

}  // namespace proton::bindings
