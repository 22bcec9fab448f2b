/// Holds our private header of CUPTI (and the fake driver's) against NVIDIA's own. Not part of the
/// native tests: tests/integration/test_cupti_abi.py compiles it once per set of headers and names
/// the newest record types, then compares the callback numbers that it prints with the headers.
#include <cuda.h>
#include <cupti.h>
#include <cupti_pcsampling.h>

#include <cstddef>
#include <cstdio>
#include <type_traits>

#include "backends/cuda/devices.h"
#include "backends/cupti/driver/abi.h"
#include "fake_cuda/records.h"
#include "fake_cuda/sampling_records.h"

namespace ours = proton::cupti;

#define SAME_NUMBER(mine, theirs)                                               \
  static_assert(static_cast<long long>(mine) == static_cast<long long>(theirs), \
                #mine " is not " #theirs)
#define SAME_SIZE(mine, theirs) \
  static_assert(sizeof(mine) == sizeof(theirs), "the size of " #mine " is not that of " #theirs)
#define SAME_FIELD(mine, field, theirs, name)                               \
  static_assert(offsetof(mine, field) == offsetof(theirs, name),            \
                #mine "." #field " is not where " #theirs "." #name " is"); \
  static_assert(sizeof(mine::field) == sizeof(theirs::name),                \
                #mine "." #field " has not the size of " #theirs "." #name)
/// A structure of ours may be a prefix.
#define FITS(mine, theirs) \
  static_assert(sizeof(mine) <= sizeof(theirs), #mine " is longer than " #theirs)
/// For both headers.
#define SAME_IN_BOTH(record, field, theirs, name) \
  SAME_FIELD(ours::record, field, theirs, name);  \
  SAME_FIELD(fake::record, field, theirs, name)

// ---- records ----

FITS(ours::KernelRecord, KERNEL_RECORD);
SAME_FIELD(ours::KernelRecord, grid_x, KERNEL_RECORD, gridX);
SAME_FIELD(ours::KernelRecord, grid_y, KERNEL_RECORD, gridY);
SAME_FIELD(ours::KernelRecord, grid_z, KERNEL_RECORD, gridZ);
SAME_FIELD(ours::KernelRecord, block_x, KERNEL_RECORD, blockX);
SAME_FIELD(ours::KernelRecord, block_y, KERNEL_RECORD, blockY);
SAME_FIELD(ours::KernelRecord, block_z, KERNEL_RECORD, blockZ);
static_assert(offsetof(fake::KernelRecord, grid) == offsetof(KERNEL_RECORD, gridX), "fake grid");
static_assert(offsetof(fake::KernelRecord, block) == offsetof(KERNEL_RECORD, blockX), "fake block");
SAME_IN_BOTH(KernelRecord, kind, KERNEL_RECORD, kind);
SAME_IN_BOTH(KernelRecord, registers_per_thread, KERNEL_RECORD, registersPerThread);
SAME_IN_BOTH(KernelRecord, start, KERNEL_RECORD, start);
SAME_IN_BOTH(KernelRecord, end, KERNEL_RECORD, end);
SAME_IN_BOTH(KernelRecord, completed, KERNEL_RECORD, completed);
SAME_IN_BOTH(KernelRecord, device_id, KERNEL_RECORD, deviceId);
SAME_IN_BOTH(KernelRecord, context_id, KERNEL_RECORD, contextId);
SAME_IN_BOTH(KernelRecord, stream_id, KERNEL_RECORD, streamId);
SAME_IN_BOTH(KernelRecord, static_shared_memory, KERNEL_RECORD, staticSharedMemory);
SAME_IN_BOTH(KernelRecord, dynamic_shared_memory, KERNEL_RECORD, dynamicSharedMemory);
SAME_IN_BOTH(KernelRecord, local_memory_per_thread, KERNEL_RECORD, localMemoryPerThread);
SAME_IN_BOTH(KernelRecord, local_memory_total, KERNEL_RECORD, localMemoryTotal);
SAME_IN_BOTH(KernelRecord, correlation_id, KERNEL_RECORD, correlationId);
SAME_IN_BOTH(KernelRecord, grid_id, KERNEL_RECORD, gridId);
SAME_IN_BOTH(KernelRecord, name, KERNEL_RECORD, name);
SAME_IN_BOTH(KernelRecord, queued, KERNEL_RECORD, queued);
SAME_IN_BOTH(KernelRecord, submitted, KERNEL_RECORD, submitted);
SAME_IN_BOTH(KernelRecord, launch_type, KERNEL_RECORD, launchType);
SAME_IN_BOTH(KernelRecord, shared_memory_executed, KERNEL_RECORD, sharedMemoryExecuted);
SAME_IN_BOTH(KernelRecord, graph_node_id, KERNEL_RECORD, graphNodeId);
SAME_IN_BOTH(KernelRecord, graph_id, KERNEL_RECORD, graphId);

FITS(ours::MemcpyRecord, MEMCPY_RECORD);
SAME_IN_BOTH(MemcpyRecord, kind, MEMCPY_RECORD, kind);
SAME_IN_BOTH(MemcpyRecord, copy_kind, MEMCPY_RECORD, copyKind);
SAME_IN_BOTH(MemcpyRecord, source_kind, MEMCPY_RECORD, srcKind);
SAME_IN_BOTH(MemcpyRecord, target_kind, MEMCPY_RECORD, dstKind);
SAME_IN_BOTH(MemcpyRecord, flags, MEMCPY_RECORD, flags);
SAME_IN_BOTH(MemcpyRecord, bytes, MEMCPY_RECORD, bytes);
SAME_IN_BOTH(MemcpyRecord, start, MEMCPY_RECORD, start);
SAME_IN_BOTH(MemcpyRecord, end, MEMCPY_RECORD, end);
SAME_IN_BOTH(MemcpyRecord, device_id, MEMCPY_RECORD, deviceId);
SAME_IN_BOTH(MemcpyRecord, context_id, MEMCPY_RECORD, contextId);
SAME_IN_BOTH(MemcpyRecord, stream_id, MEMCPY_RECORD, streamId);
SAME_IN_BOTH(MemcpyRecord, correlation_id, MEMCPY_RECORD, correlationId);
SAME_IN_BOTH(MemcpyRecord, graph_node_id, MEMCPY_RECORD, graphNodeId);
SAME_IN_BOTH(MemcpyRecord, graph_id, MEMCPY_RECORD, graphId);

FITS(ours::MemsetRecord, MEMSET_RECORD);
SAME_IN_BOTH(MemsetRecord, kind, MEMSET_RECORD, kind);
SAME_IN_BOTH(MemsetRecord, value, MEMSET_RECORD, value);
SAME_IN_BOTH(MemsetRecord, bytes, MEMSET_RECORD, bytes);
SAME_IN_BOTH(MemsetRecord, start, MEMSET_RECORD, start);
SAME_IN_BOTH(MemsetRecord, end, MEMSET_RECORD, end);
SAME_IN_BOTH(MemsetRecord, device_id, MEMSET_RECORD, deviceId);
SAME_IN_BOTH(MemsetRecord, context_id, MEMSET_RECORD, contextId);
SAME_IN_BOTH(MemsetRecord, stream_id, MEMSET_RECORD, streamId);
SAME_IN_BOTH(MemsetRecord, correlation_id, MEMSET_RECORD, correlationId);
SAME_IN_BOTH(MemsetRecord, graph_node_id, MEMSET_RECORD, graphNodeId);
SAME_IN_BOTH(MemsetRecord, graph_id, MEMSET_RECORD, graphId);

FITS(ours::MemcpyPeerRecord, CUpti_ActivityMemcpyPtoP4);
SAME_IN_BOTH(MemcpyPeerRecord, kind, CUpti_ActivityMemcpyPtoP4, kind);
SAME_IN_BOTH(MemcpyPeerRecord, copy_kind, CUpti_ActivityMemcpyPtoP4, copyKind);
SAME_IN_BOTH(MemcpyPeerRecord, bytes, CUpti_ActivityMemcpyPtoP4, bytes);
SAME_IN_BOTH(MemcpyPeerRecord, start, CUpti_ActivityMemcpyPtoP4, start);
SAME_IN_BOTH(MemcpyPeerRecord, end, CUpti_ActivityMemcpyPtoP4, end);
SAME_IN_BOTH(MemcpyPeerRecord, device_id, CUpti_ActivityMemcpyPtoP4, deviceId);
SAME_IN_BOTH(MemcpyPeerRecord, stream_id, CUpti_ActivityMemcpyPtoP4, streamId);
SAME_IN_BOTH(MemcpyPeerRecord, source_device_id, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
SAME_IN_BOTH(MemcpyPeerRecord, target_device_id, CUpti_ActivityMemcpyPtoP4, dstDeviceId);
SAME_IN_BOTH(MemcpyPeerRecord, correlation_id, CUpti_ActivityMemcpyPtoP4, correlationId);
SAME_IN_BOTH(MemcpyPeerRecord, graph_node_id, CUpti_ActivityMemcpyPtoP4, graphNodeId);
SAME_IN_BOTH(MemcpyPeerRecord, graph_id, CUpti_ActivityMemcpyPtoP4, graphId);

FITS(ours::UnifiedMemoryRecord, UNIFIED_RECORD);
SAME_IN_BOTH(UnifiedMemoryRecord, kind, UNIFIED_RECORD, kind);
SAME_IN_BOTH(UnifiedMemoryRecord, counter_kind, UNIFIED_RECORD, counterKind);
SAME_IN_BOTH(UnifiedMemoryRecord, value, UNIFIED_RECORD, value);
SAME_IN_BOTH(UnifiedMemoryRecord, start, UNIFIED_RECORD, start);
SAME_IN_BOTH(UnifiedMemoryRecord, end, UNIFIED_RECORD, end);
SAME_IN_BOTH(UnifiedMemoryRecord, source_id, UNIFIED_RECORD, srcId);
SAME_IN_BOTH(UnifiedMemoryRecord, target_id, UNIFIED_RECORD, dstId);
SAME_IN_BOTH(UnifiedMemoryRecord, stream_id, UNIFIED_RECORD, streamId);
SAME_SIZE(ours::UnifiedMemoryConfig, CUpti_ActivityUnifiedMemoryCounterConfig);
SAME_FIELD(ours::UnifiedMemoryConfig, kind, CUpti_ActivityUnifiedMemoryCounterConfig, kind);
SAME_FIELD(ours::UnifiedMemoryConfig, is_enabled, CUpti_ActivityUnifiedMemoryCounterConfig, enable);

FITS(ours::GraphRecord, CUpti_ActivityGraphTrace2);
SAME_IN_BOTH(GraphRecord, kind, CUpti_ActivityGraphTrace2, kind);
SAME_IN_BOTH(GraphRecord, correlation_id, CUpti_ActivityGraphTrace2, correlationId);
SAME_IN_BOTH(GraphRecord, start, CUpti_ActivityGraphTrace2, start);
SAME_IN_BOTH(GraphRecord, end, CUpti_ActivityGraphTrace2, end);
SAME_IN_BOTH(GraphRecord, device_id, CUpti_ActivityGraphTrace2, deviceId);
SAME_IN_BOTH(GraphRecord, graph_id, CUpti_ActivityGraphTrace2, graphId);
SAME_IN_BOTH(GraphRecord, stream_id, CUpti_ActivityGraphTrace2, streamId);

// ---- what callbacks get ----

SAME_SIZE(ours::CallbackData, CUpti_CallbackData);
SAME_IN_BOTH(CallbackData, site, CUpti_CallbackData, callbackSite);
SAME_IN_BOTH(CallbackData, params, CUpti_CallbackData, functionParams);
SAME_IN_BOTH(CallbackData, return_value, CUpti_CallbackData, functionReturnValue);
SAME_IN_BOTH(CallbackData, symbol_name, CUpti_CallbackData, symbolName);
SAME_IN_BOTH(CallbackData, context, CUpti_CallbackData, context);
SAME_IN_BOTH(CallbackData, context_uid, CUpti_CallbackData, contextUid);
SAME_IN_BOTH(CallbackData, correlation_data, CUpti_CallbackData, correlationData);
SAME_IN_BOTH(CallbackData, correlation_id, CUpti_CallbackData, correlationId);
SAME_SIZE(ours::ResourceData, CUpti_ResourceData);
SAME_IN_BOTH(ResourceData, context, CUpti_ResourceData, context);
SAME_IN_BOTH(ResourceData, descriptor, CUpti_ResourceData, resourceDescriptor);
SAME_SIZE(ours::GraphData, CUpti_GraphData);
SAME_IN_BOTH(GraphData, graph, CUpti_GraphData, graph);
SAME_IN_BOTH(GraphData, original_graph, CUpti_GraphData, originalGraph);
SAME_IN_BOTH(GraphData, node, CUpti_GraphData, node);
SAME_IN_BOTH(GraphData, original_node, CUpti_GraphData, originalNode);
SAME_IN_BOTH(GraphData, node_type, CUpti_GraphData, nodeType);
SAME_IN_BOTH(GraphData, graph_exec, CUpti_GraphData, graphExec);
SAME_SIZE(fake::KernelNodeParams, CUDA_KERNEL_NODE_PARAMS_v2);

// ---- numbers ----

SAME_NUMBER(ours::kSuccess, CUPTI_SUCCESS);
SAME_NUMBER(ours::kMultipleSubscribers, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME_NUMBER(fake::kNotCompatible, CUPTI_ERROR_NOT_COMPATIBLE);
SAME_NUMBER(fake::kInvalidKind, CUPTI_ERROR_INVALID_KIND);
SAME_NUMBER(fake::kNotSupported, CUPTI_ERROR_NOT_SUPPORTED);
SAME_NUMBER(ours::kMemcpyActivity, CUPTI_ACTIVITY_KIND_MEMCPY);
SAME_NUMBER(ours::kMemsetActivity, CUPTI_ACTIVITY_KIND_MEMSET);
SAME_NUMBER(ours::kKernelActivity, CUPTI_ACTIVITY_KIND_KERNEL);
SAME_NUMBER(ours::kConcurrentKernelActivity, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME_NUMBER(ours::kMemcpyPeerActivity, CUPTI_ACTIVITY_KIND_MEMCPY2);
SAME_NUMBER(ours::kUnifiedMemoryActivity, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
SAME_NUMBER(ours::kGraphTraceActivity, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
SAME_NUMBER(ours::kFlushForced, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
SAME_NUMBER(ours::kDriverDomain, CUPTI_CB_DOMAIN_DRIVER_API);
SAME_NUMBER(ours::kResourceDomain, CUPTI_CB_DOMAIN_RESOURCE);
SAME_NUMBER(ours::kEnterSite, CUPTI_API_ENTER);
SAME_NUMBER(ours::kExitSite, CUPTI_API_EXIT);
SAME_NUMBER(ours::kContextCreated, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
SAME_NUMBER(ours::kContextDestroyStarting, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
SAME_NUMBER(ours::kGraphNodeCreated, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
SAME_NUMBER(ours::kGraphNodeDestroyStarting, CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING);
SAME_NUMBER(ours::kGraphNodeCloned, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
SAME_NUMBER(ours::kGraphCreated, CUPTI_CBID_RESOURCE_GRAPH_CREATED);
SAME_NUMBER(ours::kGraphNodeCreateStarting, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING);
SAME_NUMBER(fake::kNodeCreateStarting, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING);
SAME_NUMBER(ours::kGraphDestroyStarting, CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING);
SAME_NUMBER(ours::kGraphExecCreateStarting, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING);
SAME_NUMBER(ours::kGraphExecCreated, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED);
SAME_NUMBER(ours::kGraphExecDestroyStarting, CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING);
SAME_NUMBER(fake::kGraphCreated, CUPTI_CBID_RESOURCE_GRAPH_CREATED);
SAME_NUMBER(fake::kGraphDestroyStarting, CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING);
SAME_NUMBER(fake::kGraphCloned, CUPTI_CBID_RESOURCE_GRAPH_CLONED);
SAME_NUMBER(fake::kExecCreateStarting, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING);
SAME_NUMBER(fake::kExecCreated, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED);
SAME_NUMBER(fake::kExecDestroyStarting, CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING);
SAME_NUMBER(ours::kKernelNode, CU_GRAPH_NODE_TYPE_KERNEL);
SAME_NUMBER(ours::kMemcpyNode, CU_GRAPH_NODE_TYPE_MEMCPY);
SAME_NUMBER(ours::kMemsetNode, CU_GRAPH_NODE_TYPE_MEMSET);
SAME_NUMBER(fake::kGraphNode, CU_GRAPH_NODE_TYPE_GRAPH);
SAME_NUMBER(fake::kConditionalNode, CU_GRAPH_NODE_TYPE_CONDITIONAL);
SAME_NUMBER(fake::kMemsetD8Async, CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async);
SAME_NUMBER(fake::kMemcpyHtoDAsync, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2);
SAME_NUMBER(fake::kMemcpyDtoHAsync, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2);
SAME_NUMBER(fake::kMemcpyDtoDAsync, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2);
SAME_NUMBER(fake::kMemcpyAsync, CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync);
SAME_NUMBER(fake::kLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
SAME_NUMBER(fake::kMemcpyPeerAsync, CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync);
SAME_NUMBER(fake::kGraphLaunch, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch);
SAME_NUMBER(ours::kBytesHtoD, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD);
SAME_NUMBER(ours::kBytesDtoH, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH);
SAME_NUMBER(ours::kBytesDtoD, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD);
SAME_NUMBER(proton::kClockRate, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
SAME_NUMBER(proton::kMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME_NUMBER(proton::kMaxThreadsPerMultiprocessor,
            CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
SAME_NUMBER(proton::kMemoryClockRate, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
SAME_NUMBER(proton::kMemoryBusWidth, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
SAME_NUMBER(proton::kL2CacheBytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME_NUMBER(proton::kComputeCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME_NUMBER(proton::kComputeCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME_NUMBER(proton::kSharedBytesPerMultiprocessor,
            CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
SAME_NUMBER(proton::kRegistersPerMultiprocessor,
            CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
SAME_NUMBER(proton::kReservedSharedBytesPerBlock,
            CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
SAME_NUMBER(proton::kMaxBlocksPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);

// ---- sampling of program counters ----

SAME_SIZE(ours::StallCount, CUpti_PCSamplingStallReason);
SAME_FIELD(ours::StallCount, reason, CUpti_PCSamplingStallReason, pcSamplingStallReasonIndex);
SAME_FIELD(ours::StallCount, samples, CUpti_PCSamplingStallReason, samples);
SAME_SIZE(fake::StallCount, CUpti_PCSamplingStallReason);
SAME_SIZE(ours::PcRecord, CUpti_PCSamplingPCData);
SAME_SIZE(fake::PcRecord, CUpti_PCSamplingPCData);
SAME_IN_BOTH(PcRecord, cubin_crc, CUpti_PCSamplingPCData, cubinCrc);
SAME_IN_BOTH(PcRecord, pc_offset, CUpti_PCSamplingPCData, pcOffset);
SAME_IN_BOTH(PcRecord, function_index, CUpti_PCSamplingPCData, functionIndex);
SAME_IN_BOTH(PcRecord, function_name, CUpti_PCSamplingPCData, functionName);
SAME_IN_BOTH(PcRecord, stall_count, CUpti_PCSamplingPCData, stallReasonCount);
SAME_IN_BOTH(PcRecord, stalls, CUpti_PCSamplingPCData, stallReason);
SAME_IN_BOTH(PcRecord, correlation_id, CUpti_PCSamplingPCData, correlationId);
FITS(ours::PcBuffer, CUpti_PCSamplingData);
FITS(fake::PcBuffer, CUpti_PCSamplingData);
SAME_IN_BOTH(PcBuffer, capacity, CUpti_PCSamplingData, collectNumPcs);
SAME_IN_BOTH(PcBuffer, sample_count, CUpti_PCSamplingData, totalSamples);
SAME_IN_BOTH(PcBuffer, dropped_count, CUpti_PCSamplingData, droppedSamples);
SAME_IN_BOTH(PcBuffer, record_count, CUpti_PCSamplingData, totalNumPcs);
SAME_IN_BOTH(PcBuffer, remaining_count, CUpti_PCSamplingData, remainingNumPcs);
SAME_IN_BOTH(PcBuffer, range_id, CUpti_PCSamplingData, rangeId);
SAME_IN_BOTH(PcBuffer, records, CUpti_PCSamplingData, pPcData);
SAME_IN_BOTH(PcBuffer, non_user_count, CUpti_PCSamplingData, nonUsrKernelsTotalSamples);
SAME_IN_BOTH(PcBuffer, is_hardware_full, CUpti_PCSamplingData, hardwareBufferFull);
SAME_SIZE(ours::SamplingSetting, CUpti_PCSamplingConfigurationInfo);
SAME_SIZE(fake::SamplingSetting, CUpti_PCSamplingConfigurationInfo);
SAME_IN_BOTH(SamplingSetting, attribute, CUpti_PCSamplingConfigurationInfo, attributeType);
SAME_IN_BOTH(SamplingSetting, status, CUpti_PCSamplingConfigurationInfo, attributeStatus);
SAME_IN_BOTH(SamplingSetting, words, CUpti_PCSamplingConfigurationInfo, attributeData);
SAME_SIZE(ours::SamplingSettings, CUpti_PCSamplingConfigurationInfoParams);
SAME_IN_BOTH(SamplingSettings, context, CUpti_PCSamplingConfigurationInfoParams, ctx);
SAME_IN_BOTH(SamplingSettings, count, CUpti_PCSamplingConfigurationInfoParams, numAttributes);
SAME_IN_BOTH(SamplingSettings, settings, CUpti_PCSamplingConfigurationInfoParams,
             pPCSamplingConfigurationInfo);
SAME_SIZE(ours::SamplingContext, CUpti_PCSamplingEnableParams);
SAME_SIZE(ours::SamplingContext, CUpti_PCSamplingDisableParams);
SAME_SIZE(ours::SamplingContext, CUpti_PCSamplingStartParams);
SAME_SIZE(ours::SamplingContext, CUpti_PCSamplingStopParams);
SAME_IN_BOTH(SamplingContext, context, CUpti_PCSamplingEnableParams, ctx);
SAME_SIZE(ours::SamplingRead, CUpti_PCSamplingGetDataParams);
SAME_IN_BOTH(SamplingRead, context, CUpti_PCSamplingGetDataParams, ctx);
SAME_IN_BOTH(SamplingRead, buffer, CUpti_PCSamplingGetDataParams, pcSamplingData);
SAME_SIZE(ours::ReasonCount, CUpti_PCSamplingGetNumStallReasonsParams);
SAME_IN_BOTH(ReasonCount, count, CUpti_PCSamplingGetNumStallReasonsParams, numStallReasons);
SAME_SIZE(ours::ReasonNames, CUpti_PCSamplingGetStallReasonsParams);
SAME_IN_BOTH(ReasonNames, count, CUpti_PCSamplingGetStallReasonsParams, numStallReasons);
SAME_IN_BOTH(ReasonNames, numbers, CUpti_PCSamplingGetStallReasonsParams, stallReasonIndex);
SAME_IN_BOTH(ReasonNames, names, CUpti_PCSamplingGetStallReasonsParams, stallReasons);
SAME_SIZE(ours::CubinCrc, CUpti_GetCubinCrcParams);
SAME_IN_BOTH(CubinCrc, cubin_size, CUpti_GetCubinCrcParams, cubinSize);
SAME_IN_BOTH(CubinCrc, cubin, CUpti_GetCubinCrcParams, cubin);
SAME_IN_BOTH(CubinCrc, crc, CUpti_GetCubinCrcParams, cubinCrc);
SAME_SIZE(ours::ModuleData, CUpti_ModuleResourceData);
SAME_IN_BOTH(ModuleData, module_id, CUpti_ModuleResourceData, moduleId);
SAME_IN_BOTH(ModuleData, cubin_size, CUpti_ModuleResourceData, cubinSize);
SAME_IN_BOTH(ModuleData, cubin, CUpti_ModuleResourceData, pCubin);
SAME_NUMBER(ours::kOutOfMemory, CUPTI_ERROR_OUT_OF_MEMORY);
SAME_NUMBER(ours::kReasonNameSize, CUPTI_STALL_REASON_STRING_SIZE);
SAME_NUMBER(ours::kContinuousMode, CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS);
SAME_NUMBER(ours::kModuleLoaded, CUPTI_CBID_RESOURCE_MODULE_LOADED);
SAME_NUMBER(ours::kModuleUnloadStarting, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
SAME_NUMBER(fake::kModuleLoaded, CUPTI_CBID_RESOURCE_MODULE_LOADED);
SAME_NUMBER(fake::kModuleUnloadStarting, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
#define SAME_SETTING(mine, his, theirs)                                        \
  SAME_NUMBER(ours::mine, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_##theirs); \
  SAME_NUMBER(fake::his, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_##theirs)
SAME_SETTING(kPeriodAttribute, kPeriodSetting, SAMPLING_PERIOD);
SAME_SETTING(kReasonsAttribute, kReasonsSetting, STALL_REASON);
SAME_SETTING(kScratchBytesAttribute, kScratchSetting, SCRATCH_BUFFER_SIZE);
SAME_SETTING(kHardwareBytesAttribute, kHardwareSetting, HARDWARE_BUFFER_SIZE);
SAME_SETTING(kModeAttribute, kModeSetting, COLLECTION_MODE);
SAME_SETTING(kStartStopAttribute, kStartStopSetting, ENABLE_START_STOP_CONTROL);
SAME_SETTING(kBufferAttribute, kBufferSetting, SAMPLING_DATA_BUFFER);

// ---- by version ----

#if CUPTI_API_VERSION >= 26
SAME_NUMBER(fake::kMigNotSupported, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
static_assert(sizeof(ours::Result) == sizeof(CUptiResult), "results have not the size of ours");
template <typename... Arguments>
auto with_our_result(CUptiResult (*)(Arguments...)) -> ours::Result (*)(Arguments...);
static_assert(
    std::is_same_v<decltype(with_our_result(&cuptiActivityEnableHWTrace)), ours::EnableHwTrace*>,
    "ours::EnableHwTrace is not the type of cuptiActivityEnableHWTrace");
#endif

#if CUPTI_API_VERSION >= 130000
SAME_NUMBER(ours::kGraphNodeUpdated, CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED);
SAME_NUMBER(fake::kNodeUpdated, CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED);
FITS(ours::SubscriberParams, CUpti_SubscriberParams);
SAME_FIELD(ours::SubscriberParams, struct_size, CUpti_SubscriberParams, structSize);
SAME_FIELD(ours::SubscriberParams, subscriber_name, CUpti_SubscriberParams, subscriberName);
SAME_FIELD(ours::SubscriberParams, old_subscriber_name, CUpti_SubscriberParams, oldSubscriberName);
SAME_FIELD(ours::SubscriberParams, old_subscriber_size, CUpti_SubscriberParams, oldSubscriberSize);
SAME_FIELD(fake::SubscriberParams, old_name_size, CUpti_SubscriberParams, oldSubscriberSize);
#endif
// The versions that the fake driver plays: its records have their sizes.
#if CUPTI_API_VERSION <= 28 || CUPTI_API_VERSION / 100 == 1300 || CUPTI_API_VERSION / 100 == 1304
#define SAME_RECORD_SIZE(kind, theirs)                                        \
  static_assert(fake::record_size(kind, CUPTI_API_VERSION) == sizeof(theirs), \
                "the fake driver's record of " #kind " has not the size of " #theirs)
SAME_NUMBER(fake::driver_call_count(CUPTI_API_VERSION), CUPTI_DRIVER_TRACE_CBID_SIZE);
SAME_RECORD_SIZE(fake::kConcurrentKernel, KERNEL_RECORD);
SAME_RECORD_SIZE(fake::kMemcpy, MEMCPY_RECORD);
SAME_RECORD_SIZE(fake::kMemset, MEMSET_RECORD);
SAME_RECORD_SIZE(fake::kMemcpyPeer, CUpti_ActivityMemcpyPtoP4);
SAME_RECORD_SIZE(fake::kUnifiedMemory, UNIFIED_RECORD);
SAME_RECORD_SIZE(fake::kGraphTrace, CUpti_ActivityGraphTrace2);
SAME_RECORD_SIZE(fake::kExternalCorrelation, CUpti_ActivityExternalCorrelation);
SAME_RECORD_SIZE(fake::kDriverApi, CUpti_ActivityAPI);
#endif

int main() {
  std::printf("version %d\n", CUPTI_API_VERSION);
  for (const uint32_t cbid : ours::kLaunchCallbacks) std::printf("launch %u\n", cbid);
  for (const auto& [first, last] : ours::kCopyCallbacks) {
    for (uint32_t cbid = first; cbid <= last; ++cbid) std::printf("copy %u\n", cbid);
  }
  return 0;
}
