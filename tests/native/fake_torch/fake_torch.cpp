#include "fake_torch.h"

#include <atomic>
#include <cstring>
#include <mutex>
#include <random>

namespace fake_torch {
namespace {

struct Result {  // a unique_ptr
  void* object;
  ~Result() {}
};
using Start = Result (*)(const void*);
using End = void (*)(const void*, void*);

/// As torch 2.13 has it.
struct Callback {
  Start start;
  End end;
  double probability;
  bool scopes[10];
  bool needs[3];
};

struct Registered {
  Callback callback;
  bool is_on;
};

std::mutex mutex;
std::vector<Registered> callbacks;
Layout layout;
std::atomic<uint64_t> next_thread{1};
thread_local uint64_t thread_number = 0;
thread_local uint64_t sequence_number = 0;
thread_local bool is_grad_enabled = true;
thread_local int graph_task = -1;
thread_local std::mt19937_64 garbage{12345};

}  // namespace

struct OpenCall::Object {
  uint64_t places[kPlaces];
  bool is_async;
  std::string name;
  std::vector<std::pair<Start, End>> observers;
};

namespace {

void fill(uint64_t (&places)[kPlaces], const std::string& name, int64_t number,
          uint64_t forward_thread) {
  for (uint64_t& place : places) place = garbage();
  static std::atomic<int> calls{0};
  const int count = ++calls;
  for (const Decoy& decoy : layout.decoys) {
    const bool is_wrong = decoy.wrong_every != 0 && count % decoy.wrong_every == 0;
    const uint64_t value = decoy.of_thread ? forward_thread : static_cast<uint64_t>(number);
    places[decoy.place] = value + (is_wrong ? 1 : 0);
  }
  places[layout.number] = static_cast<uint64_t>(number);
  places[layout.forward_thread] = forward_thread;
  places[layout.name] = reinterpret_cast<uint64_t>(name.c_str());
}

}  // namespace

void set_layout(const Layout& next) { layout = next; }

uint64_t this_thread() {
  if (thread_number == 0) thread_number = next_thread++;
  return thread_number;
}

uint64_t next_number() { return sequence_number; }
void set_next_number(uint64_t number) { sequence_number = number; }

OpenCall::OpenCall(Scope scope, const char* name, int64_t number, bool is_async)
    : object_(new Object{{}, is_async, name, {}}) {
  fill(object_->places, object_->name, number, 0);
  {
    std::lock_guard lock(mutex);
    for (const Registered& each : callbacks) {
      if (each.is_on && each.callback.scopes[scope]) {
        object_->observers.emplace_back(each.callback.start, each.callback.end);
      }
    }
  }
  for (const auto& [start, end] : object_->observers) start(object_->places);
}

OpenCall::~OpenCall() {
  for (const auto& [start, end] : object_->observers) end(object_->places, nullptr);
  delete object_;
}

void call(Scope scope, const char* name, int64_t number, uint64_t forward_thread, const Body& body,
          bool is_async) {
  struct {
    uint64_t places[kPlaces];
    bool is_async;
  } object{{}, is_async};
  const std::string text = name;
  fill(object.places, text, number, forward_thread);
  std::vector<std::pair<Start, End>> observers;
  {
    std::lock_guard lock(mutex);
    for (const Registered& each : callbacks) {
      if (!each.is_on || !each.callback.scopes[scope]) continue;
      if (scope == kBackward && !layout.reports_nodes) continue;
      observers.emplace_back(each.callback.start, each.callback.end);
    }
  }
  struct Ending {  // an operator that fails ends too
    decltype(observers)& all;
    const void* object;
    ~Ending() {
      for (const auto& [start, end] : all) end(object, nullptr);
    }
  } ending{observers, object.places};
  for (const auto& [start, end] : observers) start(object.places);
  if (body) body();
}

Node op(const char* name, const Body& body) {
  Node node{-1, this_thread()};
  call(kFunction, name, is_grad_enabled ? static_cast<int64_t>(sequence_number) : -1, 0, [&] {
    if (is_grad_enabled) node.number = static_cast<int64_t>(sequence_number++);
    if (body) body();
  });
  return node;
}

void inner_op(const char* name, const Body& body) { call(kFunction, name, -1, 0, body); }
void user_scope(const char* name, const Body& body) { call(kUser, name, -1, 0, body); }

void run_node(const char* name, Node node, const Body& body) {
  call(kBackward, name, node.number, node.thread, body);
}

void evaluate(int task, const char* name, Node node, const Body& body, const Body& after,
              bool creates_graph) {
  struct Task {
    int before = graph_task;
    ~Task() { graph_task = before; }
  } restored;
  graph_task = task;
  const GradMode mode(creates_graph);
  const std::string title = std::string("autograd::engine::evaluate_function: ") + name;
  call(kFunction, title.c_str(), -1, 0, [&] {
    run_node(name, node, body);
    if (after) after();
  });
}

GradMode::GradMode(bool is_enabled) : before_(is_grad_enabled) { is_grad_enabled = is_enabled; }
GradMode::~GradMode() { is_grad_enabled = before_; }

size_t registered() {
  std::lock_guard lock(mutex);
  return callbacks.size();
}

size_t enabled() {
  std::lock_guard lock(mutex);
  size_t count = 0;
  for (const Registered& each : callbacks) count += each.is_on ? 1 : 0;
  return count;
}

}  // namespace fake_torch

// What the observer looks up, under torch's names.
#define TORCH_NAME(name) asm(name) FAKE_TORCH_API

extern "C" {
uint64_t torch_add_callback(fake_torch::Callback callback)
    TORCH_NAME("_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE");
void torch_disable_callback(uint64_t handle) TORCH_NAME("_ZN2at15disableCallbackEm");
void torch_reenable_callback(uint64_t handle) TORCH_NAME("_ZN2at16reenableCallbackEm");
const char* torch_name(const uint64_t* function) TORCH_NAME("_ZNK2at14RecordFunction4nameEv");
uint64_t torch_thread_id() TORCH_NAME("_ZN2at14RecordFunction15currentThreadIdEv");
#ifndef FAKE_TORCH_OLD
uint64_t torch_peek() TORCH_NAME("_ZN2at15sequence_number4peekEv");
#endif
bool torch_is_grad_enabled() TORCH_NAME("_ZN3c108GradMode10is_enabledEv");
int torch_graph_task() TORCH_NAME("_ZN5torch8autograd25get_current_graph_task_idEv");
bool torch_is_async(const uint64_t* function) TORCH_NAME("_ZNK2at14RecordFunction7isAsyncEv");

uint64_t torch_add_callback(fake_torch::Callback callback) {
  std::lock_guard lock(fake_torch::mutex);
  fake_torch::callbacks.push_back({callback, true});
  return fake_torch::callbacks.size();
}
void torch_disable_callback(uint64_t handle) {
  std::lock_guard lock(fake_torch::mutex);
  fake_torch::callbacks.at(handle - 1).is_on = false;
}
void torch_reenable_callback(uint64_t handle) {
  std::lock_guard lock(fake_torch::mutex);
  fake_torch::callbacks.at(handle - 1).is_on = true;
}
const char* torch_name(const uint64_t* function) {
  return reinterpret_cast<const char*>(function[fake_torch::layout.name]);
}
uint64_t torch_thread_id() { return fake_torch::this_thread(); }
#ifndef FAKE_TORCH_OLD
uint64_t torch_peek() { return fake_torch::sequence_number; }
#endif
bool torch_is_grad_enabled() { return fake_torch::is_grad_enabled; }
int torch_graph_task() { return fake_torch::graph_task; }
bool torch_is_async(const uint64_t* function) {
  bool is_async;
  std::memcpy(&is_async, function + fake_torch::kPlaces, sizeof is_async);
  return is_async;
}
}
