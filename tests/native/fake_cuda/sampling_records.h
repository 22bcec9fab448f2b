/// Layouts of CUPTI's sampling of program counters, as records.h: written apart from the core's
/// own, and held against NVIDIA's by abi_check.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fake {

struct StallCount {  // CUpti_PCSamplingStallReason
  uint32_t reason, samples;
};
struct PcRecord {  // CUpti_PCSamplingPCData
  size_t size;
  uint64_t cubin_crc, pc_offset;
  uint32_t function_index, pad;
  const char* function_name;
  size_t stall_count;
  StallCount* stalls;
  uint32_t correlation_id;
};
struct PcBuffer {  // CUpti_PCSamplingData
  size_t size, capacity;
  uint64_t sample_count, dropped_count;
  size_t record_count, remaining_count;
  uint64_t range_id;
  PcRecord* records;
  uint64_t non_user_count;
  uint8_t is_hardware_full;
};
struct SamplingSetting {  // CUpti_PCSamplingConfigurationInfo
  int attribute, status;
  union {
    uint64_t words[3];
    uint32_t number;
    size_t bytes;
    void* buffer;
    struct {
      size_t count;
      uint32_t* numbers;
    } reasons;
  };
};
struct SamplingSettings {  // CUpti_PCSamplingConfigurationInfoParams
  size_t size;
  void *priv, *context;
  size_t count;
  SamplingSetting* settings;
};
struct SamplingContext {  // CUpti_PCSamplingEnableParams and its like
  size_t size;
  void *priv, *context;
};
struct SamplingRead {  // CUpti_PCSamplingGetDataParams
  size_t size;
  void *priv, *context, *buffer;
};
struct ReasonCount {  // CUpti_PCSamplingGetNumStallReasonsParams
  size_t size;
  void *priv, *context;
  size_t* count;
};
struct ReasonNames {  // CUpti_PCSamplingGetStallReasonsParams
  size_t size;
  void *priv, *context;
  size_t count;
  uint32_t* numbers;
  char** names;
};
struct CubinCrc {  // CUpti_GetCubinCrcParams
  size_t size, cubin_size;
  const void* cubin;
  uint64_t crc;
};
struct ModuleData {  // CUpti_ModuleResourceData
  uint32_t module_id;
  size_t cubin_size;
  const char* cubin;
};

enum SamplingAttribute : int {
  kPeriodSetting = 1,
  kReasonsSetting = 2,
  kScratchSetting = 3,
  kHardwareSetting = 4,
  kModeSetting = 5,
  kStartStopSetting = 6,
  kBufferSetting = 8,
};

}  // namespace fake
