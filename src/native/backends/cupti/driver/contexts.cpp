#include "backends/cupti/driver/contexts.h"

#include <algorithm>
#include <new>

#include "base/text.h"

namespace proton::cupti {
namespace {

constexpr CudaResult kInvalidContext = 201;
constexpr CudaResult kContextIsDestroyed = 709;

/// Calls `visit` with index and handle of every device whose primary context is active.
template <typename Visit>
void visit_active_devices(const Library& library, Visit&& visit) {
  int count = 0;
  if (library.device_count(&count) != 0) return;
  for (int index = 0; index < count; ++index) {
    int device = 0, is_active = 0;
    unsigned flags = 0;
    if (library.device(&device, index) != 0) continue;
    if (library.primary_context_state(device, &flags, &is_active) != 0 || is_active == 0) continue;
    visit(index, device);
  }
}

/// While it lives, the primary context of a device stays.
class PrimaryContext {
 public:
  PrimaryContext(const Library& library, int device) : library_(library), device_(device) {
    if (library.retain_primary_context(&context, device) != 0) context = nullptr;
  }
  ~PrimaryContext() {
    if (context != nullptr) library_.release_primary_context(device_);
  }
  PrimaryContext(const PrimaryContext&) = delete;
  PrimaryContext& operator=(const PrimaryContext&) = delete;

  Context context = nullptr;  // null: the driver refused

 private:
  const Library& library_;
  int device_;
};

bool contains(const std::vector<Context>& contexts, Context context) {
  return std::find(contexts.begin(), contexts.end(), context) != contexts.end();
}

}  // namespace

void ContextList::add(Context context) {
  std::lock_guard lock(mutex_);
  std::erase(contexts_, context);
  contexts_.push_back(context);
}

void ContextList::remove(Context context) {
  std::lock_guard lock(mutex_);
  std::erase(contexts_, context);
}

void ContextList::note(Context context) noexcept {
  if (context == nullptr) return;
  try {
    std::lock_guard lock(mutex_);
    if (!contains(contexts_, context)) contexts_.push_back(context);
  } catch (...) {  // out of memory: its work is not waited for
  }
}

void ContextList::clear() {
  std::lock_guard lock(mutex_);
  contexts_.clear();
}

bool ContextList::has(Context context) {
  std::lock_guard lock(mutex_);
  return contains(contexts_, context);
}

std::vector<Context> ContextList::all() {
  std::vector<Context> all;
  {
    std::lock_guard lock(mutex_);
    all = contexts_;
  }
  visit_active_devices(library_, [&](int, int device) {
    const PrimaryContext primary(library_, device);
    if (primary.context != nullptr && !contains(all, primary.context)) {
      all.push_back(primary.context);
    }
  });
  return all;
}

bool ContextList::has_any() {
  bool is_any = false;
  visit_active_devices(library_, [&](int, int) { is_any = true; });
  Context current = nullptr;
  if (library_.current_context(&current) == 0 && current != nullptr) is_any = true;
  std::lock_guard lock(mutex_);
  return is_any || !contexts_.empty();
}

/// Until the work of one context has ended. A context that is gone has none.
void ContextList::wait_for(Context context, const std::string& whose, FlushProgress& progress) {
  progress.wait_for(concat(whose, " to finish its work"));
  const char* function = "cuCtxSetCurrent";
  CudaResult result = library_.set_context(context);
  if (result == 0) {
    function = "cuCtxSynchronize";
    result = library_.synchronize_context();
  }
  if (result == 0 || result == kInvalidContext || result == kContextIsDestroyed) return;
  progress.add_problem(concat(whose, ": ", function, " failed with ",
                              library_.describe_cuda(result),
                              "; work that had not ended is missing, see `nvidia-smi` and the "
                              "kernel log for what happened to the GPU"));
}

void ContextList::wait_for_gpu(FlushProgress& progress) {
  RelaxedCapture::keep(library_);
  std::vector<Context> waited_for;
  visit_active_devices(library_, [&](int index, int device) {
    const PrimaryContext primary(library_, device);
    if (primary.context == nullptr) return;
    wait_for(primary.context, concat("device ", index), progress);
    waited_for.push_back(primary.context);
  });
  std::vector<Context> contexts;
  {
    std::lock_guard lock(mutex_);
    contexts = contexts_;
  }
  for (Context context : contexts) {
    // One may have been destroyed while we waited for another.
    if (contains(waited_for, context) || !has(context)) continue;
    wait_for(context, "a CUDA context", progress);
  }
  library_.set_context(nullptr);
}

void ContextList::reset_after_fork() { new (&mutex_) std::mutex; }

}  // namespace proton::cupti
