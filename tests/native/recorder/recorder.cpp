/// Stands between Proton and libcupti: forwards everything, and writes down what reaches Proton.
/// Built for one libcupti (RECORDER_CUPTI), which it is also linked with, so that functions it does
/// not know are found too. PROTON_RECORDER_FILE says where to write.
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "backends/cupti/driver/abi.h"
#include "format.h"

#define RECORDER_EXPORT extern "C" __attribute__((visibility("default")))

namespace recorder {
namespace {

using namespace proton::cupti;
using recording::put_varint;

/// The functions of the real library.
void* real(const char* name) {
  static void* library = [] {
    void* opened = dlopen(RECORDER_CUPTI, RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) {
      std::fprintf(stderr, "recorder: cannot open %s: %s\n", RECORDER_CUPTI, dlerror());
      std::abort();
    }
    return opened;
  }();
  return dlsym(library, name);
}

/// Calls the real function of this name; error 999 (unknown) where there is none.
template <typename... Arguments>
Result forward(const char* name, Arguments... arguments) {
  const auto function = reinterpret_cast<Result (*)(Arguments...)>(real(name));
  return function == nullptr ? 999 : function(arguments...);
}

uint32_t thread_number() {
  static std::atomic<uint32_t> count{0};
  thread_local const uint32_t number = count.fetch_add(1);
  return number;
}

thread_local bool is_flushing = false;

/// The file. Entries are written under a lock: their order is that in which things happened.
class Log {
 public:
  Log() {
    const char* path = std::getenv("PROTON_RECORDER_FILE");
    if (path == nullptr) return;
    file_ = std::fopen(path, "wb");
    if (file_ == nullptr) {
      std::fprintf(stderr, "recorder: cannot write %s\n", path);
      std::abort();
    }
    std::fwrite(recording::kMagic.data(), 1, recording::kMagic.size(), file_);
  }

  bool is_open() const { return file_ != nullptr; }
  std::mutex& mutex() { return mutex_; }

  // With the mutex held:
  uint64_t text(std::string_view value) {
    const auto [found, is_new] = strings_.emplace(std::string(value), strings_.size());
    if (is_new) {
      std::string entry(1, recording::kString);
      put_varint(entry, value.size());
      entry.append(value);
      write(entry);
    }
    return found->second;
  }
  void write(const std::string& entry) {
    if (file_ == nullptr) return;
    std::fwrite(entry.data(), 1, entry.size(), file_);
    if (entry[0] != recording::kString) ++count_;
  }
  /// What the file holds is safe from here on, whatever becomes of the process.
  void sync() {
    if (file_ != nullptr) std::fflush(file_);
  }
  void finish() {
    if (file_ == nullptr) return;
    std::string entry(1, recording::kEnd);
    put_varint(entry, count_);
    std::fwrite(entry.data(), 1, entry.size(), file_);
    std::fclose(file_);
    file_ = nullptr;
  }

 private:
  std::mutex mutex_;
  FILE* file_ = nullptr;
  uint64_t count_ = 0;
  std::unordered_map<std::string, uint64_t> strings_;
};

/// Never destroyed: CUPTI may call back while the process ends.
Log& recorded() {
  static Log& all = *new Log;
  return all;
}

/// One entry of the calling thread; fields are added in order, written at the end.
class Entry {
 public:
  explicit Entry(recording::EntryKind kind) : lock_(recorded().mutex()) {
    bytes_.push_back(static_cast<char>(kind));
    *this << thread_number();
  }
  ~Entry() { recorded().write(bytes_); }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  Entry& operator<<(uint64_t value) {
    put_varint(bytes_, value);
    return *this;
  }
  Entry& operator<<(const void* handle) { return *this << reinterpret_cast<uint64_t>(handle); }
  Entry& text(const char* value) { return *this << recorded().text(value == nullptr ? "" : value); }
  void append(const char* bytes, size_t size) { bytes_.append(bytes, size); }

 private:
  std::lock_guard<std::mutex> lock_;
  std::string bytes_;
};

void note_call(const char* function, uint64_t argument, Result result) {
  if (!recorded().is_open()) return;
  Entry entry(recording::kCall);
  entry.text(function) << argument << static_cast<uint64_t>(static_cast<uint32_t>(result));
}

// ---- queries: answers that belong to the thread's last entry ----

void note_query(const char* function, const void* handle, uint64_t answer) {
  if (!recorded().is_open() || handle == nullptr) return;
  Entry entry(recording::kQuery);
  entry.text(function) << handle << answer;
}

/// Asks for the id of a node before Proton does: under other options it may ask for more.
void query_node(void* node) {
  uint64_t id = 0;
  if (node == nullptr || forward("cuptiGetGraphNodeId", node, &id) != kSuccess) return;
  note_query("cuptiGetGraphNodeId", node, id);
}

/// The same for a graph or an executable.
void query_graph(const char* function, void* handle) {
  uint32_t id = 0;
  if (handle == nullptr || forward(function, handle, &id) != kSuccess) return;
  note_query(function, handle, id);
}

// ---- callbacks ----

CallbackFunction subscriber = nullptr;
std::atomic<uint8_t> wanted[8][1024];  // domain and cbid that Proton has asked for

/// Callbacks on graphs are recorded whether Proton asks for them or not: a later Proton may.
bool is_of_graphs(int domain, uint32_t cbid) {
  constexpr uint32_t kFirst = 9, kNodeUpdated = 22;
  return domain == kResourceDomain &&
         ((cbid >= kFirst && cbid <= kGraphNodeCloned) || cbid == kNodeUpdated);
}

void ask_for_graphs(Subscriber who) {
  for (uint32_t cbid = 0; cbid < 32; ++cbid) {
    if (!is_of_graphs(kResourceDomain, cbid)) continue;
    forward("cuptiEnableCallback", uint32_t{1}, who, int{kResourceDomain}, cbid);
  }
}

void write_driver(uint32_t cbid, const CallbackData& data) {
  Entry entry(recording::kDriver);
  entry << cbid << static_cast<uint64_t>(data.site);
  entry.text(data.function_name) << data.correlation_id << data.context << data.context_uid;
  entry << (data.symbol_name == nullptr ? 0 : recorded().text(data.symbol_name) + 1);
  const bool is_graph = cbid == kGraphLaunch || cbid == kGraphLaunchPerThread;
  if (is_graph && data.params != nullptr) {
    entry << 1 << static_cast<const GraphLaunchParams*>(data.params)->graph_exec;
  } else {
    entry << uint64_t{0};
  }
}

void write_resource(uint32_t cbid, const ResourceData& data) {
  const auto* graph = is_of_graphs(kResourceDomain, cbid)
                          ? static_cast<const GraphData*>(data.descriptor)
                          : nullptr;
  {
    Entry entry(recording::kResource);
    entry << cbid << data.context << data.handle << (graph != nullptr ? 1 : 0);
    if (graph == nullptr) return;
    entry << graph->graph << graph->original_graph << graph->node << graph->original_node
          << static_cast<uint64_t>(graph->node_type) << graph->dependency << graph->graph_exec;
  }
  if (cbid == kGraphNodeCreated || cbid == kGraphNodeDestroyStarting) query_node(graph->node);
  constexpr uint32_t kGraphDestroyStarting = 10;
  if (cbid == kGraphExecCreated || cbid == kGraphExecDestroyStarting) {
    query_graph("cuptiGetGraphExecId", graph->graph_exec);
  }
  if (cbid == kGraphExecCreated || cbid == kGraphDestroyStarting) {
    query_graph("cuptiGetGraphId", graph->graph);
  }
  if (cbid == kGraphNodeCloned) {
    query_node(graph->node);
    query_node(graph->original_node);
  }
}

void on_callback(void* user, int domain, uint32_t cbid, const void* data) {
  if (recorded().is_open()) {
    if (domain == kDriverDomain) {
      write_driver(cbid, *static_cast<const CallbackData*>(data));
    } else if (domain == kResourceDomain) {
      write_resource(cbid, *static_cast<const ResourceData*>(data));
    } else {
      Entry entry(recording::kOther);
      entry << static_cast<uint64_t>(domain) << cbid;
    }
  }
  const bool is_wanted = domain < 8 && cbid < 1024 && wanted[domain][cbid].load() != 0;
  if (is_wanted && subscriber != nullptr) subscriber(user, domain, cbid, data);
}

// ---- buffers ----

BufferCompleted on_completed = nullptr;

/// The record's bytes with the name's pointer replaced by the number of the string.
std::string portable(const uint8_t* record, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(record), size);
  uint32_t kind;
  std::memcpy(&kind, record, sizeof kind);
  if (kind != kConcurrentKernelActivity && kind != kKernelActivity) return bytes;
  const char* name;
  std::memcpy(&name, record + offsetof(KernelRecord, name), sizeof name);
  const uint64_t text = name == nullptr ? 0 : recorded().text(name) + 1;
  std::memcpy(bytes.data() + offsetof(KernelRecord, name), &text, sizeof text);
  return bytes;
}

void write_buffer(Context context, uint32_t stream, uint8_t* buffer, size_t valid) {
  Entry entry(recording::kBuffer);
  entry << (is_flushing ? 1 : 0) << context << stream;
  std::string records;
  uint64_t count = 0;
  void* record = nullptr;
  while (valid != 0 && forward("cuptiActivityGetNextRecord", buffer, valid, &record) == kSuccess) {
    void* next = record;
    const bool has_next = forward("cuptiActivityGetNextRecord", buffer, valid, &next) == kSuccess;
    const auto* begin = static_cast<const uint8_t*>(record);
    const auto* end = has_next ? static_cast<const uint8_t*>(next) : buffer + valid;
    const std::string bytes = portable(begin, static_cast<size_t>(end - begin));
    put_varint(records, bytes.size());
    records += bytes;
    ++count;
  }
  entry << count;
  entry.append(records.data(), records.size());
}

void on_buffer(Context context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid) {
  if (buffer != nullptr && recorded().is_open()) write_buffer(context, stream, buffer, valid);
  if (on_completed != nullptr) on_completed(context, stream, buffer, size, valid);
}

// ---- facts ----

/// With the log's mutex held.
void write_fact(const std::string& name, const std::string& value) {
  std::string entry(1, recording::kFact);
  const uint64_t name_id = recorded().text(name), value_id = recorded().text(value);
  put_varint(entry, name_id);
  put_varint(entry, value_id);
  recorded().write(entry);
}

/// With the log's mutex held.
void write_devices() {
  const char* path = std::getenv("PROTON_CUDA_LIBRARY");
  void* cuda = dlopen(path == nullptr ? "libcuda.so.1" : path, RTLD_NOW | RTLD_LOCAL);
  if (cuda == nullptr) return;
  const auto version = reinterpret_cast<int (*)(int*)>(dlsym(cuda, "cuDriverGetVersion"));
  const auto count = reinterpret_cast<int (*)(int*)>(dlsym(cuda, "cuDeviceGetCount"));
  const auto name = reinterpret_cast<int (*)(char*, int, int)>(dlsym(cuda, "cuDeviceGetName"));
  const auto attribute =
      reinterpret_cast<int (*)(int*, int, int)>(dlsym(cuda, "cuDeviceGetAttribute"));
  int value = 0, devices = 0;
  if (version(&value) == 0) write_fact("driver_version", std::to_string(value));
  if (count(&devices) != 0) return;
  write_fact("device_count", std::to_string(devices));
  for (int device = 0; device < devices; ++device) {
    const std::string prefix = "device." + std::to_string(device) + ".";
    char text[256] = "";
    if (name(text, sizeof(text) - 1, device) == 0) write_fact(prefix + "name", text);
    for (int key = 1; key < 150; ++key) {
      if (attribute(&value, key, device) == 0 && value != 0) {
        write_fact(prefix + std::to_string(key), std::to_string(value));
      }
    }
  }
}

}  // namespace
}  // namespace recorder

using namespace recorder;

/// What the recorded program does now, on this thread.
RECORDER_EXPORT void recorder_note(const char* text) {
  if (!recorded().is_open()) return;
  Entry entry(recording::kNote);
  entry.text(text);
}

/// Writes the end; from here on calls are only forwarded.
RECORDER_EXPORT void recorder_finish() {
  if (!recorded().is_open()) return;
  const std::lock_guard lock(recorded().mutex());
  write_devices();
  recorded().finish();
}

RECORDER_EXPORT Result cuptiGetVersion(uint32_t* version) {
  const Result result = forward("cuptiGetVersion", version);
  if (result == kSuccess && recorded().is_open()) {
    const std::lock_guard lock(recorded().mutex());
    write_fact("cupti_version", std::to_string(*version));
  }
  return result;
}

RECORDER_EXPORT Result cuptiGetResultString(Result code, const char** text) {
  return forward("cuptiGetResultString", code, text);
}

RECORDER_EXPORT Result cuptiGetTimestamp(uint64_t* time) {
  const Result result = forward("cuptiGetTimestamp", time);
  note_call("cuptiGetTimestamp", *time, result);
  return result;
}

RECORDER_EXPORT Result cuptiSubscribe(Subscriber* who, CallbackFunction callback, void* user) {
  subscriber = callback;
  const Result result = forward("cuptiSubscribe", who, &on_callback, user);
  if (result == kSuccess && recorded().is_open()) ask_for_graphs(*who);
  note_call("cuptiSubscribe", 0, result);
  return result;
}

RECORDER_EXPORT Result cuptiSubscribe_v2(Subscriber* who, CallbackFunction callback, void* user,
                                         SubscriberParams* params) {
  const Result result = forward("cuptiSubscribe_v2", who, &on_callback, user, params);
  if (result == kSuccess) subscriber = callback;
  note_call("cuptiSubscribe_v2", 0, result);
  return result;
}

RECORDER_EXPORT Result cuptiUnsubscribe(Subscriber who) {
  const Result result = forward("cuptiUnsubscribe", who);
  note_call("cuptiUnsubscribe", 0, result);
  return result;
}

RECORDER_EXPORT Result cuptiEnableCallback(uint32_t enable, Subscriber who, int domain,
                                           uint32_t cbid) {
  if (domain >= 0 && domain < 8 && cbid < 1024) wanted[domain][cbid].store(enable != 0 ? 1 : 0);
  if (enable == 0 && is_of_graphs(domain, cbid) && recorded().is_open()) return kSuccess;
  return forward("cuptiEnableCallback", enable, who, domain, cbid);
}

RECORDER_EXPORT Result cuptiActivityRegisterCallbacks(BufferRequested requested,
                                                      BufferCompleted completed) {
  on_completed = completed;
  return forward("cuptiActivityRegisterCallbacks", requested, &on_buffer);
}

RECORDER_EXPORT Result cuptiActivityRegisterTimestampCallback(TimestampFunction function) {
  const Result result = forward("cuptiActivityRegisterTimestampCallback", function);
  note_call("cuptiActivityRegisterTimestampCallback", 0, result);
  return result;
}

RECORDER_EXPORT Result cuptiActivityEnable(uint32_t kind) {
  const Result result = forward("cuptiActivityEnable", kind);
  note_call("cuptiActivityEnable", kind, result);
  return result;
}

RECORDER_EXPORT Result cuptiActivityDisable(uint32_t kind) {
  const Result result = forward("cuptiActivityDisable", kind);
  note_call("cuptiActivityDisable", kind, result);
  return result;
}

RECORDER_EXPORT Result cuptiActivityFlushAll(uint32_t flag) {
  is_flushing = true;
  const Result result = forward("cuptiActivityFlushAll", flag);
  is_flushing = false;
  note_call("cuptiActivityFlushAll", flag, result);
  const std::lock_guard lock(recorded().mutex());
  recorded().sync();
  return result;
}

RECORDER_EXPORT Result cuptiActivityGetNumDroppedRecords(Context context, uint32_t stream,
                                                         size_t* dropped) {
  const Result result = forward("cuptiActivityGetNumDroppedRecords", context, stream, dropped);
  if (result == kSuccess && *dropped != 0 && recorded().is_open()) {
    Entry entry(recording::kDropped);
    entry << *dropped;
  }
  return result;
}

RECORDER_EXPORT Result cuptiGetGraphNodeId(void* node, uint64_t* id) {
  const Result result = forward("cuptiGetGraphNodeId", node, id);
  if (result == kSuccess) note_query("cuptiGetGraphNodeId", node, *id);
  return result;
}

RECORDER_EXPORT Result cuptiGetGraphId(void* graph, uint32_t* id) {
  const Result result = forward("cuptiGetGraphId", graph, id);
  if (result == kSuccess) note_query("cuptiGetGraphId", graph, *id);
  return result;
}

RECORDER_EXPORT Result cuptiGetGraphExecId(void* exec, uint32_t* id) {
  const Result result = forward("cuptiGetGraphExecId", exec, id);
  if (result == kSuccess) note_query("cuptiGetGraphExecId", exec, *id);
  return result;
}
