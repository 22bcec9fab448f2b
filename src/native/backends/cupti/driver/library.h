/// libcupti and libcuda, opened at run time: their functions, and errors in words.
#pragma once

#include <string>

#include "backends/cupti/driver/abi.h"

namespace proton::cupti {

/// Functions are null where a library does not have them; `open` makes sure of those without a
/// question mark.
struct Library {
  uint32_t version = 0;
  std::string path;

  // CUPTI
  Result (*get_version)(uint32_t*) = nullptr;
  Result (*get_result_string)(Result, const char**) = nullptr;
  Result (*subscribe)(Subscriber*, CallbackFunction, void*) = nullptr;
  Result (*subscribe_v2)(Subscriber*, CallbackFunction, void*, SubscriberParams*) = nullptr;  // ?
  Result (*unsubscribe)(Subscriber) = nullptr;
  Result (*finalize)() = nullptr;  // ?
  Result (*enable_callback)(uint32_t, Subscriber, int, uint32_t) = nullptr;
  Result (*register_callbacks)(BufferRequested, BufferCompleted) = nullptr;
  Result (*register_timestamp)(TimestampFunction) = nullptr;  // ?
  Result (*enable_activity)(uint32_t) = nullptr;
  Result (*disable_activity)(uint32_t) = nullptr;
  Result (*flush_all)(uint32_t) = nullptr;
  Result (*next_record)(uint8_t*, size_t, void**) = nullptr;
  Result (*dropped_records)(Context, uint32_t, size_t*) = nullptr;
  Result (*get_timestamp)(uint64_t*) = nullptr;
  Result (*get_attribute)(int, size_t*, void*) = nullptr;                        // ?
  Result (*set_attribute)(int, size_t*, void*) = nullptr;                        // ?
  Result (*graph_node_id)(void*, uint64_t*) = nullptr;                           // ?
  Result (*graph_id)(void*, uint32_t*) = nullptr;                                // ?
  Result (*graph_exec_id)(void*, uint32_t*) = nullptr;                           // ?
  Result (*configure_unified_memory)(UnifiedMemoryConfig*, uint32_t) = nullptr;  // ?
  Result (*flush_period)(uint32_t) = nullptr;                                    // ?
  EnableHwTrace* enable_hw_trace = nullptr;                                      // ? from 12.8 on

  // CUPTI's sampling of program counters: all of them or none; see `missing_for_sampling`
  Result (*enable_sampling)(SamplingContext*) = nullptr;
  Result (*disable_sampling)(SamplingContext*) = nullptr;
  Result (*start_sampling)(SamplingContext*) = nullptr;
  Result (*stop_sampling)(SamplingContext*) = nullptr;
  Result (*read_samples)(SamplingRead*) = nullptr;
  Result (*configure_sampling)(SamplingSettings*) = nullptr;
  Result (*reason_count)(ReasonCount*) = nullptr;
  Result (*reason_names)(ReasonNames*) = nullptr;
  Result (*cubin_crc)(CubinCrc*) = nullptr;
  Result (*device_of_context)(Context, uint32_t*) = nullptr;

  // CUDA's driver
  CudaResult (*init)(unsigned) = nullptr;
  CudaResult (*driver_version)(int*) = nullptr;
  CudaResult (*error_string)(CudaResult, const char**) = nullptr;
  CudaResult (*device_count)(int*) = nullptr;
  CudaResult (*device)(int*, int) = nullptr;
  CudaResult (*device_name)(char*, int, int) = nullptr;
  CudaResult (*device_attribute)(int*, int, int) = nullptr;
  CudaResult (*device_uuid)(unsigned char*, int) = nullptr;  // ?
  CudaResult (*primary_context_state)(int, unsigned*, int*) = nullptr;
  CudaResult (*retain_primary_context)(Context*, int) = nullptr;
  CudaResult (*release_primary_context)(int) = nullptr;  // ?
  CudaResult (*set_context)(Context) = nullptr;
  CudaResult (*synchronize_context)() = nullptr;
  CudaResult (*exchange_capture_mode)(int*) = nullptr;  // ?

  // The driver's functions that read metric values from devices
  CudaResult (*current_context)(Context*) = nullptr;
  CudaResult (*current_device)(int*) = nullptr;
  CudaResult (*push_context)(Context) = nullptr;
  CudaResult (*pop_context)(Context*) = nullptr;
  CudaResult (*context_id)(Context, uint64_t*) = nullptr;  // ? CUDA 12
  CudaResult (*load_module)(void**, const void*) = nullptr;
  CudaResult (*find_function)(void**, void*, const char*) = nullptr;
  CudaResult (*register_host_memory)(void*, size_t, unsigned) = nullptr;
  CudaResult (*unregister_host_memory)(void*) = nullptr;
  CudaResult (*device_address)(uint64_t*, void*, unsigned) = nullptr;
  CudaResult (*is_capturing)(void* stream, int*) = nullptr;
  CudaResult (*launch_kernel)(void* function, unsigned, unsigned, unsigned, unsigned, unsigned,
                              unsigned, unsigned shared_bytes, void* stream, void** params,
                              void** extra) = nullptr;

  /// Opens both libraries for the rest of the process. Throws BackendError.
  static Library open(const std::string& cupti_path, const std::string& cuda_path);

  /// The first function that sampling needs and the library has not; null: it has them all.
  const char* missing_for_sampling() const;
  /// Throws BackendError where it has not.
  void expect_sampling() const;

  /// "CUPTI_ERROR_NOT_INITIALIZED (error 15)"
  std::string describe(Result result) const;
  std::string describe_cuda(CudaResult result) const;

  /// Throws BackendError naming `function` unless `result` is success.
  void check(Result result, const char* function) const;
};

/// What to do about an error of CUPTI's.
std::string remedy_for(Result result);

}  // namespace proton::cupti
