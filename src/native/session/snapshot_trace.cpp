// A phase of a trace session as a TraceLog.
#include <algorithm>
#include <map>
#include <tuple>

#include "base/clock.h"
#include "session/kernel_details.h"
#include "session/recording.h"
#include "session/snapshot.h"

namespace proton {

class TraceBuilder {
 public:
  TraceBuilder(const Session& session, const Phase& phase)
      : session_(session), phase_(phase), strings_(log_.strings) {}

  TraceLog build(Value::Map header) {
    log_.base_host_ns = session_.base_host_ns_;
    log_.base_unix_ns = session_.base_unix_ns_;
    log_.summary = session_.summary_locked(std::move(header));
    log_.paths.push_back({0, strings_.at(strings_.intern("ROOT"))});
    for (const HostSpan& span : phase_.spans) add_host_span(span);
    if (session_.is_active() && phase_.number == session_.phase()) add_open_spans();
    for (const LaunchShape& shape : phase_.shapes) {
      if (shape.grid[0] != 0) log_.attributes.push_back(to_attributes(shape));
    }
    for (const LaunchSpan& launch : phase_.launch_spans) add_launch(launch);
    for (const KernelSpan& span : phase_.kernel_spans) add_kernel_span(span);
    return std::move(log_);
  }

 private:
  uint32_t host_lane(uint32_t thread_number) {
    const auto number = static_cast<uint32_t>(host_lanes_.size());
    auto [found, is_new] = host_lanes_.try_emplace(thread_number, log_.lanes.size());
    if (is_new) log_.lanes.push_back({LaneKind::kHost, number, 0});
    return found->second;
  }

  uint32_t device_lane(LaneKind kind, uint32_t device, uint64_t stream) {
    auto [found, is_new] = device_lanes_.try_emplace({kind, device, stream}, log_.lanes.size());
    if (is_new) {
      const auto& [type, number] = session_.devices_seen_[device];
      const auto id = static_cast<uint32_t>(std::stoul(number));
      log_.lanes.push_back({kind, stream, id, type});
    }
    return found->second;
  }

  /// The path that kernels of a place stand below.
  uint32_t path_of_place(PlaceId place) {
    if ((place & kLaunchBit) == 0) return path_of_row(place);
    const auto [replay, capture] = session_.captured_places_[place & ~kLaunchBit];
    uint32_t at = child(path_of_row(replay), strings_.intern(kCapturedAt));
    if (capture == kUnknownContext) return child(at, strings_.intern(kUnknownCapture));
    std::vector<PathId> below;
    for (PathId path = capture < process.paths.size() ? capture : kRootPath; path != kRootPath;
         path = process.paths.parent(path)) {
      below.push_back(path);
    }
    for (auto it = below.rbegin(); it != below.rend(); ++it) {
      at = child(at, strings_.intern_frame(process.paths.frame(*it)));
    }
    return at;
  }

  uint32_t path_of_row(PathId path) {
    if (path >= process.paths.size()) path = kRootPath;  // of a time before tables were cleared
    std::vector<PathId> missing;
    while (path != kRootPath && !paths_.contains(path)) {
      missing.push_back(path);
      path = process.paths.parent(path);
    }
    uint32_t at = path == kRootPath ? 0 : paths_.at(path);
    for (auto it = missing.rbegin(); it != missing.rend(); ++it) {
      at = child(at, strings_.intern_frame(process.paths.frame(*it)));
      paths_.emplace(*it, at);
    }
    return at;
  }

  uint32_t child(uint32_t parent, uint32_t text) {
    bool is_new;
    uint32_t* at = children_.find_or_add((uint64_t{parent} << 32 | text) + 1, is_new);
    if (is_new) {
      *at = static_cast<uint32_t>(log_.paths.size());
      log_.paths.push_back({parent, strings_.at(text)});
    }
    return *at;
  }

  void add_metrics(TraceSpan& span, const std::vector<SpanMetric>& from, uint32_t first,
                   uint32_t count) {
    span.first_metric = static_cast<uint32_t>(log_.metrics.size());
    span.metric_count = count;
    for (uint32_t i = first; i < first + count; ++i) {
      const MetricName& name = process.metric_names.name(from[i].metric);
      if (name.kind != MetricKind::kInclusive) {
        log_.summary.metric_kinds.try_emplace(name.key, name.kind);
      }
      log_.metrics.push_back({strings_.at(strings_.intern(name.key)), from[i].value});
    }
  }

  void add_host_span(const HostSpan& from) {
    TraceSpan span{from.kind,
                   host_lane(from.thread_number),
                   path_of_row(from.path),
                   from.start_ns,
                   from.end_ns,
                   from.scope_id};
    add_metrics(span, phase_.span_metrics, from.first_metric, from.metric_count);
    log_.spans.push_back(span);
  }

  void add_open_spans() {
    const int64_t end_ns = now_ns();
    for_each_open([&](ScopeEntry& entry) {
      const PathId shadow = path_of(&entry);
      const bool is_python = session_.context() == ContextKind::kPython;
      if (is_python && !entry.has_frames_path) return;
      log_.spans.push_back({SpanKind::kScope, host_lane(entry.thread_number),
                            path_of_row(is_python ? entry.frames_path : shadow),
                            session_.span_start(entry), end_ns, entry.scope_id});
    });
  }

  void add_launch(const LaunchSpan& from) {
    const uint32_t path = child(path_of_row(from.path), strings_.intern(from.function));
    TraceSpan span{SpanKind::kLaunch, host_lane(from.thread_number), path, from.start_ns,
                   from.end_ns};
    launches_.emplace(from.correlation, log_.spans.size());
    log_.spans.push_back(span);
  }

  static SpanKind kind_of(EventKind kind) {
    switch (kind) {
      case EventKind::kCopy:
        return SpanKind::kCopy;
      case EventKind::kGraph:
        return SpanKind::kGraph;
      default:
        return SpanKind::kKernel;
    }
  }

  void add_kernel_span(const KernelSpan& from) {
    const auto& [name, device, kind] = session_.kernels_[from.kernel];
    const uint32_t text = strings_.intern(session_.kernel_names_.text(name));
    const uint32_t path = child(path_of_place(from.place), text);
    const LaneKind lane = kind == EventKind::kGraph ? LaneKind::kGraph : LaneKind::kDevice;
    TraceSpan span{kind_of(kind), device_lane(lane, device, from.lane), path, from.start_ns,
                   from.end_ns};
    if (from.has_thread) {
      TraceSpan launch{SpanKind::kScope, host_lane(from.thread_number), path, from.start_ns,
                       from.end_ns};
      launch.flow_id = span.flow_id = ++last_flow_id_;
      launch.is_flow_source = true;
      log_.spans.push_back(launch);
    } else if (auto launch = launches_.find(from.correlation); launch != launches_.end()) {
      // One arrow a launch: a graph's goes to its first kernel.
      TraceSpan& source = log_.spans[launch->second];
      source.flow_id = span.flow_id = ++last_flow_id_;
      source.is_flow_source = true;
      launches_.erase(launch);
    }
    span.attributes = from.shape;
    add_metrics(span, phase_.kernel_span_metrics, from.first_metric, from.metric_count);
    if (kind == EventKind::kCopy) {
      log_.metrics.push_back({strings_.at(strings_.intern("bytes")), from.bytes});
      ++span.metric_count;
    }
    log_.spans.push_back(span);
  }

  const Session& session_;
  const Phase& phase_;
  TraceLog log_;
  SnapshotStrings strings_;
  std::map<uint32_t, uint32_t> host_lanes_;  // thread number -> lane
  std::map<std::tuple<LaneKind, uint32_t, uint64_t>, uint32_t> device_lanes_;
  std::unordered_map<CorrelationId, size_t> launches_;  // those that no kernel has claimed -> span
  uint64_t last_flow_id_ = 0;
  std::unordered_map<PathId, uint32_t> paths_;
  KeyIndex children_;
};

TraceLog Session::snapshot_trace(int phase, Value::Map header) const {
  expect_phase(phase, DataKind::kTrace);
  process.threads.reap();  // scopes of threads that ended are not open
  std::lock_guard lock(mutex_);
  return TraceBuilder(*this, *phases_.at(phase)).build(std::move(header));
}

}  // namespace proton
