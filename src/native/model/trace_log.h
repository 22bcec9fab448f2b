/// A finished timeline: what a trace session hands to a writer. Plain data, no locks.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "model/call_tree.h"
#include "model/metric.h"

namespace proton {

/// The last two are inside a device: the CTAs of a multiprocessor, the regions of a warp.
enum class LaneKind : uint8_t { kHost, kGraph, kDevice, kSm, kWarp };

struct TraceLane {
  LaneKind kind;
  uint64_t number;  // thread n, stream s, multiprocessor, or warp of its CTA
  uint32_t device_id = 0;
  std::string device_type = {};  // "CUDA", "HIP", "CPU"; empty on host lanes
  uint64_t system_id = 0;        // of a host thread, as the system counts them; 0: not known
  struct Inside {
    std::string kernel;
    uint32_t sm = 0;
    uint32_t cta = 0;
    uint32_t line = 0;  // a warp has several where its spans overlap
  };
  Inside inside = {};  // of a warp
};

/// What stands before a kernel's name in that of the call that launched it.
inline constexpr std::string_view kLaunchPrefix = "launch ";

enum class SpanKind : uint8_t {
  kScope,
  kKernel,
  kMetric,  // a scope with metrics
  kCopy,    // a copy or memset, on a device lane
  kGraph,   // one replay of a graph, on a graph lane
  kLaunch,  // the host call that launched work, on a host lane
  kCta,     // a CTA, on its multiprocessor's lane
  kRegion,  // a passage of a region, on a warp's lane
  kMark,    // a moment that a library marked, on a host lane
  kOther,   // of another tool's trace; the last kind
};

struct TraceSpan {
  SpanKind kind;
  uint32_t lane;     // index into TraceLog::lanes
  uint32_t path;     // index into TraceLog::paths: the context, own name last
  int64_t start_ns;  // host clock
  int64_t end_ns;
  uint64_t scope_id = 0;  // scopes
  uint64_t flow_id = 0;   // shared by launch and kernel: the driver's correlation id; 0: none
  bool is_flow_source = false;
  uint32_t first_metric = 0;
  uint32_t metric_count = 0;
  uint32_t attributes = 0;  // index into TraceLog::attributes; 0: none
};

/// The parent of a name that is no path: of a span whose context is not known.
inline constexpr uint32_t kNoPath = UINT32_MAX;

/// A path as (parent path, name); path 0 is the root.
struct TracePath {
  uint32_t parent;
  const std::string* name;
};

/// How a trace shows a lane.
struct LaneRow {
  uint64_t thread_id;
  std::string name;  // of a warp: in its CTA
  int64_t sort_index;
  std::string process = {};  // the CTA of a warp, whose thread id is its name; empty: the program
  std::string sm = {};       // of a warp: the name of its multiprocessor's row
  std::string key = {};      // JSON that no other row has
  std::string title = {};    // the name, with that of the CTA before it
};

struct FlowEnd {
  uint32_t span;  // index into TraceLog::spans
  uint64_t flow_id;
  bool is_source;
};

struct TraceLog {
  std::deque<std::string> strings;
  std::vector<TracePath> paths;
  std::vector<TraceLane> lanes;
  std::vector<TraceSpan> spans;  // any order
  std::vector<Metric> metrics;
  /// Launch attributes, shared by equal launches; the first is empty. Keys as in KernelDetail.
  std::vector<Value::Map> attributes = std::vector<Value::Map>(1);
  int64_t base_host_ns = 0;  // host clock at ts = 0
  int64_t base_unix_ns = 0;  // Unix time at ts = 0
  Summary summary;

  // What a profile that was read from a file says; of a recording it follows from the rest.
  std::vector<LaneRow> rows;       // in the order of the lanes
  std::vector<FlowEnd> flow_ends;  // by span, which may have several
  std::string summary_text;        // JSON, in place of the summary
  bool has_unix_time = true;       // false: base_unix_ns only keeps times from being negative

  bool is_read() const { return !summary_text.empty(); }
};

}  // namespace proton
