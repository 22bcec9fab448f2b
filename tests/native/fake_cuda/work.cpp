/// Kernels and copies: each is a driver call with callbacks, takes its time on its stream, and
/// leaves a record; on a stream under capture it becomes a node of the graph instead.
#include <algorithm>

#include "driver.h"
#include "fake_cuda.h"
#include "sampling.h"

namespace fake {
namespace {

constexpr uint32_t kDefaultStreamId = 7;  // what CUPTI calls the null stream of a context

Context& make_context(int device) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  auto context = std::make_unique<Context>();
  context->id = all.next_context++;
  context->device = device;
  context->default_stream.context = context.get();
  context->default_stream.id = kDefaultStreamId;
  all.contexts.push_back(std::move(context));
  return *all.contexts.back();
}

void tell_context(uint32_t cbid, Context& context) {
  if (!is_enabled(kResourceDomain, cbid)) return;
  const ResourceData data{&context, nullptr, nullptr};
  ++local().resource_callback_depth;
  call_back(kResourceDomain, cbid, &data);
  --local().resource_callback_depth;
}

void destroy(Context& context) {
  tell_context(kContextDestroyStarting, context);
  expect_unsampled(context);
  complete_all();
  context.is_destroyed.store(true);
  lose_events(context);
}

void record_kernel(const Work& work, Stream& stream, uint32_t correlation, uint64_t node_id,
                   uint32_t graph_id) {
  const uint32_t kind = is_kind_on(kConcurrentKernel) ? kConcurrentKernel : kKernel;
  if (!is_kind_on(kind)) return;
  const auto [start, end] = occupy(stream, work.function->duration_ns);
  KernelRecord record{};
  record.kind = kind;
  record.registers_per_thread = static_cast<uint16_t>(work.function->registers);
  record.start = start;
  record.end = end;
  record.device_id = static_cast<uint32_t>(stream.context->device);
  record.context_id = stream.context->id;
  record.stream_id = stream.id;
  for (int i = 0; i < 3; ++i) {
    record.grid[i] = static_cast<int32_t>(work.grid[i]);
    record.block[i] = static_cast<int32_t>(work.block[i]);
  }
  record.static_shared_memory = work.function->static_shared_bytes;
  record.dynamic_shared_memory = static_cast<int32_t>(work.shared_bytes);
  record.local_memory_per_thread = static_cast<uint32_t>(work.function->local_bytes);
  record.correlation_id = correlation;
  record.grid_id = correlation;
  record.name = work.function->name;
  record.graph_node_id = node_id;
  record.graph_id = graph_id;
  write_record(&record);
}

void record_memcpy(const Work& work, Stream& stream, uint32_t correlation, uint64_t node_id,
                   uint32_t graph_id) {
  const bool is_peer = work.peer_source >= 0;
  if (!is_kind_on(is_peer ? kMemcpyPeer : kMemcpy)) return;
  const auto [start, end] = occupy(stream, work.duration_ns);
  const auto device = static_cast<uint32_t>(stream.context->device);
  if (is_peer) {
    MemcpyPeerRecord record{};
    record.kind = kMemcpyPeer;
    record.copy_kind = 10;
    record.source_kind = record.target_kind = 3;
    record.flags = 1;
    record.bytes = work.bytes;
    record.start = start;
    record.end = end;
    record.device_id = device;
    record.context_id = stream.context->id;
    record.stream_id = stream.id;
    record.source_device_id = static_cast<uint32_t>(work.peer_source);
    record.source_context_id = primary_context(work.peer_source).id;
    record.target_device_id = static_cast<uint32_t>(work.peer_target);
    record.target_context_id = primary_context(work.peer_target).id;
    record.correlation_id = correlation;
    record.graph_node_id = node_id;
    record.graph_id = graph_id;
    write_record(&record);
    return;
  }
  MemcpyRecord record{};
  record.kind = kMemcpy;
  record.copy_kind = static_cast<uint8_t>(work.copy_kind);
  record.source_kind = work.copy_kind == 1 ? 1 : 3;  // pageable or device
  record.target_kind = work.copy_kind == 2 ? 1 : 3;
  record.flags = 1;
  record.bytes = work.bytes;
  record.start = start;
  record.end = end;
  record.device_id = device;
  record.context_id = stream.context->id;
  record.stream_id = stream.id;
  record.correlation_id = correlation;
  record.graph_node_id = node_id;
  record.graph_id = graph_id;
  record.copy_count = 1;
  write_record(&record);
}

void record_memset(const Work& work, Stream& stream, uint32_t correlation, uint64_t node_id,
                   uint32_t graph_id) {
  if (!is_kind_on(kMemset)) return;
  const auto [start, end] = occupy(stream, work.duration_ns);
  MemsetRecord record{};
  record.kind = kMemset;
  record.value = static_cast<uint32_t>(work.value);
  record.bytes = work.bytes;
  record.start = start;
  record.end = end;
  record.device_id = static_cast<uint32_t>(stream.context->device);
  record.context_id = stream.context->id;
  record.stream_id = stream.id;
  record.correlation_id = correlation;
  record.flags = 1;
  record.memory_kind = 3;
  record.graph_node_id = node_id;
  record.graph_id = graph_id;
  write_record(&record);
}

}  // namespace

Context& primary_context(int device) {
  State& all = state();
  {
    const std::lock_guard lock(all.mutex);
    const auto found = all.primaries.find(device);
    if (found != all.primaries.end() && !found->second->is_destroyed.load()) return *found->second;
  }
  Context& context = make_context(device);
  {
    const std::lock_guard lock(all.mutex);
    all.primaries[device] = &context;
  }
  tell_context(kContextCreated, context);
  return context;
}

Context& current_context() {
  Local& here = local();
  if (here.context == nullptr) here.context = &primary_context(0);
  return *here.context;
}

Stream& stream_of(void* handle) {
  // 1 and 2 are CUDA's names for the legacy and the per-thread default stream.
  if (reinterpret_cast<uintptr_t>(handle) <= 2) return current_context().default_stream;
  return *static_cast<Stream*>(handle);
}

std::pair<uint64_t, uint64_t> occupy(Stream& stream, uint64_t duration_ns) {
  const uint64_t now = gpu_now();
  uint64_t busy = stream.busy_until.load(std::memory_order_relaxed);
  uint64_t start = 0;
  do {
    start = std::max(now, busy);
  } while (!stream.busy_until.compare_exchange_weak(busy, start + duration_ns));
  return {start, start + duration_ns};
}

Function* intern_function(const char* name, uint64_t duration_ns, uint64_t cubin_crc) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  const std::string key =
      std::string(name) + "\n" + std::to_string(duration_ns) + "\n" + std::to_string(cubin_crc);
  auto& function = all.functions[key];
  if (!function) {
    function = std::make_unique<Function>();
    function->name = all.names.insert(name).first->c_str();
    function->duration_ns = duration_ns;
    function->cubin_crc = cubin_crc;
  }
  return function.get();
}

void record_work(const Work& work, Stream& stream, uint32_t correlation, uint64_t node_id,
                 uint32_t graph_id) {
  if (work.type == kKernelNode) record_kernel(work, stream, correlation, node_id, graph_id);
  if (work.type == kMemcpyNode) record_memcpy(work, stream, correlation, node_id, graph_id);
  if (work.type == kMemsetNode) record_memset(work, stream, correlation, node_id, graph_id);
}

uint32_t submit(uint32_t cbid, const char* name, const void* params, const Work& work,
                Stream& stream, int refused) {
  ApiCall call(cbid, name, params, work.function == nullptr ? nullptr : work.function->name);
  const LaunchMark mark(cbid);
  sleep_ns(state().options.launch_delay_ns.load(std::memory_order_relaxed));
  if (refused == 0 && stream.context->is_destroyed.load(std::memory_order_relaxed)) {
    refused = kCudaContextIsDestroyed;
  }
  call.set_result(refused);
  if (refused != 0) return 0;
  if (Graph* graph = stream.capture.load(std::memory_order_relaxed)) {
    add_node(*graph, work);
    return call.correlation();
  }
  const Local& here = local();
  if (!here.external.empty() && is_kind_on(kExternalCorrelation)) {
    for (const auto& [kind, id] : here.external) {
      const ExternalRecord record{kExternalCorrelation, kind, id, call.correlation(), 0};
      write_record(&record);
    }
  }
  execute(work, *stream.context);
  record_work(work, stream, call.correlation(), 0, 0);
  return call.correlation();
}

}  // namespace fake

using namespace fake;

namespace {

struct LaunchParams {  // cuLaunchKernel_params
  void* function;
  unsigned grid[3], block[3], shared_bytes;
  void *stream, **kernel_params, **extra;
};

}  // namespace

FAKE_EXPORT(cuLaunchKernel, void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
            unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
            void* stream, void** kernel_params, void** extra) {
  const LaunchParams params{function,
                            {grid_x, grid_y, grid_z},
                            {block_x, block_y, block_z},
                            shared_bytes,
                            stream,
                            kernel_params,
                            extra};
  Work work;
  work.function = static_cast<Function*>(function);
  for (int i = 0; i < 3; ++i) {
    work.grid[i] = params.grid[i];
    work.block[i] = params.block[i];
  }
  work.shared_bytes = shared_bytes;
  keep_params(work, kernel_params);
  const int refused = call_cuLaunchKernel.enter();
  const uint32_t correlation =
      submit(kLaunchKernel, "cuLaunchKernel", &params, work, stream_of(stream), refused);
  return correlation != 0 ? 0 : refused != 0 ? refused : int{kCudaContextIsDestroyed};
}

FAKE_VISIBLE void* fake_function(const char* name, uint64_t duration_ns) {
  return intern_function(name, duration_ns);
}

FAKE_VISIBLE void fake_function_resources(void* function, int registers, int static_shared_bytes,
                                          int local_bytes) {
  auto& one = *static_cast<Function*>(function);
  one.registers = registers;
  one.static_shared_bytes = static_shared_bytes;
  one.local_bytes = local_bytes;
}

FAKE_VISIBLE uint32_t fake_launch(const char* name, uint64_t duration_ns, void* stream) {
  return fake_launch_many(intern_function(name, duration_ns), 1, stream);
}

FAKE_VISIBLE uint32_t fake_launch_many(void* function, uint64_t count, void* stream) {
  const LaunchParams params{function, {1, 1, 1}, {32, 1, 1}, 0, stream, nullptr, nullptr};
  Work work;
  work.function = static_cast<Function*>(function);
  uint32_t correlation = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const int refused = call_cuLaunchKernel.enter();
    correlation =
        submit(kLaunchKernel, "cuLaunchKernel", &params, work, stream_of(stream), refused);
  }
  return correlation;
}

FAKE_VISIBLE uint32_t fake_memcpy(int kind, uint64_t bytes, uint64_t duration_ns, void* stream) {
  Work work;
  work.type = kMemcpyNode;
  work.copy_kind = kind;
  work.bytes = bytes;
  work.duration_ns = duration_ns;
  const uint32_t cbid = kind == 1   ? kMemcpyHtoDAsync
                        : kind == 2 ? kMemcpyDtoHAsync
                        : kind == 8 ? kMemcpyDtoDAsync
                                    : kMemcpyAsync;
  const char* name = kind == 1   ? "cuMemcpyHtoDAsync_v2"
                     : kind == 2 ? "cuMemcpyDtoHAsync_v2"
                     : kind == 8 ? "cuMemcpyDtoDAsync_v2"
                                 : "cuMemcpyAsync";
  return submit(cbid, name, nullptr, work, stream_of(stream), 0);
}

FAKE_VISIBLE uint32_t fake_memset(int value, uint64_t bytes, uint64_t duration_ns, void* stream) {
  Work work;
  work.type = kMemsetNode;
  work.value = value;
  work.bytes = bytes;
  work.duration_ns = duration_ns;
  return submit(kMemsetD8Async, "cuMemsetD8Async", nullptr, work, stream_of(stream), 0);
}

FAKE_VISIBLE uint32_t fake_memcpy_peer(int from_device, int to_device, uint64_t bytes,
                                       uint64_t duration_ns, void* stream) {
  Work work;
  work.type = kMemcpyNode;
  work.copy_kind = 8;  // CUPTI 13.0 takes a copy between contexts of a device for one within it
  work.bytes = bytes;
  work.duration_ns = duration_ns;
  if (from_device != to_device) {
    work.copy_kind = 10;
    work.peer_source = from_device;
    work.peer_target = to_device;
  }
  return submit(kMemcpyPeerAsync, "cuMemcpyPeerAsync", nullptr, work, stream_of(stream), 0);
}

FAKE_VISIBLE void fake_unified_memory(int kind, uint64_t bytes, uint64_t duration_ns, int from,
                                      int to) {
  if (!is_kind_on(kUnifiedMemory)) return;
  UnifiedMemoryRecord record{};
  record.kind = kUnifiedMemory;
  record.counter_kind = static_cast<uint32_t>(kind);
  record.value = bytes;
  record.start = gpu_now();
  record.end = record.start + duration_ns;
  record.source_id = static_cast<uint32_t>(from);
  record.target_id = static_cast<uint32_t>(to);
  write_record(&record);
}

FAKE_VISIBLE void* fake_stream_create(void) {
  State& all = state();
  auto stream = std::make_unique<Stream>();
  stream->context = &current_context();
  stream->id = all.next_stream.fetch_add(1);
  const std::lock_guard lock(all.mutex);
  all.streams.push_back(std::move(stream));
  return all.streams.back().get();
}

FAKE_VISIBLE void* fake_context_create(int device) {
  Context& context = make_context(device);
  local().context = &context;
  tell_context(kContextCreated, context);
  return &context;
}

FAKE_VISIBLE int fake_context_destroy(void* context) {
  auto& one = *static_cast<Context*>(context);
  if (one.is_destroyed.load()) return kCudaContextIsDestroyed;
  destroy(one);
  return 0;
}

FAKE_VISIBLE int fake_device_reset(int device) {
  Context& context = primary_context(device);
  destroy(context);
  if (local().context == &context) local().context = nullptr;
  return 0;
}
