/// Call trees and trace logs made by hand, and the bytes writers make of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/byte_sink.h"
#include "files/writers.h"
#include "model/call_tree.h"
#include "model/trace_log.h"

namespace proton::test {

using Metrics = std::vector<std::pair<std::string, MetricValue>>;

/// Adds a node below `parent` (the root: any value, first call); its row.
inline uint32_t add_node(CallTree& tree, uint32_t parent, std::string name,
                         const Metrics& metrics = {}, FrameKind kind = FrameKind::kScope) {
  const auto row = static_cast<uint32_t>(tree.nodes.size());
  TreeNode node;
  node.name = &tree.strings.emplace_back(std::move(name));
  node.kind = row == 0 ? FrameKind::kRoot : kind;
  node.first_metric = static_cast<uint32_t>(tree.metrics.size());
  node.metric_count = static_cast<uint32_t>(metrics.size());
  for (const auto& [key, value] : metrics) {
    tree.metrics.push_back({&tree.strings.emplace_back(key), value});
  }
  tree.nodes.push_back(std::move(node));
  if (row != 0) tree.nodes[parent].children.push_back(row);
  return row;
}

inline std::string to_json(const CallTree& tree) {
  MemorySink sink;
  write_hatchet(tree, sink);
  return sink.take();
}

inline std::string to_msgpack(const CallTree& tree) {
  MemorySink sink;
  write_hatchet_msgpack(tree, sink);
  return sink.take();
}

inline std::string to_chrome(const TraceLog& log) {
  MemorySink sink;
  write_chrome_trace(log, sink);
  return sink.take();
}

/// A log with the root path, nothing else.
inline TraceLog empty_log() {
  TraceLog log;
  log.paths.push_back({0, &log.strings.emplace_back("ROOT")});
  log.base_host_ns = 1'000;
  log.base_unix_ns = 1'700'000'000'000'000'000;
  return log;
}

inline uint32_t add_path(TraceLog& log, uint32_t parent, std::string name) {
  log.paths.push_back({parent, &log.strings.emplace_back(std::move(name))});
  return static_cast<uint32_t>(log.paths.size() - 1);
}

inline uint32_t add_lane(TraceLog& log, LaneKind kind, uint64_t number, uint32_t device_id = 0) {
  log.lanes.push_back({kind, number, device_id});
  return static_cast<uint32_t>(log.lanes.size() - 1);
}

inline TraceSpan& add_span(TraceLog& log, SpanKind kind, uint32_t lane, uint32_t path,
                           int64_t start_ns, int64_t end_ns, const Metrics& metrics = {}) {
  TraceSpan span;
  span.kind = kind;
  span.lane = lane;
  span.path = path;
  span.start_ns = start_ns;
  span.end_ns = end_ns;
  span.first_metric = static_cast<uint32_t>(log.metrics.size());
  span.metric_count = static_cast<uint32_t>(metrics.size());
  for (const auto& [key, value] : metrics) {
    log.metrics.push_back({&log.strings.emplace_back(key), value});
  }
  return log.spans.emplace_back(span);
}

struct SpanTimes {
  int64_t start_ns;
  int64_t end_ns;
  Metrics metrics = {};
};

/// A log with these spans in one lane: the host's for metrics, else a device's.
inline TraceLog log_of(SpanKind kind, const std::vector<SpanTimes>& spans) {
  TraceLog log = empty_log();
  const bool is_host = kind == SpanKind::kMetric || kind == SpanKind::kScope;
  const uint32_t lane = add_lane(log, is_host ? LaneKind::kHost : LaneKind::kDevice, 0);
  const uint32_t path = add_path(log, 0, "s");
  for (const SpanTimes& span : spans) {
    add_span(log, kind, lane, path, span.start_ns, span.end_ns, span.metrics);
  }
  return log;
}

/// How often `part` stands in `text`.
inline size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace proton::test
