/// The CUDA driver as the recorder needs it: memory, streams, events, a kernel. Opened at run time;
/// no CUPTI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace proton::device_buffer {

using CudaResult = int;
using CudaContext = void*;
using CudaStream = void*;
using CudaEvent = void*;
using DeviceAddress = uint64_t;

constexpr CudaResult kCudaSuccess = 0;
constexpr CudaResult kCudaOutOfMemory = 2;
constexpr CudaResult kCudaNotReady = 600;
constexpr unsigned kEventDisableTiming = 2;

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

struct Driver {
  CudaResult (*error_string)(CudaResult, const char**) = nullptr;
  CudaResult (*current_context)(CudaContext*) = nullptr;
  CudaResult (*set_context)(CudaContext) = nullptr;
  CudaResult (*context_id)(CudaContext, unsigned long long*) = nullptr;  // null: the current one
  CudaResult (*retain_primary_context)(CudaContext*, int device) = nullptr;
  CudaResult (*current_device)(int*) = nullptr;
  CudaResult (*synchronize_context)() = nullptr;
  CudaResult (*init)(unsigned) = nullptr;
  CudaResult (*device_count)(int*) = nullptr;
  CudaResult (*device)(int*, int) = nullptr;
  CudaResult (*device_attribute)(int*, int, int) = nullptr;
  CudaResult (*device_uuid)(unsigned char*, int) = nullptr;
  CudaResult (*device_name)(char*, int size, int device) = nullptr;
  CudaResult (*version)(int*) = nullptr;
  CudaResult (*allocate)(DeviceAddress*, size_t) = nullptr;
  CudaResult (*free)(DeviceAddress) = nullptr;
  CudaResult (*allocate_host)(void**, size_t, unsigned flags) = nullptr;
  CudaResult (*free_host)(void*) = nullptr;
  CudaResult (*device_address)(DeviceAddress*, void* host, unsigned flags) = nullptr;
  CudaResult (*copy_to_host)(void*, DeviceAddress, size_t, CudaStream) = nullptr;
  CudaResult (*copy_rows)(const Copy2d*, CudaStream) = nullptr;
  CudaResult (*set_bytes)(DeviceAddress, unsigned char, size_t, CudaStream) = nullptr;
  CudaResult (*create_stream)(CudaStream*, unsigned flags) = nullptr;
  CudaResult (*destroy_stream)(CudaStream) = nullptr;
  CudaResult (*is_capturing)(CudaStream, int*) = nullptr;
  CudaResult (*create_event)(CudaEvent*, unsigned flags) = nullptr;
  CudaResult (*destroy_event)(CudaEvent) = nullptr;
  CudaResult (*record_event)(CudaEvent, CudaStream) = nullptr;
  CudaResult (*query_event)(CudaEvent) = nullptr;
  CudaResult (*exchange_capture_mode)(int*) = nullptr;
  CudaResult (*load_module)(void**, const void* image) = nullptr;
  CudaResult (*find_function)(void**, void* module, const char* name) = nullptr;
  CudaResult (*find_global)(DeviceAddress*, size_t*, void* module, const char* name) = nullptr;
  CudaResult (*launch_kernel)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y, unsigned block_z,
                              unsigned shared_bytes, CudaStream, void** params,
                              void** extra) = nullptr;
  /// Called to say that what the calling thread asks of the driver from now on is ours, or no
  /// longer; returns what was so before. Not the driver's.
  bool (*disown)(bool is_ours) = [](bool) { return false; };

  /// Opens the library for the rest of the process. Throws BackendError.
  static Driver open(const std::string& path);

  /// "out of memory (error 2)"
  std::string describe(CudaResult result) const;
  /// Throws BackendError naming `function` unless `result` is success.
  void check(CudaResult result, const char* function) const;
};

/// While it lives, the calling thread may allocate though a stream is being captured.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const Driver& driver) : driver_(driver) {
    driver_.exchange_capture_mode(&mode_);
  }
  ~RelaxedCapture() { driver_.exchange_capture_mode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  const Driver& driver_;
  int mode_ = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED; then what it was
};

}  // namespace proton::device_buffer
