/// What backends report, before it is placed in a tree or on a timeline.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/ids.h"

namespace proton {

enum class EventKind : uint8_t {
  kKernel,
  kCopy,   // a copy or memset
  kGraph,  // one replay of a graph, where its kernels are not told apart
};

/// How a kernel was launched.
struct LaunchShape {
  std::array<int32_t, 3> grid{};  // {0, 0, 0}: not known
  std::array<int32_t, 3> block{};
  int32_t registers = 0;
  int32_t static_shared_bytes = 0;
  int32_t dynamic_shared_bytes = 0;

  bool operator==(const LaunchShape&) const = default;
};

/// The launches with metadata that an executable graph was captured from, one for each node.
struct GraphLaunches {
  uint64_t version;  // two lists of one version are the same list
  std::vector<ContextId> contexts;
};

/// One finished kernel, copy or graph. Times are nanoseconds of the host clock.
struct KernelEvent {
  EventKind kind = EventKind::kKernel;
  CorrelationId correlation = 0;        // 0: no call of the program's asked for it
  ContextId context = kUnknownContext;  // of the launch
  ContextId capture = kNoContext;       // where the graph's node was captured; none: no graph
  uint32_t name_id = 0;                 // the backend's number for `name`; 0: it has none
  std::string_view name;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  std::string_view device_type;  // "CUDA", "HIP", "CPU"
  uint32_t device_id = 0;
  uint64_t lane = 0;        // the stream
  uint32_t graph = 0;       // the number of the graph it is of; 0: none
  uint64_t graph_node = 0;  // 0: no graph, or a whole one
  /// Captured nodes that ran in this event and that metrics of scopes ride on (GraphRiders).
  std::span<const uint64_t> riders = {};
  const GraphLaunches* graph_launches = nullptr;  // of a whole graph; null: none
  int64_t bytes = 0;                              // copies
  LaunchShape shape;                              // kernels
};

/// One call that launched work, as the host saw it. Only timelines ask for these.
struct LaunchEvent {
  CorrelationId correlation = 0;
  ContextId context = kUnknownContext;
  uint32_t thread_number = 0;
  const char* function = "";  // of the driver; never freed
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

}  // namespace proton
