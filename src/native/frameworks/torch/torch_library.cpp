#include "frameworks/torch/torch_library.h"

#include <dlfcn.h>

#include "base/error.h"
#include "base/text.h"

namespace proton {
namespace {

/// Null: the library and those that it needs have no such function.
template <typename Function>
void find(Function& function, void* library, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

template <typename Function>
void require(Function& function, void* library, const char* name) {
  find(function, library, name);
  if (function != nullptr) return;
  throw BackendError("torch", concat("this torch has no function ", name), kOtherTorch);
}

}  // namespace

TorchLibrary TorchLibrary::open(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) {
    throw BackendError("torch", concat(quote(path), " is not loaded"), "import torch first");
  }
  TorchLibrary found{};
  require(found.add_callback, library, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE");
  require(found.disable_callback, library, "_ZN2at15disableCallbackEm");
  require(found.reenable_callback, library, "_ZN2at16reenableCallbackEm");
  require(found.name, library, "_ZNK2at14RecordFunction4nameEv");
  require(found.thread_id, library, "_ZN2at14RecordFunction15currentThreadIdEv");
  require(found.next_number, library, "_ZN2at15sequence_number4peekEv");
  find(found.is_grad_enabled, library, "_ZN3c108GradMode10is_enabledEv");
  find(found.graph_task, library, "_ZN5torch8autograd25get_current_graph_task_idEv");
  find(found.is_async, library, "_ZNK2at14RecordFunction7isAsyncEv");
  return found;
}

}  // namespace proton
