/// What one phase of a session holds while it records. The host part is guarded by the GIL, the
/// device part by the session's mutex; a snapshot holds both.
#pragma once

#include <cstdint>
#include <vector>

#include "base/key_index.h"
#include "model/ids.h"
#include "model/trace_log.h"
#include "session/metric_table.h"

namespace proton {

/// A path in order of first sight; `stamp` orders host and device rows together.
struct SeenPath {
  uint64_t stamp;
  PathId path;
};

/// All runs of one kernel in one context on one device.
struct KernelRow {
  uint64_t stamp;
  PathId path;
  uint32_t kernel;  // of the session's kernels: name and device
  int64_t count;
  int64_t time_ns;
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
};

/// One run of a kernel, and the thread that launched it.
struct KernelSpan {
  PathId path;
  uint32_t kernel;
  uint64_t lane;
  uint32_t thread_number;
  bool has_thread;
  int64_t start_ns;
  int64_t end_ns;
  uint64_t flow_id;
  uint32_t first_metric;
  uint32_t metric_count;
};

struct Phase {
  explicit Phase(int number) : number(number) {}

  int number;
  // host
  std::vector<SeenPath> seen;
  MetricTable scope_metrics;  // rows are paths
  std::vector<HostSpan> spans;
  std::vector<SpanMetric> span_metrics;
  // device
  KeyIndex kernel_index;  // (path, kernel) -> row
  std::vector<KernelRow> kernels;
  MetricTable kernel_metrics;  // rows are indices into `kernels`
  std::vector<KernelSpan> kernel_spans;
  std::vector<SpanMetric> kernel_span_metrics;

  bool is_empty() const {
    return seen.empty() && spans.empty() && kernels.empty() && kernel_spans.empty();
  }
};

}  // namespace proton
