/// The part of CUPTI's binary interface that samples program counters; as abi.h, with the same
/// rules.
#pragma once

#include "backends/cupti/abi.h"

namespace proton::cupti {

inline constexpr Result kOutOfMemory = 8;  // also: the hardware's buffer was full

/// CUpti_PCSamplingStallReason.
struct StallCount {
  uint32_t reason;  // CUPTI's number for it
  uint32_t samples;
};

/// CUpti_PCSamplingPCData.
struct PcRecord {
  size_t struct_size;
  uint64_t cubin_crc;
  uint64_t pc_offset;
  uint32_t function_index;
  uint32_t pad;
  const char* function_name;
  size_t stall_count;
  StallCount* stalls;
  uint32_t correlation_id;
};
static_assert(sizeof(PcRecord) == 64);

/// CUpti_PCSamplingData.
struct PcBuffer {
  size_t struct_size;
  size_t capacity;  // in records
  uint64_t sample_count;
  uint64_t dropped_count;
  size_t record_count;
  size_t remaining_count;
  uint64_t range_id;
  PcRecord* records;
  uint64_t non_user_count;
  uint8_t is_hardware_full;
};
static_assert(sizeof(PcBuffer) == 80);

enum SamplingAttribute : int {
  kPeriodAttribute = 1,
  kReasonsAttribute = 2,
  kScratchBytesAttribute = 3,
  kHardwareBytesAttribute = 4,
  kModeAttribute = 5,
  kStartStopAttribute = 6,
  kBufferAttribute = 8,
};
inline constexpr uint32_t kContinuousMode = 1;

/// CUpti_PCSamplingConfigurationInfo.
struct SamplingSetting {
  int attribute;
  Result status = kSuccess;
  union {
    uint64_t words[3] = {};
    uint32_t number;
    size_t bytes;
    void* buffer;
    struct {
      size_t count;
      uint32_t* numbers;
    } reasons;
  };
};
static_assert(sizeof(SamplingSetting) == 32);

/// CUpti_PCSamplingConfigurationInfoParams.
struct SamplingSettings {
  size_t struct_size;
  void* priv;
  Context context;
  size_t count;
  SamplingSetting* settings;
};

/// CUpti_PCSamplingEnableParams, and those of Disable, Start and Stop.
struct SamplingContext {
  size_t struct_size;
  void* priv;
  Context context;
};

/// CUpti_PCSamplingGetDataParams.
struct SamplingRead {
  size_t struct_size;
  void* priv;
  Context context;
  void* buffer;
};

/// CUpti_PCSamplingGetNumStallReasonsParams.
struct ReasonCount {
  size_t struct_size;
  void* priv;
  Context context;
  size_t* count;
};

/// CUpti_PCSamplingGetStallReasonsParams.
struct ReasonNames {
  size_t struct_size;
  void* priv;
  Context context;
  size_t count;
  uint32_t* numbers;
  char** names;  // each of kReasonNameSize bytes
};
inline constexpr size_t kReasonNameSize = 128;  // CUPTI_STALL_REASON_STRING_SIZE

/// CUpti_GetCubinCrcParams.
struct CubinCrc {
  size_t struct_size;
  size_t cubin_size;
  const void* cubin;
  uint64_t crc;
};

/// CUpti_ModuleResourceData.
struct ModuleData {
  uint32_t module_id;
  size_t cubin_size;
  const char* cubin;
};

}  // namespace proton::cupti
