/// What the parts of the cupti backend stand on, for tests of one part without the hub: tables of
/// launches and sinks, a recorder of launches, contexts that a test sets by hand.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backends/cupti/graph_table.h"
#include "backends/cupti/launch_recorder.h"
#include "backends/cupti/sampling/sampler.h"
#include "fake_cuda/fake.h"

namespace parts {

using namespace proton;
using namespace proton::cupti;

inline ContextId here = 44;  // where launches are made

constexpr uint64_t node_id(uint32_t graph, uint32_t node) { return uint64_t{graph} << 32 | node; }

/// Nodes whose handles are their ids, and those that have another one since.
inline std::map<uint64_t, uint64_t> moved;
inline uint32_t disabled_kind = 0;

/// A driver that only knows ids.
inline Library ids_only() {
  moved.clear();
  disabled_kind = 0;
  Library library;
  library.graph_node_id = [](void* node, uint64_t* id) -> Result {
    *id = reinterpret_cast<uint64_t>(node);
    if (const auto found = moved.find(*id); found != moved.end()) *id = found->second;
    return kSuccess;
  };
  library.graph_id = library.graph_exec_id = [](void* graph, uint32_t* id) -> Result {
    *id = static_cast<uint32_t>(reinterpret_cast<uint64_t>(graph));
    return kSuccess;
  };
  library.disable_activity = [](uint32_t kind) -> Result {
    disabled_kind = kind;
    return kSuccess;
  };
  return library;
}

/// The fake driver, freshly cleared, with a context.
inline Library fake_driver() {
  FAKE(fake_clear)();
  Library library = Library::open(fake::library_path(), fake::library_path());
  FAKE(fake_launch)("warm", 1, nullptr);
  return library;
}

/// Keeps values, samples and losses.
class Sink final : public EventSink {
 public:
  void on_events(std::span<const KernelEvent>) noexcept override {}
  void on_launches(std::span<const LaunchEvent>) noexcept override {}
  void on_values(std::span<const ValueEvent> given) noexcept override {
    values.insert(values.end(), given.begin(), given.end());
  }
  void on_samples(const SampleBatch& batch) noexcept override {
    for (const SampledPc& pc : batch.pcs) {
      for (size_t reason = 0; reason < batch.reasons.size(); ++reason)
        samples += pc.samples[reason];
    }
  }
  void on_dropped(uint64_t) noexcept override {}
  void on_loss(const char* kind, uint64_t count) noexcept override { losses[kind] += count; }

  std::vector<ValueEvent> values;
  uint64_t samples = 0;
  std::map<std::string, uint64_t> losses;
};

struct Base {
  explicit Base(const Library& given) : library(given) {
    here = 44;
    ContextSource source{};
    source.shadow = []() noexcept { return here; };
    source.python = []() noexcept { return ContextId{here + 1000}; };
    source.epoch = []() noexcept { return 1u; };
    source.is_with_lead = []() noexcept { return false; };
    source.forget_node = [](uint64_t) noexcept {};
    launches.set_source(source);
    launches.table().open(false);
    launches.table().begin_generation();
    launches.set_captures(kNeedsShadow | LaunchRecorder::kRecorded);
  }
  /// The driver's call that launches, at its start or its end.
  static CallbackData call(int site, uint32_t correlation, const void* params = nullptr) {
    static CudaResult result = 0;
    CallbackData data{};
    data.site = site;
    data.return_value = &result;
    data.correlation_id = correlation;
    data.params = params;
    return data;
  }
  void launch(uint32_t correlation) {
    launches.on_launch(kLaunchKernel, call(kEnterSite, correlation));
    launches.on_launch(kLaunchKernel, call(kExitSite, correlation));
  }
  bool is_waited_for(uint32_t correlation) {
    LaunchTable& table = launches.table();
    return table.map(false)->is_expected(correlation, table.generation());
  }
  void start(Sink& sink, uint32_t needs = kNeedsShadow) {
    sinks.add(sink, needs);
    sinks.activate(sink);
    sinks.begin(sink);
  }

  const Library library;
  ContextList contexts{library};
  LaunchRecorder launches{contexts, sampler};
  SinkTable sinks{launches.table()};
  Sampler sampler{library, contexts, sinks};
};

/// A table of graphs that is told of nodes by hand.
struct Graphs {
  explicit Graphs(Base& base) : table(base.library, base.launches) {}

  static void* handle(uint64_t id) { return reinterpret_cast<void*>(id); }
  void create(uint64_t node, int type = kKernelNode) {
    GraphData data{};
    data.node = handle(node);
    data.graph = handle(node >> 32);
    data.node_type = type;
    table.on_resource(kGraphNodeCreateStarting, data);
    table.on_resource(kGraphNodeCreated, data);
  }
  /// As a node that reads a value.
  void create_reader(uint64_t node, ValueId value) {
    find_cell()->own_value = value;
    create(node);
    find_cell()->own_value = 0;
  }
  void tell(uint32_t cbid, uint64_t node, uint64_t original) {
    GraphData data{};
    data.node = handle(node);
    data.original_node = handle(original);
    table.on_resource(cbid, data);
  }
  /// The driver makes a node of its own, then says whose clone it is.
  void clone(uint64_t node, uint64_t original) {
    create(node);
    tell(kGraphNodeCloned, node, original);
  }
  void tell_exec(uint32_t cbid, uint32_t exec) {
    GraphData data{};
    data.graph = data.graph_exec = handle(exec);
    table.on_resource(cbid, data);
  }

  GraphTable table;
};

}  // namespace parts
