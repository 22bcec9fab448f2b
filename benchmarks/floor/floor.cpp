// What tracing kernels with CUPTI costs at the least: one callback a launch that stores a context
// id, one activity record a kernel, added up in a table. No scopes, no tree, no file. `overhead.py`
// builds it and holds it against the profilers; it shares CUPTI's binary interface with Proton.
#include <dlfcn.h>
#include <stdint.h>
#include <time.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "backends/cupti/driver/abi.h"

using namespace proton::cupti;

namespace {

constexpr size_t kTableSize = 1 << 20;

struct Library {
  Result (*subscribe)(Subscriber*, CallbackFunction, void*);
  Result (*unsubscribe)(Subscriber);
  Result (*enable_callback)(uint32_t, Subscriber, int, uint32_t);
  Result (*register_buffers)(BufferRequested, BufferCompleted);
  Result (*enable)(uint32_t);
  Result (*disable)(uint32_t);
  Result (*flush)(uint32_t);
  Result (*next_record)(uint8_t*, size_t, void**);
  Result (*node_id)(void*, uint64_t*);
  Result (*register_clock)(TimestampFunction);
  Result (*set_attribute)(int, size_t*, void*);
} cupti;

enum Extra : int {
  kGraphLevel = 1,
  kCopies = 2,
  kHostClock = 4,
  kZeroed = 8,      // buffers are handed over zeroed: CUPTI does not do it while launching
  kResources = 16,  // callbacks for contexts, graphs and ends of nodes too
  kPeerCopies = 32,
};
constexpr uint32_t kOtherResources[] = {kContextCreated, kContextDestroyStarting,
                                        kGraphNodeDestroyStarting, kGraphExecCreated,
                                        kGraphExecDestroyStarting};
constexpr int kZeroedAttribute = 5;  // CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER

struct Sum {
  uint64_t key = 0, count = 0, time_ns = 0;
};

Subscriber subscriber;
size_t buffer_bytes;
bool is_zeroed = false;
uint64_t* contexts;  // [correlation & mask] = correlation << 32 | context
thread_local uint32_t context = 1;

std::mutex node_mutex;
std::unordered_map<uint64_t, uint32_t> node_contexts;

std::mutex free_mutex;
std::vector<uint8_t*> free_buffers;

std::mutex sum_mutex;  // taken once a buffer
std::vector<Sum> sums(4096);
uint64_t record_count, graph_count, unmatched_count;

void on_graph_node(uint32_t id, const ResourceData* resource) {
  if (id != kGraphNodeCreated && id != kGraphNodeCloned) return;
  const auto* graph = static_cast<const GraphData*>(resource->descriptor);
  if (graph == nullptr || graph->node_type != kKernelNode) return;
  uint64_t node = 0, original = 0;
  cupti.node_id(graph->node, &node);
  std::lock_guard lock(node_mutex);
  if (id == kGraphNodeCreated) {
    node_contexts[node] = context;
    return;
  }
  cupti.node_id(graph->original_node, &original);
  if (const auto found = node_contexts.find(original); found != node_contexts.end()) {
    const uint32_t captured = found->second;
    node_contexts[node] = captured;
  }
}

void on_callback(void*, int domain, uint32_t id, const void* data) {
  if (domain != kDriverDomain) {
    on_graph_node(id, static_cast<const ResourceData*>(data));
    return;
  }
  const auto* call = static_cast<const CallbackData*>(data);
  if (call->site != kEnterSite) return;
  contexts[call->correlation_id & (kTableSize - 1)] =
      static_cast<uint64_t>(call->correlation_id) << 32 | context;
}

void add(uint64_t key, uint64_t time_ns) {
  size_t at = (key * 0x9e3779b97f4a7c15u) >> 52;
  while (sums[at].count != 0 && sums[at].key != key) at = (at + 1) & (sums.size() - 1);
  sums[at].key = key;
  sums[at].count += 1;
  sums[at].time_ns += time_ns;
}

uint32_t context_of(uint32_t correlation) {
  const uint64_t entry = contexts[correlation & (kTableSize - 1)];
  if (entry >> 32 == correlation) return static_cast<uint32_t>(entry);
  ++unmatched_count;
  return 0;
}

void on_requested(uint8_t** buffer, size_t* size, size_t* max_record_count) {
  std::lock_guard lock(free_mutex);
  if (free_buffers.empty()) {
    *buffer = static_cast<uint8_t*>(std::aligned_alloc(4096, buffer_bytes));
    if (is_zeroed) std::memset(*buffer, 0, buffer_bytes);
  } else {
    *buffer = free_buffers.back();
    free_buffers.pop_back();
  }
  *size = buffer_bytes;
  *max_record_count = 0;
}

void on_completed(Context, uint32_t, uint8_t* buffer, size_t, size_t valid_size) {
  {
    std::lock_guard lock(sum_mutex);
    void* record = nullptr;
    while (valid_size != 0 && cupti.next_record(buffer, valid_size, &record) == kSuccess) {
      const auto* kernel = static_cast<const KernelRecord*>(record);
      if (kernel->kind == kConcurrentKernelActivity) {
        ++record_count;
        uint64_t captured = 0;
        if (kernel->graph_node_id != 0) {
          std::lock_guard nodes(node_mutex);
          const auto found = node_contexts.find(kernel->graph_node_id);
          captured = found == node_contexts.end() ? 0 : found->second;
        }
        const uint64_t key = reinterpret_cast<uint64_t>(kernel->name) ^ captured << 56;
        add(key ^ static_cast<uint64_t>(context_of(kernel->correlation_id)) << 48,
            kernel->end - kernel->start);
      } else if (kernel->kind == kGraphTraceActivity) {
        const auto* graph = static_cast<const GraphRecord*>(record);
        ++graph_count;
        add(context_of(graph->correlation_id) + 1, graph->end - graph->start);
      }
    }
  }
  if (is_zeroed) std::memset(buffer, 0, valid_size);
  std::lock_guard lock(free_mutex);
  free_buffers.push_back(buffer);
}

uint64_t read_clock() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec);
}

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

void set_zeroed(uint8_t value) {
  size_t size = sizeof(value);
  cupti.set_attribute(kZeroedAttribute, &size, &value);
}

int set_callbacks(uint32_t is_on) {
  for (const uint32_t id : kLaunchCallbacks) {
    if (const Result result = cupti.enable_callback(is_on, subscriber, kDriverDomain, id)) {
      return result;
    }
  }
  for (const uint32_t id : {kGraphNodeCreated, kGraphNodeCloned}) {
    cupti.enable_callback(is_on, subscriber, kResourceDomain, id);
  }
  return 0;
}

}  // namespace

extern "C" {

/// Opens a libcupti; 0, or what failed.
int floor_open(const char* path, uint64_t buffer_size) {
  buffer_bytes = buffer_size;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return -1;
  const bool has_all =
      find(library, "cuptiSubscribe", cupti.subscribe) &&
      find(library, "cuptiUnsubscribe", cupti.unsubscribe) &&
      find(library, "cuptiActivitySetAttribute", cupti.set_attribute) &&
      find(library, "cuptiEnableCallback", cupti.enable_callback) &&
      find(library, "cuptiActivityRegisterCallbacks", cupti.register_buffers) &&
      find(library, "cuptiActivityEnable", cupti.enable) &&
      find(library, "cuptiActivityDisable", cupti.disable) &&
      find(library, "cuptiActivityFlushAll", cupti.flush) &&
      find(library, "cuptiActivityGetNextRecord", cupti.next_record) &&
      find(library, "cuptiGetGraphNodeId", cupti.node_id) &&
      find(library, "cuptiActivityRegisterTimestampCallback", cupti.register_clock);
  if (!has_all) return -2;
  contexts = new uint64_t[kTableSize]();  // written to: its pages do not come with the launches
  return 0;
}

/// `extras`: what profilers ask for besides kernels, to see what it costs.
int floor_start(int extras) {
  record_count = graph_count = unmatched_count = 0;
  if (const Result result = cupti.subscribe(&subscriber, on_callback, nullptr)) return result;
  if (const Result result = cupti.register_buffers(on_requested, on_completed)) return result;
  is_zeroed = (extras & kZeroed) != 0;
  if (is_zeroed) set_zeroed(1);
  if ((extras & kResources) != 0) {
    for (const uint32_t id : kOtherResources) {
      cupti.enable_callback(1, subscriber, kResourceDomain, id);
    }
  }
  if (const Result result = cupti.enable(kConcurrentKernelActivity)) return result;
  if ((extras & kGraphLevel) != 0) {
    if (const Result result = cupti.enable(kGraphTraceActivity)) return result;
  }
  if ((extras & kCopies) != 0) {
    cupti.enable(kMemcpyActivity);
    cupti.enable(kMemsetActivity);
  }
  if ((extras & kPeerCopies) != 0) cupti.enable(kMemcpyPeerActivity);
  if ((extras & kHostClock) != 0) cupti.register_clock(read_clock);
  return set_callbacks(1);
}

/// `counts`: kernel records, graph records, records with no launch.
int floor_stop(uint64_t counts[3]) {
  cupti.flush(kFlushForced);
  cupti.disable(kConcurrentKernelActivity);
  cupti.disable(kGraphTraceActivity);
  cupti.disable(kMemcpyActivity);
  cupti.disable(kMemsetActivity);
  cupti.disable(kMemcpyPeerActivity);
  set_callbacks(0);
  if (is_zeroed) set_zeroed(0);
  const Result result = cupti.unsubscribe(subscriber);
  counts[0] = record_count;
  counts[1] = graph_count;
  counts[2] = unmatched_count;
  return result;
}
}
