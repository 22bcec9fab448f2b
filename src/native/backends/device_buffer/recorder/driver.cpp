#include "backends/device_buffer/recorder/driver.h"

#include <dlfcn.h>

#include "base/error.h"
#include "base/text.h"

namespace proton::device_buffer {
namespace {

constexpr const char* kBackend = "instrumentation";
constexpr const char* kRemedy = "install NVIDIA's driver (CUDA 12 or newer)";

/// Finds functions of one library; throws where there is none of that name.
class Finder {
 public:
  explicit Finder(const std::string& path) : path_(path) {
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) return;
    const char* why = dlerror();
    throw BackendError(kBackend,
                       concat("cannot open the CUDA driver library ", quote(path), ": ",
                              why == nullptr ? "no reason given" : why),
                       kRemedy);
  }

  template <typename Function>
  void find(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    if (function == nullptr) {
      throw BackendError(kBackend, concat(path_, " has no function ", name), kRemedy);
    }
  }

 private:
  const std::string& path_;
  void* handle_;
};

}  // namespace

Driver Driver::open(const std::string& path) {
  const Finder library(path);
  Driver driver;
  library.find(driver.error_string, "cuGetErrorString");
  library.find(driver.current_context, "cuCtxGetCurrent");
  library.find(driver.set_context, "cuCtxSetCurrent");
  library.find(driver.context_id, "cuCtxGetId");
  library.find(driver.retain_primary_context, "cuDevicePrimaryCtxRetain");
  library.find(driver.current_device, "cuCtxGetDevice");
  library.find(driver.synchronize_context, "cuCtxSynchronize");
  library.find(driver.init, "cuInit");
  library.find(driver.device_count, "cuDeviceGetCount");
  library.find(driver.device, "cuDeviceGet");
  library.find(driver.device_attribute, "cuDeviceGetAttribute");
  library.find(driver.device_uuid, "cuDeviceGetUuid_v2");
  library.find(driver.device_name, "cuDeviceGetName");
  library.find(driver.version, "cuDriverGetVersion");
  library.find(driver.allocate, "cuMemAlloc_v2");
  library.find(driver.free, "cuMemFree_v2");
  library.find(driver.allocate_host, "cuMemHostAlloc");
  library.find(driver.free_host, "cuMemFreeHost");
  library.find(driver.device_address, "cuMemHostGetDevicePointer_v2");
  library.find(driver.copy_to_host, "cuMemcpyDtoHAsync_v2");
  library.find(driver.copy_rows, "cuMemcpy2DAsync_v2");
  library.find(driver.set_bytes, "cuMemsetD8Async");
  library.find(driver.create_stream, "cuStreamCreate");
  library.find(driver.destroy_stream, "cuStreamDestroy_v2");
  library.find(driver.is_capturing, "cuStreamIsCapturing");
  library.find(driver.create_event, "cuEventCreate");
  library.find(driver.destroy_event, "cuEventDestroy_v2");
  library.find(driver.record_event, "cuEventRecord");
  library.find(driver.query_event, "cuEventQuery");
  library.find(driver.exchange_capture_mode, "cuThreadExchangeStreamCaptureMode");
  library.find(driver.load_module, "cuModuleLoadData");
  library.find(driver.find_function, "cuModuleGetFunction");
  library.find(driver.find_global, "cuModuleGetGlobal_v2");
  library.find(driver.launch_kernel, "cuLaunchKernel");
  return driver;
}

std::string Driver::describe(CudaResult result) const {
  const char* text = nullptr;
  if (error_string(result, &text) != kCudaSuccess) text = nullptr;
  return concat(text == nullptr ? "unknown error" : text, " (error ", result, ")");
}

void Driver::check(CudaResult result, const char* function) const {
  if (result == kCudaSuccess) return;
  throw BackendError(kBackend, concat(function, " failed with ", describe(result)),
                     result == kCudaOutOfMemory
                         ? "leave room on the GPU for the records, or record fewer warps and CTAs"
                         : "see `proton doctor` for what is installed",
                     result);
}

}  // namespace proton::device_buffer
