/// Layouts and numbers of CUPTI as the fake driver writes them: the records of CUPTI 12.6 to 13.4,
/// of which later ones only grow at the end, and the structures handed to callbacks. Written apart
/// from the core's own header, so that one slip cannot hide in both; abi_check.cpp holds both
/// against NVIDIA's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fake {

enum Result : int {
  kSuccess = 0,
  kInvalidParameter = 1,
  kInvalidContext = 3,
  kInvalidOperation = 7,
  kMaxLimitReached = 12,
  kNotCompatible = 14,
  kNotInitialized = 15,
  kInvalidKind = 21,
  kNotSupported = 27,
  kMultipleSubscribers = 39,
  kMigNotSupported = 43,
};

enum CudaResult : int {
  kCudaInvalidValue = 1,
  kCudaNotInitialized = 3,
  kCudaNoDevice = 100,
  kCudaInvalidDevice = 101,
  kCudaInvalidContext = 201,
  kCudaInvalidHandle = 400,
  kCudaContextIsDestroyed = 709,
};

enum Kind : uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kKernel = 3,
  kDriverApi = 4,
  kConcurrentKernel = 10,
  kMemcpyPeer = 22,
  kUnifiedMemory = 25,
  kExternalCorrelation = 39,
  kGraphTrace = 51,
  kKindCount = 64,
};

enum Domain : int { kDriverDomain = 1, kRuntimeDomain = 2, kResourceDomain = 3, kDomainCount = 7 };

enum DriverCall : uint32_t {
  kMemsetD8Async = 216,
  kMemcpyHtoDAsync = 277,
  kMemcpyDtoHAsync = 279,
  kMemcpyDtoDAsync = 281,
  kMemcpyAsync = 306,
  kLaunchKernel = 307,
  kMemcpyPeerAsync = 319,
  kGraphLaunch = 514,
};

enum Resource : uint32_t {
  kContextCreated = 1,
  kContextDestroyStarting = 2,
  kModuleLoaded = 6,
  kModuleUnloadStarting = 7,
  kGraphCreated = 9,
  kGraphDestroyStarting = 10,
  kGraphCloned = 11,
  kNodeCreateStarting = 12,
  kNodeCreated = 13,
  kNodeDestroyStarting = 14,
  kExecCreateStarting = 17,
  kExecCreated = 18,
  kExecDestroyStarting = 19,
  kNodeCloned = 20,
  kNodeUpdated = 22,  // from 13.0 on
};

enum NodeType : int {
  kKernelNode = 0,
  kMemcpyNode = 1,
  kMemsetNode = 2,
  kGraphNode = 4,
  kConditionalNode = 13,
};

/// CUpti_ActivityKernel13; 12.x ends before `is_device_launched`, 13.0 before `priority`.
struct KernelRecord {
  uint32_t kind;
  uint8_t cache_config, shared_memory_config;
  uint16_t registers_per_thread;
  uint32_t partitioned_requested, partitioned_executed;
  uint64_t start, end, completed;
  uint32_t device_id, context_id, stream_id;
  int32_t grid[3], block[3];
  int32_t static_shared_memory, dynamic_shared_memory;
  uint32_t local_memory_per_thread, local_memory_total, correlation_id;
  int64_t grid_id;
  const char* name;
  void* reserved0;
  uint64_t queued, submitted;
  uint8_t launch_type, is_carveout_requested, carveout_requested, padding;
  uint32_t shared_memory_executed;
  uint64_t graph_node_id;
  uint32_t shared_memory_limit, graph_id;
  void* access_policy;
  uint32_t channel_id, channel_type;
  uint32_t cluster[3], cluster_scheduling;
  uint64_t local_memory_total_v2;
  uint32_t max_potential_cluster_size, max_active_clusters;
  uint8_t is_device_launched, padding3[7];
  int32_t priority;
  uint32_t padding4;
  uint32_t execution_model, padding5;
  uint32_t source_graph_id, padding6;
  uint64_t source_graph_node_id;
};
static_assert(sizeof(KernelRecord) == 248 && offsetof(KernelRecord, priority) == 216);

/// CUpti_ActivityMemcpy7; 12.6 ends before `copy_count`, 13.0 after it.
struct MemcpyRecord {
  uint32_t kind;
  uint8_t copy_kind, source_kind, target_kind, flags;
  uint64_t bytes, start, end;
  uint32_t device_id, context_id, stream_id, correlation_id, runtime_correlation_id, pad;
  void* reserved0;
  uint64_t graph_node_id;
  uint32_t graph_id, channel_id, channel_type, pad2;
  uint64_t copy_count;
  uint32_t source_graph_id, pad3;
  uint64_t source_graph_node_id;
};
static_assert(sizeof(MemcpyRecord) == 112 && offsetof(MemcpyRecord, copy_count) == 88);

/// CUpti_ActivityMemset5; up to 13.0 it ends before `source_graph_id`.
struct MemsetRecord {
  uint32_t kind, value;
  uint64_t bytes, start, end;
  uint32_t device_id, context_id, stream_id, correlation_id;
  uint16_t flags, memory_kind;
  uint32_t pad;
  void* reserved0;
  uint64_t graph_node_id;
  uint32_t graph_id, channel_id, channel_type, pad2;
  uint32_t source_graph_id, pad3;
  uint64_t source_graph_node_id;
};
static_assert(sizeof(MemsetRecord) == 104 && offsetof(MemsetRecord, source_graph_id) == 88);

/// CUpti_ActivityMemcpyPtoP4.
struct MemcpyPeerRecord {
  uint32_t kind;
  uint8_t copy_kind, source_kind, target_kind, flags;
  uint64_t bytes, start, end;
  uint32_t device_id, context_id, stream_id;
  uint32_t source_device_id, source_context_id, target_device_id, target_context_id;
  uint32_t correlation_id;
  void* reserved0;
  uint64_t graph_node_id;
  uint32_t graph_id, channel_id, channel_type, pad;
};
static_assert(sizeof(MemcpyPeerRecord) == 96);

/// CUpti_ActivityUnifiedMemoryCounter3; 12.6 ends before `processors`.
struct UnifiedMemoryRecord {
  uint32_t kind, counter_kind;
  uint64_t value, start, end, address;
  uint32_t source_id, target_id, stream_id, process_id, flags, pad;
  uint64_t processors[5];
};
static_assert(sizeof(UnifiedMemoryRecord) == 104 && offsetof(UnifiedMemoryRecord, pad) == 60);

/// CUpti_ActivityGraphTrace2.
struct GraphRecord {
  uint32_t kind, correlation_id;
  uint64_t start, end;
  uint32_t device_id, graph_id, context_id, stream_id;
  void* reserved;
  uint32_t end_device_id, end_context_id;
};
static_assert(sizeof(GraphRecord) == 56);

/// CUpti_ActivityExternalCorrelation.
struct ExternalRecord {
  uint32_t kind, external_kind;
  uint64_t external_id;
  uint32_t correlation_id, reserved;
};
static_assert(sizeof(ExternalRecord) == 24);

/// CUpti_ActivityAPI.
struct ApiRecord {
  uint32_t kind, cbid;
  uint64_t start, end;
  uint32_t process_id, thread_id, correlation_id, return_value;
};
static_assert(sizeof(ApiRecord) == 40);

/// CUpti_CallbackData.
struct CallbackData {
  int site;
  const char* function_name;
  const void* params;
  void* return_value;
  const char* symbol_name;
  void* context;
  uint32_t context_uid;
  uint64_t* correlation_data;
  uint32_t correlation_id;
};

/// CUpti_ResourceData.
struct ResourceData {
  void* context;
  void* stream;
  void* descriptor;
};

/// CUpti_GraphData.
struct GraphData {
  void *graph, *original_graph, *node, *original_node;
  int node_type;
  void *dependency, *graph_exec;
};

/// CUpti_SubscriberParams, as long as 13.4 has it; 13.0 ends before `allow_multiple`.
struct SubscriberParams {
  size_t struct_size;
  const char* name;
  char* old_name;
  size_t old_name_size;
  uint8_t allow_multiple, padding[7];
};

/// CUDA_KERNEL_NODE_PARAMS_v2.
struct KernelNodeParams {
  void* function;
  uint32_t grid[3], block[3], shared_memory_bytes;
  void **kernel_params, **extra;
  void *kernel, *context;
};

using Callback = void (*)(void* user, int domain, uint32_t cbid, const void* data);
using BufferRequest = void (*)(uint8_t** buffer, size_t* size, size_t* max_records);
using BufferDone = void (*)(void* context, uint32_t stream, uint8_t* buffer, size_t size,
                            size_t valid);
using TimestampFunction = uint64_t (*)();

/// What cuptiGetVersion says, and so the length of records. One per library (version.cpp).
extern const uint32_t kCuptiVersion;

/// Bytes of a record of this kind in a version of CUPTI; 0 for a kind the fake never writes.
constexpr size_t record_size(uint32_t kind, uint32_t version) {
  const bool is_13_4 = version >= 130400;
  const bool is_12_8 = version >= 26;
  switch (kind) {
    case kKernel:
    case kConcurrentKernel:
      return is_13_4 ? 248 : version >= 130000 ? 216 : 208;
    case kMemcpy:
      return is_13_4 ? 112 : is_12_8 ? 96 : 88;
    case kMemset:
      return is_13_4 ? 104 : 88;
    case kMemcpyPeer:
      return sizeof(MemcpyPeerRecord);
    case kUnifiedMemory:
      return is_12_8 ? 104 : 64;
    case kGraphTrace:
      return sizeof(GraphRecord);
    case kExternalCorrelation:
      return sizeof(ExternalRecord);
    case kDriverApi:
      return sizeof(ApiRecord);
    default:
      return 0;
  }
}
/// Numbers of driver functions that a version knows: the first that it does not.
constexpr uint32_t driver_call_count(uint32_t version) {
  return version >= 130400   ? 868
         : version >= 130000 ? 807
         : version >= 28     ? 784
         : version >= 26     ? 782
                             : 763;
}
inline size_t record_size(uint32_t kind) { return record_size(kind, kCuptiVersion); }

}  // namespace fake
