/// The part of CUPTI's binary interface that we use, so that no header of
/// NVIDIA's is needed to build. Records and structures are the prefixes that CUPTI 12.x and 13.x
/// share: later versions only grow at the end. A test holds every offset and number against the
/// official headers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace proton::cupti {

using Result = int;     // CUptiResult
using Context = void*;  // CUcontext
using Subscriber = void*;

inline constexpr Result kSuccess = 0;
inline constexpr Result kMultipleSubscribers = 39;

enum ActivityKind : uint32_t {
  kMemcpyActivity = 1,
  kMemsetActivity = 2,
  kKernelActivity = 3,
  kConcurrentKernelActivity = 10,
  kMemcpyPeerActivity = 22,
  kUnifiedMemoryActivity = 25,
  kGraphTraceActivity = 51,
};

inline constexpr uint32_t kFlushForced = 1;

enum Domain : int { kDriverDomain = 1, kResourceDomain = 3 };

inline constexpr int kEnterSite = 0;
inline constexpr int kExitSite = 1;

enum ResourceCallback : uint32_t {
  kContextCreated = 1,
  kContextDestroyStarting = 2,
  kModuleLoaded = 6,
  kModuleUnloadStarting = 7,
  kGraphCreated = 9,
  kGraphDestroyStarting = 10,
  kGraphNodeCreateStarting = 12,
  kGraphNodeCreated = 13,
  kGraphNodeDestroyStarting = 14,
  kGraphExecCreateStarting = 17,
  kGraphExecCreated = 18,
  kGraphExecDestroyStarting = 19,
  kGraphNodeCloned = 20,
  kGraphNodeUpdated = 22,  // from 13.0 on
};

enum GraphNodeType : int { kKernelNode = 0, kMemcpyNode = 1, kMemsetNode = 2 };

/// Driver functions that launch kernels or graphs.
inline constexpr uint32_t kLaunchKernel = 307;  // cuLaunchKernel
inline constexpr uint32_t kLaunchCallbacks[] = {
    115,  // cuLaunch
    116,  // cuLaunchGrid
    117,  // cuLaunchGridAsync
    kLaunchKernel,
    442,  // cuLaunchKernel_ptsz
    477,  // cuLaunchCooperativeKernel
    478,  // cuLaunchCooperativeKernel_ptsz
    480,  // cuLaunchCooperativeKernelMultiDevice
    514,  // cuGraphLaunch
    515,  // cuGraphLaunch_ptsz
    652,  // cuLaunchKernelEx
    653,  // cuLaunchKernelEx_ptsz
};

inline constexpr uint32_t kGraphLaunch = 514;
inline constexpr uint32_t kGraphLaunchPerThread = 515;
/// The start of cuGraphLaunch_params.
struct GraphLaunchParams {
  void* graph_exec;
};

/// Driver functions that copy or set memory: from the first to the last number of each range.
struct CallbackRange {
  uint32_t first;
  uint32_t last;
};
inline constexpr CallbackRange kCopyCallbacks[] = {
    {216, 216},  // cuMemsetD8Async
    {218, 218},  // cuMemsetD16Async
    {220, 220},  // cuMemsetD32Async
    {222, 222},  // cuMemsetD2D8Async
    {224, 224},  // cuMemsetD2D16Async
    {226, 226},  // cuMemsetD2D32Async
    {249, 254},  // cuMemsetD8_v2 to cuMemsetD2D32_v2
    {276, 293},  // cuMemcpyHtoD_v2 to cuMemcpyHtoAAsync_v2
    {305, 306},  // cuMemcpy, cuMemcpyAsync
    {318, 321},  // cuMemcpyPeer to cuMemcpy3DPeerAsync
    {397, 416},  // cuMemcpyHtoD_v2_ptds to cuMemsetD2D32_v2_ptds
    {418, 433},  // cuMemcpyAsync_ptsz to cuMemsetD2D32Async_ptsz
    {467, 468},  // cuMemPrefetchAsync, also _ptsz
    {716, 717},  // cuMemPrefetchAsync_v2, also _ptsz
    {776, 779},  // cuMemcpyBatchAsync to cuMemcpy3DBatchAsync_ptsz
    {796, 799},  // cuMemcpyBatchAsync_v2 to cuMemcpy3DBatchAsync_v2_ptsz, from 13.0 on
    {837, 840},  // cuMemcpyWithAttributesAsync to cuMemcpy3DWithAttributesAsync_ptsz, from 13.4 on
};

/// CUpti_ActivityKernel5 to 13.
struct KernelRecord {
  uint32_t kind;
  uint8_t cache_config;
  uint8_t shared_memory_config;
  uint16_t registers_per_thread;
  uint32_t partitioned_cache_requested;
  uint32_t partitioned_cache_executed;
  uint64_t start;
  uint64_t end;
  uint64_t completed;
  uint32_t device_id;
  uint32_t context_id;
  uint32_t stream_id;
  int32_t grid_x;
  int32_t grid_y;
  int32_t grid_z;
  int32_t block_x;
  int32_t block_y;
  int32_t block_z;
  int32_t static_shared_memory;
  int32_t dynamic_shared_memory;
  uint32_t local_memory_per_thread;
  uint32_t local_memory_total;
  uint32_t correlation_id;
  int64_t grid_id;
  const char* name;
  void* reserved0;
  uint64_t queued;
  uint64_t submitted;
  uint8_t launch_type;
  uint8_t is_carveout_requested;
  uint8_t carveout_requested;
  uint8_t padding;
  uint32_t shared_memory_executed;
  uint64_t graph_node_id;
  uint32_t shared_memory_limit;
  uint32_t graph_id;
};
static_assert(offsetof(KernelRecord, graph_id) == 156 && sizeof(KernelRecord) == 160);

/// CUpti_ActivityMemcpy4 to 7.
struct MemcpyRecord {
  uint32_t kind;
  uint8_t copy_kind;
  uint8_t source_kind;
  uint8_t target_kind;
  uint8_t flags;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device_id;
  uint32_t context_id;
  uint32_t stream_id;
  uint32_t correlation_id;
  uint32_t runtime_correlation_id;
  uint32_t pad;
  void* reserved0;
  uint64_t graph_node_id;
  uint32_t graph_id;
};

/// CUpti_ActivityMemcpyPtoP3 and 4.
struct MemcpyPeerRecord {
  uint32_t kind;
  uint8_t copy_kind;
  uint8_t source_kind;
  uint8_t target_kind;
  uint8_t flags;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device_id;
  uint32_t context_id;
  uint32_t stream_id;
  uint32_t source_device_id;
  uint32_t source_context_id;
  uint32_t target_device_id;
  uint32_t target_context_id;
  uint32_t correlation_id;
  void* reserved0;
  uint64_t graph_node_id;
  uint32_t graph_id;
};

/// CUpti_ActivityMemset3 to 5.
struct MemsetRecord {
  uint32_t kind;
  uint32_t value;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device_id;
  uint32_t context_id;
  uint32_t stream_id;
  uint32_t correlation_id;
  uint16_t flags;
  uint16_t memory_kind;
  uint32_t pad;
  void* reserved0;
  uint64_t graph_node_id;
  uint32_t graph_id;
};

/// CUpti_ActivityUnifiedMemoryCounter2 and 3.
struct UnifiedMemoryRecord {
  uint32_t kind;
  uint32_t counter_kind;
  uint64_t value;
  uint64_t start;
  uint64_t end;
  uint64_t address;
  uint32_t source_id;
  uint32_t target_id;
  uint32_t stream_id;
  uint32_t process_id;
  uint32_t flags;
};

enum UnifiedMemoryCounter : uint32_t {
  kBytesHtoD = 1,
  kBytesDtoH = 2,
  kCpuPageFaults = 3,
  kBytesDtoD = 8,
};

/// CUpti_ActivityUnifiedMemoryCounterConfig.
struct UnifiedMemoryConfig {
  uint32_t scope;  // 1: one process, one device
  uint32_t kind;
  uint32_t device_id;
  uint32_t is_enabled;
};

/// CUpti_ActivityGraphTrace and GraphTrace2.
struct GraphRecord {
  uint32_t kind;
  uint32_t correlation_id;
  uint64_t start;
  uint64_t end;
  uint32_t device_id;
  uint32_t graph_id;
  uint32_t context_id;
  uint32_t stream_id;
};

/// CUpti_CallbackData.
struct CallbackData {
  int site;
  const char* function_name;
  const void* params;
  void* return_value;
  const char* symbol_name;
  Context context;
  uint32_t context_uid;
  uint64_t* correlation_data;
  uint32_t correlation_id;
};

/// CUpti_ResourceData.
struct ResourceData {
  Context context;
  void* handle;
  void* descriptor;
};

/// CUpti_GraphData.
struct GraphData {
  void* graph;
  void* original_graph;
  void* node;
  void* original_node;
  int node_type;
  void* dependency;
  void* graph_exec;
};

/// CUpti_SubscriberParams as of 13.0.
struct SubscriberParams {
  size_t struct_size;
  const char* subscriber_name;
  char* old_subscriber_name;
  size_t old_subscriber_size;
};
inline constexpr size_t kOldSubscriberNameSize = 128;

using CallbackFunction = void (*)(void* user_data, int domain, uint32_t cbid, const void* data);
using BufferRequested = void (*)(uint8_t** buffer, size_t* size, size_t* max_record_count);
using BufferCompleted = void (*)(Context context, uint32_t stream_id, uint8_t* buffer, size_t size,
                                 size_t valid_size);
using TimestampFunction = uint64_t (*)();
/// cuptiActivityEnableHWTrace, from 12.8 on.
using EnableHwTrace = Result(uint8_t enable);

/// CUpti_ActivityAttribute: whether buffers are zeroed by whoever hands them over; a byte.
inline constexpr int kZeroedBuffers = 5;

// The part that samples program counters

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
