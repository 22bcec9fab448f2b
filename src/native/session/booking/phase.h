/// What one phase of a session holds while it records. The host part is guarded by the GIL, the
/// device part by the session's mutex. Rows are only ever added, so that a snapshot can take them
/// bit by bit.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/key_index.h"
#include "model/event.h"
#include "model/ids.h"
#include "model/recorded_launch.h"
#include "model/trace_log.h"
#include "session/booking/recorded_regions.h"
#include "session/booking/sample_table.h"
#include "session/booking/timed_symbols.h"
#include "session/metrics/distribution.h"
#include "session/metrics/metric_table.h"

namespace proton {

/// A path in order of first sight; `stamp` orders host and device rows together.
struct SeenPath {
  uint64_t stamp;
  PathId path;
};

/// Where a kernel is booked: a path, or (with kLaunchBit) one of the session's captured places.
using PlaceId = uint32_t;

/// A place below a graph's replay: the kernel's node was captured at another path.
struct CapturedPlace {
  PathId replay;
  PathId capture;  // with kLaunchBit: nobody saw it, and the rest is the graph's number or 0

  bool is_seen() const { return (capture & kLaunchBit) == 0; }
  uint32_t graph() const { return capture & ~kLaunchBit; }
};

/// All runs of one kernel in one context on one device.
struct KernelRow {
  uint64_t stamp;
  PlaceId place;
  uint32_t kernel;  // of the session's kernels: name, device and kind
  int64_t count = 0;
  int64_t time_ns = 0;
  int64_t bytes = 0;  // copies
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  uint64_t lane = 0;
  LaunchShape shape = {};
  bool is_one_lane = true;  // whether `lane` is every run's
  bool is_one_grid = true;  // and so on for the parts of `shape`
  bool is_one_block = true;
  bool is_one_binary = true;  // registers and static shared memory
  bool is_one_dynamic_shared = true;
  std::optional<Distribution> spread = std::nullopt;  // from the second run on

  void add(const KernelEvent& event, int64_t duration_ns);

 private:
  void compare(const LaunchShape& other);  // which parts are not every run's
};

/// A metric of a span.
struct SpanMetric {
  MetricId metric;
  MetricValue value;
};

/// A scope that was left, on its thread's lane.
struct HostSpan {
  SpanKind kind;
  PathId path;
  uint32_t thread_number;
  int64_t start_ns;
  int64_t end_ns;
  uint64_t scope_id;
  uint32_t first_metric;
  uint32_t metric_count;
  const char* category = nullptr;  // of a library's range; never freed
};

/// One run of a kernel, and the thread that launched it where the backend says so at once.
struct KernelSpan {
  PlaceId place;
  uint32_t kernel;
  uint64_t lane;
  uint32_t thread_number;
  bool has_thread;
  CorrelationId correlation;  // of a LaunchSpan, or 0
  int64_t start_ns;
  int64_t end_ns;
  uint32_t shape;  // of `shapes`; 0: none
  uint32_t first_metric;
  uint32_t metric_count;
  int64_t bytes;
};

/// A value that a replayed graph read, where and when.
struct ValueSpan {
  PlaceId place;
  uint32_t device;  // of the session's devices
  uint64_t lane;
  int64_t time_ns;
  SpanMetric metric;
};

/// A call that launched work.
struct LaunchSpan {
  CorrelationId correlation;
  uint32_t thread_number;
  PathId path;
  const char* function;
  int64_t start_ns;
  int64_t end_ns;
};

/// What one launch of an instrumented kernel recorded.
struct RecordedKernel {
  PlaceId place;
  uint32_t kernel;
  RecordedLaunch launch;
};

struct ShapeHash {
  size_t operator()(const LaunchShape& shape) const {
    uint64_t hash = 0;
    for (const auto& part : {shape.grid, shape.block}) {
      for (const int32_t number : part) hash = mix_bits(hash ^ static_cast<uint32_t>(number)) + 1;
    }
    return mix_bits(hash ^ static_cast<uint32_t>(shape.registers) ^
                    uint64_t{static_cast<uint32_t>(shape.dynamic_shared_bytes)} << 16);
  }
};

struct Phase {
  explicit Phase(int number) : number(number) {}

  int number;
  // host
  std::vector<SeenPath> seen;
  MetricTable scope_metrics;  // rows are paths
  std::vector<HostSpan> spans;
  std::vector<SpanMetric> span_metrics;
  uint64_t host_change_count = 0;  // metrics of scopes
  // device
  KeyIndex kernel_index;  // (place, kernel) -> row
  std::vector<KernelRow> kernels;
  MetricTable kernel_metrics;  // rows are indices into `kernels`
  MetricTable replay_metrics;  // rows are captured places
  MetricTable device_values;   // rows are places: metrics of scopes that came from a device
  std::vector<ValueSpan> value_spans;
  std::vector<KernelSpan> kernel_spans;
  std::vector<SpanMetric> kernel_span_metrics;
  std::vector<LaunchSpan> launch_spans;
  std::vector<LaunchShape> shapes = std::vector<LaunchShape>(1);
  std::unordered_map<LaunchShape, uint32_t, ShapeHash> shape_index;
  RegionTable regions;                   // trees
  std::vector<RecordedKernel> recorded;  // traces
  uint64_t recorded_spans = 0;           // in them
  SampleTable samples;
  TimedSymbols timed_symbols;  // of sessions that sample
  uint64_t event_count = 0;

  /// Grows with everything that is recorded.
  uint64_t change_count() const {
    return host_change_count + event_count + seen.size() + spans.size() + launch_spans.size() +
           samples.total();
  }

  bool is_empty() const {
    return seen.empty() && spans.empty() && kernels.empty() && kernel_spans.empty() &&
           recorded.empty() && samples.total() == 0;
  }
};

}  // namespace proton
