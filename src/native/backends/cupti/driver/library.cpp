#include "backends/cupti/driver/library.h"

#include <dlfcn.h>

#include "base/error.h"
#include "base/text.h"

namespace proton::cupti {
namespace {

constexpr const char* kBackend = "cupti";

void* open_library(const std::string& path, const char* what, const char* remedy) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return handle;
  const char* why = dlerror();
  throw BackendError(kBackend,
                     concat("cannot open ", what, " ", quote(path), ": ",
                            why == nullptr ? "no reason given" : why),
                     remedy);
}

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

template <typename Function>
void find(void* handle, Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
}

template <typename Function>
void require(void* handle, Function& function, const char* name, const std::string& path) {
  find(handle, function, name);
  if (function != nullptr) return;
  throw BackendError(kBackend, concat(path, " has no function ", name),
                     "install CUPTI of CUDA 12 or newer (pip install nvidia-cuda-cupti)");
}

/// Calls `visit` with each function that sampling needs and its name.
template <typename L, typename Visit>
void visit_sampling(L& library, Visit visit) {
  visit(library.enable_sampling, "cuptiPCSamplingEnable");
  visit(library.disable_sampling, "cuptiPCSamplingDisable");
  visit(library.start_sampling, "cuptiPCSamplingStart");
  visit(library.stop_sampling, "cuptiPCSamplingStop");
  visit(library.read_samples, "cuptiPCSamplingGetData");
  visit(library.configure_sampling, "cuptiPCSamplingSetConfigurationAttribute");
  visit(library.reason_count, "cuptiPCSamplingGetNumStallReasons");
  visit(library.reason_names, "cuptiPCSamplingGetStallReasons");
  visit(library.cubin_crc, "cuptiGetCubinCrc");
  visit(library.device_of_context, "cuptiGetDeviceId");
}

void find_cupti(Library& library, void* handle, const std::string& path) {
  require(handle, library.get_version, "cuptiGetVersion", path);
  require(handle, library.get_result_string, "cuptiGetResultString", path);
  require(handle, library.subscribe, "cuptiSubscribe", path);
  require(handle, library.unsubscribe, "cuptiUnsubscribe", path);
  require(handle, library.enable_callback, "cuptiEnableCallback", path);
  require(handle, library.register_callbacks, "cuptiActivityRegisterCallbacks", path);
  require(handle, library.enable_activity, "cuptiActivityEnable", path);
  require(handle, library.disable_activity, "cuptiActivityDisable", path);
  require(handle, library.flush_all, "cuptiActivityFlushAll", path);
  require(handle, library.next_record, "cuptiActivityGetNextRecord", path);
  require(handle, library.dropped_records, "cuptiActivityGetNumDroppedRecords", path);
  require(handle, library.get_timestamp, "cuptiGetTimestamp", path);
  find(handle, library.subscribe_v2, "cuptiSubscribe_v2");
  find(handle, library.register_timestamp, "cuptiActivityRegisterTimestampCallback");
  find(handle, library.finalize, "cuptiFinalize");
  find(handle, library.get_attribute, "cuptiActivityGetAttribute");
  find(handle, library.set_attribute, "cuptiActivitySetAttribute");
  find(handle, library.graph_node_id, "cuptiGetGraphNodeId");
  find(handle, library.graph_id, "cuptiGetGraphId");
  find(handle, library.graph_exec_id, "cuptiGetGraphExecId");
  find(handle, library.configure_unified_memory, "cuptiActivityConfigureUnifiedMemoryCounter");
  find(handle, library.flush_period, "cuptiActivityFlushPeriod");
  find(handle, library.enable_hw_trace, "cuptiActivityEnableHWTrace");
  visit_sampling(library, [&](auto& function, const char* name) { find(handle, function, name); });
}

void find_cuda(Library& library, void* handle, const std::string& path) {
  require(handle, library.init, "cuInit", path);
  require(handle, library.driver_version, "cuDriverGetVersion", path);
  require(handle, library.error_string, "cuGetErrorString", path);
  require(handle, library.device_count, "cuDeviceGetCount", path);
  require(handle, library.device, "cuDeviceGet", path);
  require(handle, library.device_name, "cuDeviceGetName", path);
  require(handle, library.device_attribute, "cuDeviceGetAttribute", path);
  require(handle, library.primary_context_state, "cuDevicePrimaryCtxGetState", path);
  require(handle, library.retain_primary_context, "cuDevicePrimaryCtxRetain", path);
  require(handle, library.set_context, "cuCtxSetCurrent", path);
  require(handle, library.synchronize_context, "cuCtxSynchronize", path);
  find(handle, library.device_uuid, "cuDeviceGetUuid_v2");
  find(handle, library.release_primary_context, "cuDevicePrimaryCtxRelease_v2");
  find(handle, library.exchange_capture_mode, "cuThreadExchangeStreamCaptureMode");
  require(handle, library.current_context, "cuCtxGetCurrent", path);
  require(handle, library.current_device, "cuCtxGetDevice", path);
  require(handle, library.push_context, "cuCtxPushCurrent_v2", path);
  require(handle, library.pop_context, "cuCtxPopCurrent_v2", path);
  require(handle, library.load_module, "cuModuleLoadData", path);
  require(handle, library.find_function, "cuModuleGetFunction", path);
  require(handle, library.register_host_memory, "cuMemHostRegister_v2", path);
  require(handle, library.unregister_host_memory, "cuMemHostUnregister", path);
  require(handle, library.device_address, "cuMemHostGetDevicePointer_v2", path);
  require(handle, library.is_capturing, "cuStreamIsCapturing", path);
  require(handle, library.launch_kernel, "cuLaunchKernel", path);
  find(handle, library.context_id, "cuCtxGetId");
}

}  // namespace

Library Library::open(const std::string& cupti_path, const std::string& cuda_path) {
  Library library;
  library.path = cupti_path;
  void* cuda = open_library(cuda_path, "the CUDA driver library",
                            "install NVIDIA's driver, or give backend='interpreter'");
  find_cuda(library, cuda, cuda_path);
  preload_companions(cupti_path);
  void* cupti = open_library(cupti_path, "CUPTI",
                             "name another libcupti (TRITON_CUPTI_LIB_PATH=folder) or install one "
                             "(pip install nvidia-cuda-cupti)");
  find_cupti(library, cupti, cupti_path);
  library.check(library.get_version(&library.version), "cuptiGetVersion");
  return library;
}

const char* Library::missing_for_sampling() const {
  const char* missing = nullptr;
  visit_sampling(*this, [&](auto function, const char* name) {
    if (function == nullptr && missing == nullptr) missing = name;
  });
  return missing;
}

void Library::expect_sampling() const {
  const char* missing = missing_for_sampling();
  if (missing == nullptr) return;
  throw BackendError("cupti", concat(path, " has no function ", missing),
                     "install CUPTI of CUDA 12.8 or newer (pip install nvidia-cuda-cupti)");
}

std::string Library::describe(Result result) const {
  const char* name = nullptr;
  if (get_result_string == nullptr || get_result_string(result, &name) != kSuccess) name = nullptr;
  return concat(name == nullptr ? "unknown error" : name, " (error ", result, ")");
}

std::string Library::describe_cuda(CudaResult result) const {
  const char* text = nullptr;
  if (error_string(result, &text) != 0) text = nullptr;
  return concat(text == nullptr ? "unknown error" : text, " (error ", result, ")");
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
