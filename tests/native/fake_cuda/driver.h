/// Inside of the fake driver: what its files share. State is one object; hot paths (launch,
/// callback, record) take no lock but that of the buffer they write.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "records.h"

#define FAKE_VISIBLE __attribute__((visibility("default")))
/// Defines an exported function that is counted and can be made to fail.
#define FAKE_EXPORT(name, ...)            \
  static ::fake::Call call_##name(#name); \
  extern "C" FAKE_VISIBLE int name(__VA_ARGS__)
#define FAKE_ENTER(name) \
  if (const int code_ = call_##name.enter(); code_ != 0) return code_

namespace fake {

/// One exported function: how often it was called, and whether it is to fail.
class Call {
 public:
  explicit Call(const char* name);
  /// Counts the call; what it has to return at once, or 0.
  int enter() noexcept;
  void fail(int code, int64_t skip, int64_t times);
  void reset();
  const char* name() const { return name_; }
  int64_t count() const { return count_.load(std::memory_order_relaxed); }
  static Call* find(const std::string& name);
  static std::vector<Call*>& all();

 private:
  int refuse() noexcept;
  const char* name_;
  bool is_cupti_;
  std::atomic<int64_t> count_{0};
  std::atomic<int> code_{0};
  std::atomic<int64_t> skip_{0};
  std::atomic<int64_t> times_{0};
};

using Option = std::atomic<int64_t>;
struct Options {
  Option device_count, driver_version, compute_capability, is_mig, clock_offset_ns, clock_drift_ppb,
      gpu_skew_ns, hold, per_thread_buffers, reverse_records, reverse_buffers, manual_worker,
      scribble, queue_limit, drop_next, silent_nodes, flush_delay_ns, completion_delay_ns,
      launch_delay_ns, switch_delay_ns, late_samples, zero_reasons, hardware_samples, drop_samples,
      non_user_samples, memory_bytes, free_delay_ns;
  Options() { reset(); }
  void reset();
  Option* find(const std::string& name);
};

using Counter = std::atomic<int64_t>;
struct Counters {
  Counter callbacks, records, delivered, dropped, buffers_requested, buffers_completed,
      worker_completions, flush_completions, violations;
  Counters() { reset(); }
  void reset();
  Counter* find(const std::string& name);
};

struct Module;
struct Function {
  const char* name = nullptr;
  uint64_t duration_ns = 0;
  int registers = 32;
  int static_shared_bytes = 0;
  int local_bytes = 0;
  Module* module = nullptr;  // of a kernel that really runs
  size_t param_bytes = 0;    // of that one's parameter
  uint64_t cubin_crc = 1;    // of the module that it is sampled as a part of
  std::string records;       // what a launch leaves in its buffer
};
/// A loaded module: each of ours has one kernel, and counters in device memory.
struct Module {
  std::string text;
  Function kernel;
  std::atomic<uint64_t> head{0};    // of the one that reads values
  std::vector<uint64_t> variables;  // of the one that counts replays
};
inline constexpr size_t kParamBytes = 48;

struct Graph;
struct Context;
struct Stream {
  Context* context;
  uint32_t id;
  std::atomic<uint64_t> busy_until{0};
  std::atomic<Graph*> capture{nullptr};
};
struct Context {
  uint32_t id;
  int device;
  std::atomic<bool> is_destroyed{false};
  Stream default_stream;
};

/// A piece of GPU work: what a launch gives, and what a graph node keeps.
struct Work {
  int type = kKernelNode;  // of NodeType
  Function* function = nullptr;
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {32, 1, 1};
  uint32_t shared_bytes = 0;
  int copy_kind = 0;
  int value = 0;
  uint64_t bytes = 0;
  uint64_t duration_ns = 0;
  int peer_source = -1;
  int peer_target = -1;
  std::array<uint8_t, kParamBytes> params = {};  // of a kernel that really runs
  void* memory = nullptr;                        // that is set, or that a kernel records into
};
struct Node {
  uint64_t id;
  Work work;
  Graph* child = nullptr;  // of graph and conditional nodes
  int runs = 1;
};
struct Graph {
  uint32_t id;
  std::mutex mutex;  // several threads may capture into one graph
  std::vector<std::unique_ptr<Node>> nodes;
  bool is_exec = false;
  size_t more_nodes = 0;  // that came in at instantiation
};

/// A buffer the profiler lent. `first_incomplete` is where unfinished records begin.
struct Buffer {
  uint8_t* bytes = nullptr;
  size_t size = 0;
  size_t used = 0;
  size_t records = 0;
  size_t max_records = 0;
  size_t first_incomplete = SIZE_MAX;
};
struct Slot {
  std::mutex mutex;
  Buffer current;
};

/// What a thread has: void once `epoch` is not the state's.
struct Local {
  uint64_t epoch = 0;
  Context* context = nullptr;
  std::vector<Context*> pushed;
  Slot* slot = nullptr;
  std::vector<std::pair<uint32_t, uint64_t>> external;  // kind, id
  bool is_in_buffer_callback = false;
  int resource_callback_depth = 0;
};

struct State {
  std::atomic<uint64_t> epoch{1};
  std::atomic<bool> is_child{false};
  Options options;
  Counters counters;

  // Subscription
  std::atomic<Callback> callback{nullptr};
  std::atomic<void*> callback_user{nullptr};
  std::atomic<bool> is_subscribed{false};
  std::atomic<uint8_t> enabled[kDomainCount][1024];
  std::string subscriber_name;  // with mutex

  // Activities
  std::atomic<uint8_t> kinds[kKindCount];
  std::atomic<BufferRequest> request{nullptr};
  std::atomic<BufferDone> done{nullptr};
  std::atomic<TimestampFunction> timestamp{nullptr};
  std::atomic<uint32_t> flush_period_ms{0};
  std::atomic<bool> has_hw_trace{false};  // cannot be undone, by nobody
  std::atomic<uint32_t> correlation{0};
  std::atomic<uint64_t> taken_drops{0};

  std::mutex mutex;  // the lists below
  std::vector<std::unique_ptr<Slot>> slots;
  Slot shared_slot;
  std::set<uint8_t*> held;  // buffers in our hands
  std::vector<std::unique_ptr<Context>> contexts;
  std::map<int, Context*> primaries;
  std::vector<std::unique_ptr<Stream>> streams;
  std::map<Graph*, std::unique_ptr<Graph>> graphs;
  std::map<std::string, std::unique_ptr<Function>> functions;
  std::vector<std::unique_ptr<Module>> modules;
  std::set<std::string> names;
  std::string violations;
  std::atomic<uint32_t> next_stream{13};
  uint32_t next_context = 1;
  uint32_t next_graph = 1;

  std::mutex queue_mutex;  // full buffers
  std::condition_variable queue_changed;
  std::deque<Buffer> queue;
  std::atomic<uint8_t> has_zeroed_buffers{0};  // what the profiler said of those it hands over
  std::atomic<size_t> waiting_buffers{0};      // full or flushed, and not yet handed back
  bool is_delivering = false;
  uint64_t worker_turn = 0;
  bool is_stopping = false;
  bool is_asked = false;  // fake_work
  std::thread worker;
};

State& state();
Local& local();
void violate(const std::string& text) noexcept;

// Clock
uint64_t cupti_now();
uint64_t gpu_now();
void sleep_ns(int64_t ns);
/// Events of a context that is no more are nobody's to destroy.
void lose_events(const Context& context);

// Callbacks
inline bool is_enabled(int domain, uint32_t cbid) {
  return state().enabled[domain][cbid].load(std::memory_order_relaxed) != 0;
}
void call_back(int domain, uint32_t cbid, const void* data);
void call_resource(uint32_t cbid, const GraphData& data);

/// One call of the driver API: callbacks at its beginning and its end, its own correlation id.
class ApiCall {
 public:
  ApiCall(uint32_t cbid, const char* name, const void* params, const char* symbol);
  ~ApiCall();
  ApiCall(const ApiCall&) = delete;
  ApiCall& operator=(const ApiCall&) = delete;
  uint32_t correlation() const { return data_.correlation_id; }
  void set_result(int result) { result_ = result; }

 private:
  uint32_t cbid_;
  int result_ = 0;
  uint64_t scratch_ = 0;
  uint64_t start_ns_;
  CallbackData data_{};
};

// Activities
inline bool is_kind_on(uint32_t kind) {
  return state().kinds[kind].load(std::memory_order_relaxed) != 0;
}
/// Stores a record (its first record_size(kind) bytes) or counts it as dropped.
void write_record(const void* record);
/// Waits while too many buffers do, a second at most: before a launch has its correlation id, or
/// others would overtake it by millions.
void wait_for_worker();
int flush_all(uint32_t flag);
void complete_all();
void stop_worker();

// Work
Context& current_context();
Context& primary_context(int device);
Stream& stream_of(void* handle);
uint32_t submit(uint32_t cbid, const char* name, const void* params, const Work& work,
                Stream& stream, int refused);
/// Writes the record of finished work; `node` and `graph_id` of a graph's work, else null and 0.
void record_work(const Work& work, Stream& stream, uint32_t correlation, uint64_t node_id,
                 uint32_t graph_id);
std::pair<uint64_t, uint64_t> occupy(Stream& stream, uint64_t duration_ns);
Function* intern_function(const char* name, uint64_t duration_ns, uint64_t cubin_crc = 1);

// Modules
/// Copies the parameters of a kernel that really runs; runs it, and samples any.
void keep_params(Work& work, void** kernel_params);
void execute(const Work& work, Context& context);

// Memory
/// Zeroes or records, where `work` does.
void touch_memory(const Work& work);

// Graphs
Graph* make_graph(bool is_exec);
Node* add_node(Graph& graph, const Work& work);

}  // namespace fake
