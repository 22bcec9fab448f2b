/// libcupti and libcuda, opened at run time: their functions, and errors in words.
#pragma once

#include <string>

#include "backends/cuda/driver.h"
#include "backends/cupti/driver/abi.h"

namespace proton::cupti {

/// CUPTI's functions that we use: our name, its name, its parameters. All versions of CUDA 12 and
/// later have them.
#define PROTON_CUPTI_FUNCTIONS(FUNCTION)                                                         \
  FUNCTION(get_version, cuptiGetVersion, uint32_t*)                                              \
  FUNCTION(get_result_string, cuptiGetResultString, Result, const char**)                        \
  FUNCTION(subscribe, cuptiSubscribe, Subscriber*, CallbackFunction, void*)                      \
  FUNCTION(unsubscribe, cuptiUnsubscribe, Subscriber)                                            \
  FUNCTION(finalize, cuptiFinalize)                                                              \
  FUNCTION(enable_callback, cuptiEnableCallback, uint32_t, Subscriber, int, uint32_t)            \
  FUNCTION(register_callbacks, cuptiActivityRegisterCallbacks, BufferRequested, BufferCompleted) \
  FUNCTION(register_timestamp, cuptiActivityRegisterTimestampCallback, TimestampFunction)        \
  FUNCTION(enable_activity, cuptiActivityEnable, uint32_t)                                       \
  FUNCTION(disable_activity, cuptiActivityDisable, uint32_t)                                     \
  FUNCTION(flush_all, cuptiActivityFlushAll, uint32_t)                                           \
  FUNCTION(flush_period, cuptiActivityFlushPeriod, uint32_t)                                     \
  FUNCTION(next_record, cuptiActivityGetNextRecord, uint8_t*, size_t, void**)                    \
  FUNCTION(dropped_records, cuptiActivityGetNumDroppedRecords, Context, uint32_t, size_t*)       \
  FUNCTION(get_timestamp, cuptiGetTimestamp, uint64_t*)                                          \
  FUNCTION(get_attribute, cuptiActivityGetAttribute, int, size_t*, void*)                        \
  FUNCTION(set_attribute, cuptiActivitySetAttribute, int, size_t*, void*)                        \
  FUNCTION(configure_unified_memory, cuptiActivityConfigureUnifiedMemoryCounter,                 \
           UnifiedMemoryConfig*, uint32_t)                                                       \
  FUNCTION(graph_node_id, cuptiGetGraphNodeId, void*, uint64_t*)                                 \
  FUNCTION(graph_id, cuptiGetGraphId, void*, uint32_t*)                                          \
  FUNCTION(graph_exec_id, cuptiGetGraphExecId, void*, uint32_t*)                                 \
  FUNCTION(device_of_context, cuptiGetDeviceId, Context, uint32_t*)                              \
  FUNCTION(enable_sampling, cuptiPCSamplingEnable, SamplingContext*)                             \
  FUNCTION(disable_sampling, cuptiPCSamplingDisable, SamplingContext*)                           \
  FUNCTION(start_sampling, cuptiPCSamplingStart, SamplingContext*)                               \
  FUNCTION(stop_sampling, cuptiPCSamplingStop, SamplingContext*)                                 \
  FUNCTION(read_samples, cuptiPCSamplingGetData, SamplingRead*)                                  \
  FUNCTION(configure_sampling, cuptiPCSamplingSetConfigurationAttribute, SamplingSettings*)      \
  FUNCTION(reason_count, cuptiPCSamplingGetNumStallReasons, ReasonCount*)                        \
  FUNCTION(reason_names, cuptiPCSamplingGetStallReasons, ReasonNames*)                           \
  FUNCTION(cubin_crc, cuptiGetCubinCrc, CubinCrc*)

struct Library : CudaDriver {
  uint32_t version = 0;
  std::string path;

#define PROTON_MEMBER(name, symbol, ...) Result (*name)(__VA_ARGS__) = nullptr;
  PROTON_CUPTI_FUNCTIONS(PROTON_MEMBER)
#undef PROTON_MEMBER
  // Null where the library does not have them
  Result (*subscribe_v2)(Subscriber*, CallbackFunction, void*, SubscriberParams*) = nullptr;  // 13
  EnableHwTrace* enable_hw_trace = nullptr;  // from 12.8 on

  /// Opens both libraries for the rest of the process. Throws BackendError.
  static Library open(const std::string& cupti_path, const std::string& cuda_path);

  /// "CUPTI_ERROR_NOT_INITIALIZED (error 15)"
  std::string describe(Result result) const;

  /// Throws BackendError naming `function` unless `result` is success.
  void check(Result result, const char* function) const;
};

/// What to do about an error of CUPTI's.
std::string remedy_for(Result result);

}  // namespace proton::cupti
