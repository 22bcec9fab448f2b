/// The CUDA driver, opened at run time: its functions, and errors in words. Both `cupti/` and the
/// recorder of `device_buffer/` stand on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace proton {

using CudaResult = int;
using CudaContext = void*;
using CudaStream = void*;
using CudaEvent = void*;
using DeviceAddress = uint64_t;

constexpr CudaResult kCudaSuccess = 0;
constexpr CudaResult kCudaOutOfMemory = 2;
constexpr CudaResult kCudaNotReady = 600;
constexpr unsigned kEventDisableTiming = 2;
constexpr int kRelaxedCapture = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED

/// CUDA_MEMCPY2D of the driver's API.
struct Copy2d {
  enum Memory : int { kHost = 1, kDevice = 2 };

  size_t source_x = 0, source_y = 0;
  int source_memory = kDevice;
  const void* source_host = nullptr;
  DeviceAddress source_device = 0;
  void* source_array = nullptr;
  size_t source_pitch = 0;
  size_t target_x = 0, target_y = 0;
  int target_memory = kHost;
  void* target_host = nullptr;
  DeviceAddress target_device = 0;
  void* target_array = nullptr;
  size_t target_pitch = 0;
  size_t width_bytes = 0, height = 0;
};
static_assert(sizeof(Copy2d) == 128);

/// The driver's functions that we use: our name, its name, its parameters.
#define PROTON_CUDA_FUNCTIONS(FUNCTION)                                                            \
  FUNCTION(error_string, cuGetErrorString, CudaResult, const char**)                               \
  FUNCTION(init, cuInit, unsigned)                                                                 \
  FUNCTION(driver_version, cuDriverGetVersion, int*)                                               \
  FUNCTION(device_count, cuDeviceGetCount, int*)                                                   \
  FUNCTION(device, cuDeviceGet, int*, int index)                                                   \
  FUNCTION(device_name, cuDeviceGetName, char*, int size, int device)                              \
  FUNCTION(device_attribute, cuDeviceGetAttribute, int*, int attribute, int device)                \
  FUNCTION(device_uuid, cuDeviceGetUuid_v2, unsigned char*, int device)                            \
  FUNCTION(primary_context_state, cuDevicePrimaryCtxGetState, int device, unsigned*, int*)         \
  FUNCTION(retain_primary_context, cuDevicePrimaryCtxRetain, CudaContext*, int device)             \
  FUNCTION(release_primary_context, cuDevicePrimaryCtxRelease_v2, int device)                      \
  FUNCTION(current_context, cuCtxGetCurrent, CudaContext*)                                         \
  FUNCTION(set_context, cuCtxSetCurrent, CudaContext)                                              \
  FUNCTION(push_context, cuCtxPushCurrent_v2, CudaContext)                                         \
  FUNCTION(pop_context, cuCtxPopCurrent_v2, CudaContext*)                                          \
  FUNCTION(context_id, cuCtxGetId, CudaContext, unsigned long long*) /* null: the current one */   \
  FUNCTION(current_device, cuCtxGetDevice, int*)                                                   \
  FUNCTION(synchronize_context, cuCtxSynchronize)                                                  \
  FUNCTION(exchange_capture_mode, cuThreadExchangeStreamCaptureMode, int*)                         \
  FUNCTION(is_capturing, cuStreamIsCapturing, CudaStream, int*)                                    \
  FUNCTION(create_stream, cuStreamCreate, CudaStream*, unsigned flags)                             \
  FUNCTION(destroy_stream, cuStreamDestroy_v2, CudaStream)                                         \
  FUNCTION(create_event, cuEventCreate, CudaEvent*, unsigned flags)                                \
  FUNCTION(destroy_event, cuEventDestroy_v2, CudaEvent)                                            \
  FUNCTION(record_event, cuEventRecord, CudaEvent, CudaStream)                                     \
  FUNCTION(query_event, cuEventQuery, CudaEvent)                                                   \
  FUNCTION(allocate, cuMemAlloc_v2, DeviceAddress*, size_t)                                        \
  FUNCTION(free, cuMemFree_v2, DeviceAddress)                                                      \
  FUNCTION(allocate_host, cuMemHostAlloc, void**, size_t, unsigned flags)                          \
  FUNCTION(free_host, cuMemFreeHost, void*)                                                        \
  FUNCTION(register_host_memory, cuMemHostRegister_v2, void*, size_t, unsigned flags)              \
  FUNCTION(unregister_host_memory, cuMemHostUnregister, void*)                                     \
  FUNCTION(device_address, cuMemHostGetDevicePointer_v2, DeviceAddress*, void*, unsigned flags)    \
  FUNCTION(copy_to_host, cuMemcpyDtoHAsync_v2, void*, DeviceAddress, size_t, CudaStream)           \
  FUNCTION(copy_rows, cuMemcpy2DAsync_v2, const Copy2d*, CudaStream)                               \
  FUNCTION(set_bytes, cuMemsetD8Async, DeviceAddress, unsigned char, size_t, CudaStream)           \
  FUNCTION(load_module, cuModuleLoadData, void**, const void* image)                               \
  FUNCTION(find_function, cuModuleGetFunction, void**, void* module, const char* name)             \
  FUNCTION(find_global, cuModuleGetGlobal_v2, DeviceAddress*, size_t*, void* module, const char*)  \
  FUNCTION(launch_kernel, cuLaunchKernel, void* function, unsigned grid_x, unsigned grid_y,        \
           unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, \
           CudaStream, void** params, void** extra)

struct CudaDriver {
#define PROTON_MEMBER(name, symbol, ...) CudaResult (*name)(__VA_ARGS__) = nullptr;
  PROTON_CUDA_FUNCTIONS(PROTON_MEMBER)
#undef PROTON_MEMBER

  const char* backend = "cupti";  // that errors name

  /// Opens the library for the rest of the process. Throws BackendError.
  void open_driver(const std::string& path);

  /// "out of memory (error 2)"
  std::string describe_cuda(CudaResult result) const;
  /// Throws BackendError naming `function` unless `result` is success.
  void check_cuda(CudaResult result, const char* function, const char* remedy) const;
};

/// While it lives, the calling thread may allocate though a stream is being captured.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const CudaDriver& driver) : driver_(driver) {
    driver_.exchange_capture_mode(&mode_);
  }
  ~RelaxedCapture() { driver_.exchange_capture_mode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

  /// For good: other threads may be capturing whenever the calling one asks the driver.
  static void keep(const CudaDriver& driver) {
    int mode = kRelaxedCapture;
    driver.exchange_capture_mode(&mode);
  }

 private:
  const CudaDriver& driver_;
  int mode_ = kRelaxedCapture;  // then what it was
};

}  // namespace proton
