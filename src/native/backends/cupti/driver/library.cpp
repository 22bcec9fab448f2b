#include "backends/cupti/driver/library.h"

#include <dlfcn.h>

#include "backends/common/loaded_library.h"
#include "base/error.h"
#include "base/text.h"

namespace proton::cupti {
namespace {

constexpr const char* kBackend = "cupti";

/// CUPTI opens libnvperf by its bare name: the ones beside it must be there first, and for all to
/// see, or a stranger's are taken and no stall reason is found. They may be missing; then CUPTI
/// says so when it needs them.
void preload_companions(const std::string& cupti_path) {
  const size_t slash = cupti_path.rfind('/');
  if (slash == std::string::npos) return;
  for (const char* name : {"libnvperf_host.so", "libnvperf_target.so"}) {
    const std::string path = cupti_path.substr(0, slash + 1) + name;
    if (dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) dlerror();
  }
}

}  // namespace

Library Library::open(const std::string& cupti_path, const std::string& cuda_path) {
  Library library;
  library.path = cupti_path;
  library.open_driver(cuda_path);
  preload_companions(cupti_path);
  const LoadedLibrary cupti(cupti_path, "CUPTI", kBackend,
                            "name another libcupti (TRITON_CUPTI_LIB_PATH=folder) or install one "
                            "of CUDA 12.8 or newer (pip install nvidia-cuda-cupti)");
#define PROTON_FIND(name, symbol, ...) cupti.find(library.name, #symbol);
  PROTON_CUPTI_FUNCTIONS(PROTON_FIND)
#undef PROTON_FIND
  cupti.find(library.subscribe_v2, "cuptiSubscribe_v2", true);
  cupti.find(library.enable_hw_trace, "cuptiActivityEnableHWTrace", true);
  library.check(library.get_version(&library.version), "cuptiGetVersion");
  return library;
}

std::string Library::describe(Result result) const {
  const char* name = nullptr;
  if (get_result_string(result, &name) != kSuccess) name = nullptr;
  return concat(name == nullptr ? "unknown error" : name, " (error ", result, ")");
}

void Library::check(Result result, const char* function) const {
  if (result == kSuccess) return;
  throw BackendError(kBackend, concat(function, " failed with ", describe(result)),
                     remedy_for(result), result);
}

std::string remedy_for(Result result) {
  switch (result) {
    case 26:  // CUPTI_ERROR_HARDWARE_BUSY
    case 39:  // CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
      return "end the other profiler (Nsight, triton.profiler, cuda-gdb; torch.profiler keeps "
             "CUPTI "
             "until the process ends, unless TEARDOWN_CUPTI=1 is set) first";
    case 14:  // CUPTI_ERROR_NOT_COMPATIBLE
    case 15:  // CUPTI_ERROR_NOT_INITIALIZED
      return "use a libcupti of the driver's CUDA version or older; `proton doctor` lists them";
    case 35:  // CUPTI_ERROR_INSUFFICIENT_PRIVILEGES
    case 40:  // CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES
      return "allow profiling for users (NVreg_RestrictProfilingToAdminUsers=0) or run as root";
    case 27:  // CUPTI_ERROR_NOT_SUPPORTED
      return "use a GPU of compute capability 7.0 or newer, or leave out what it does not support";
    case 43:  // CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED
      return "run on a whole GPU: this one is a part of one (MIG)";
    case 41:  // CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED
    case 42:  // CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED
    case 44:  // CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED
    case 45:  // CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED
      return "run on a GPU, and in an environment, that allows profiling of its hardware";
    case 33:  // CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED
      return "this virtual GPU does not allow profiling; ask its host for it";
    default:
      return "see `proton doctor` for what is installed";
  }
}

}  // namespace proton::cupti
