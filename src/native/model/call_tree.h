/// A finished calling-context tree: what a session hands to a writer. Plain data, no locks;
/// built by session/, read by files/.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "model/metric.h"
#include "model/value.h"

namespace proton {

enum class FrameKind : char {
  kRoot = 'r',
  kScope = 's',
  kState = 't',
  kPython = 'p',
  kKernel = 'k',
  kCopy = 'c',
  kSample = 'l',
  kModule = 'm',    // of a framework: its path, `transformer.h.3.attn`
  kOperator = 'o',  // of a framework: `aten::addmm`; in a backward pass its nodes too
  kBackward = 'b',  // `<backward>`, `<recompute>`: what is below ran for the path above
};

struct TreeNode {
  const std::string* name;  // owned by the tree's `strings`
  FrameKind kind;
  uint32_t first_metric = 0;  // slice of CallTree::metrics
  uint32_t metric_count = 0;
  uint64_t entries = 0;                 // how often the scope was entered
  std::vector<uint32_t> children = {};  // rows, in first-seen order
};

struct DeviceEntry {
  std::string type;  // "CUDA", "HIP", "CPU"
  std::string id;
  Value::Map attributes;  // arch, bus_width, clock_rate, memory_clock_rate, num_sms, name
};

/// How the runs of one kernel or copy in one context spread, and how it was launched: what a
/// tree's row keeps beyond the sums that stand among its metrics.
struct KernelDetail {
  uint32_t row;  // of CallTree::nodes
  int64_t min_ns;
  int64_t max_ns;
  int64_t p50_ns;  // exact for a few runs, then of a histogram: within a tenth
  int64_t p99_ns;
  /// Launch attributes that were the same in every run: grid and block (lists of three), registers,
  /// static_shared_bytes, dynamic_shared_bytes, occupancy (a share of 1), stream.
  Value::Map attributes;
};

/// What a file says about the recording as a whole.
struct Summary {
  Value::Map header;  // from the runtime: session, command, host, versions, times
  std::map<std::string, uint64_t> losses;
  std::vector<std::string> warnings;
  Value::List autotune;
  std::map<std::string, MetricKind> metric_kinds;  // exclusive and property ones only
  std::vector<DeviceEntry> devices;
  Value::Map sampling;  // of instructions: periods, reasons, totals, hottest instructions
};

struct CallTree {
  std::deque<std::string> strings;  // stable addresses for names and keys
  std::vector<TreeNode> nodes;      // row 0 is the root
  std::vector<Metric> metrics;
  std::vector<KernelDetail> details;  // by row, at most one a row
  Summary summary;
};

}  // namespace proton
