/// Graphs on the fake driver for C++ tests: capture, instantiate, replay.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gpu.h"

namespace gpu {

inline constexpr const char* kCaptured = "<captured_at>";
inline constexpr const char* kUnseen = "<captured while not recording>";

/// A graph captured on a new stream: `work` launches on it.
template <typename Work>
void* capture(Work work) {
  void* stream = FAKE(fake_stream_create)();
  FAKE(fake_capture_begin)(stream);
  work(stream);
  return FAKE(fake_capture_end)(stream);
}

/// A graph of one kernel, captured in one scope.
inline void* capture_in(const char* scope, const char* kernel = "k", uint64_t time_ns = 1) {
  return capture([=](void* stream) {
    const Scope open(scope);
    launch(kernel, time_ns, stream);
  });
}

inline void* instantiate(void* graph) { return FAKE(fake_graph_instantiate)(graph); }

inline void replay(void* exec, int times = 1) {
  static const auto call = FAKE(fake_graph_launch);
  for (int i = 0; i < times; ++i) call(exec, nullptr);
}

inline std::string graph_name(void* graph) {
  return "<graph " + std::to_string(FAKE(fake_graph_id)(graph)) + ">";
}

/// The path of what was captured at one path and replayed at another; "" is no scope.
inline std::string below(const std::string& replayed, const std::string& captured) {
  return (replayed.empty() ? "" : replayed + "/") + kCaptured + "/" + captured;
}

/// A scope with a metric, given when it is left or when it is entered.
class MetricScope {
 public:
  MetricScope(const char* name, const char* metric, int64_t value, bool is_at_entry = false)
      : is_at_entry_(is_at_entry) {
    const std::lock_guard gil(host::gil());
    samples_.add(proton::process.metric_names.intern(metric), value);
    proton::ScopeEntry& entry = host::enter(name);
    if (is_at_entry && proton::process.is_recording()) {
      proton::record_metrics(host::thread(), entry, samples_);
    }
  }
  ~MetricScope() {
    const std::lock_guard gil(host::gil());
    host::leave(is_at_entry_ ? proton::SampleList() : std::move(samples_));
  }
  MetricScope(const MetricScope&) = delete;
  MetricScope& operator=(const MetricScope&) = delete;

 private:
  bool is_at_entry_;
  proton::SampleList samples_;
};

/// A captured launch with metadata, as Triton's hooks bracket it.
template <typename Value>
void launch_op(const char* name, const char* metric, Value value, void* stream,
               const char* kernel = "k") {
  const auto publish = [](std::shared_ptr<const proton::OpEntry> op) {
    const std::lock_guard gil(host::gil());
    host::thread().stack.op = std::move(op);
    proton::publish(host::thread(), host::thread().stack);
  };
  auto op = std::make_shared<proton::OpEntry>();
  op->name = name;
  {
    const std::lock_guard gil(host::gil());
    op->metrics.add(proton::process.metric_names.intern(metric), value);
  }
  publish(op);
  launch(kernel, 3, stream);
  publish(nullptr);
}

/// A metric of a path so far; -1: none.
inline int64_t metric_at(Recording& recording, const std::string& path, const char* key,
                         int phase = 0) {
  recording.flush();
  const std::lock_guard gil(host::gil());
  const proton::CallTree tree = host::tree(recording.session(), phase, {});
  const uint32_t row = host::row_of(tree, path);
  return row == 0 ? -1 : std::get<int64_t>(host::metric(tree, row, key));
}

/// One scope "all" with a metric of 3 around some work.
inline void in_scope(const std::function<void()>& work, bool is_at_entry = false) {
  const MetricScope scope("all", "tokens", 3, is_at_entry);
  work();
}

/// That metric where the scope was entered, and where its capture was replayed.
inline int64_t once(Recording& recording) { return metric_at(recording, "all", "tokens"); }
inline int64_t ridden(Recording& recording) {
  return metric_at(recording, below("", "all"), "tokens");
}

/// Two kernels, in a scope of their own with a metric of 10.
inline void* capture_layer() {
  return capture([](void* stream) {
    const MetricScope layer("layer", "tokens", 10);
    launch("k", 1, stream);
    launch("k", 1, stream);
  });
}

/// All values of a metric on spans of one kind.
inline std::vector<int64_t> span_metrics(Recording& recording, proton::SpanKind kind,
                                         const std::string& key) {
  recording.flush();
  const std::lock_guard gil(host::gil());
  const proton::TraceLog log = proton::build_trace(recording.session(), 0, {});
  std::vector<int64_t> found;
  for (const proton::TraceSpan& span : log.spans) {
    if (span.kind != kind) continue;
    for (uint32_t i = 0; i < span.metric_count; ++i) {
      const proton::Metric& metric = log.metrics[span.first_metric + i];
      if (*metric.key == key) found.push_back(std::get<int64_t>(metric.value));
    }
  }
  return found;
}

/// A session by graph.
inline SinkOptions whole_graphs() {
  SinkOptions options;
  options.per_graph = true;
  return options;
}

}  // namespace gpu
