/// Metric values that a kernel of ours reads from device memory: known only when the stream gets
/// there. A backend keeps what is needed to book one, and hands it over with the value.
#pragma once

#include <cstdint>

#include "model/ids.h"
#include "model/metric.h"

namespace proton {

class EventSink;

/// The backend's number for one read, or for one that is part of a graph; never used twice.
using ValueId = uint64_t;

/// What the value is, and where it belongs.
struct ValuePlace {
  MetricId metric = 0;
  MetricKind kind = MetricKind::kInclusive;
  bool is_integer = false;          // the metric's type, whatever the tensor's
  ContextId shadow = kRootPath;     // the scope, for sessions of either kind
  ContextId python = kRootPath;     //
  bool is_of_kernel = false;        // launch metadata: then the scope is not used, but ...
  CorrelationId kernel_launch = 0;  // ... the launch of the kernel, or ...
  uint64_t kernel_node = 0;         // ... the graph node it was captured as
};

/// A session that was active at the call.
struct ValueTarget {
  EventSink* sink;
  int phase;
  uint64_t scope_id;  // 0: launch metadata
};

/// A value that has arrived.
struct ValueEvent {
  MetricId metric = 0;
  MetricKind kind = MetricKind::kInclusive;
  MetricValue value;
  bool is_of_kernel = false;
  ContextId context = kRootPath;   // of the scope or the kernel's launch; captured: of the replay
  ContextId capture = kNoContext;  // of the scope or the kernel's node; none: no graph
  CorrelationId correlation = 0;   // of the launch or replay; 0: `phase` says when
  int phase = 0;
  uint64_t scope_id = 0;
  uint32_t device_id = 0;
  uint64_t lane = 0;    // captured: the stream
  int64_t time_ns = 0;  // captured: when it was read
};

}  // namespace proton
