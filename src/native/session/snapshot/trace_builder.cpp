// A phase of a trace session as a TraceLog.
#include <algorithm>
#include <map>
#include <tuple>

#include "base/clock.h"
#include "base/text.h"
#include "session/samples/sample_report.h"
#include "session/scopes/scope_events.h"
#include "session/snapshot/kernel_details.h"
#include "session/snapshot/recorded_spans.h"
#include "session/snapshot/replay_spans.h"
#include "session/snapshot/snapshot.h"
#include "session/snapshot/timed_runs.h"
#include "session/snapshot/trace_cursor.h"
#include "session/snapshot/trace_paths.h"

namespace proton {

class TraceBuilder {
 public:
  TraceBuilder(const Session& session, const Phase& phase)
      : session_(session),
        phase_(phase),
        limits_(session.sm_limits_locked()),
        strings_(log_.strings),
        kernel_texts_(session.kernels_.size(), kUnknown),
        launch_texts_(session.kernels_.size(), kUnknown) {}

  TraceLog build(Value::Map header) {
    begin(std::move(header));
    add_replays(0, phase_.kernel_spans.size());
    log_.spans.reserve(log_.spans.size() + phase_.spans.size() + phase_.launch_spans.size() +
                       phase_.kernel_spans.size());
    for (const HostSpan& span : phase_.spans) add_host_span(span);
    if (session_.is_active() && phase_.number == session_.phase()) add_open_spans();
    for (const LaunchSpan& launch : phase_.launch_spans) add_launch(launch);
    for (const KernelSpan& span : phase_.kernel_spans) add_kernel_span(span);
    for (const ValueSpan& span : phase_.value_spans) add_value_span(span);
    for (const RecordedKernel& recorded : phase_.recorded) add_recorded(recorded);
    number_threads();
    note_residuals();
    return std::move(log_);
  }

  /// Only what came since the cursor, and at most `limit` events of each kind.
  TraceLog build_new(Value::Map header, TraceCursor& cursor, size_t limit) {
    begin(std::move(header));
    log_.lanes = std::move(cursor.lanes);
    host_lanes_ = std::move(cursor.host_lanes);
    device_lanes_ = std::move(cursor.device_lanes);
    warp_lanes_ = std::move(cursor.warp_lanes);
    const auto next = [&](size_t& at, size_t size, const auto& add) {
      for (const size_t end = std::min(size, at + limit); at < end; ++at) add(at);
    };
    next(cursor.span_count, phase_.spans.size(),
         [&](size_t at) { add_host_span(phase_.spans[at]); });
    next(cursor.launch_count, phase_.launch_spans.size(), [&](size_t at) {
      add_launch(phase_.launch_spans[at]);
      if (cursor.unclaimed.size() >= TraceCursor::kUnclaimedLimit) cursor.unclaimed.clear();
      cursor.unclaimed[phase_.launch_spans[at].correlation] = at;
    });
    // A replay whose records are not all here goes on in the next chunk.
    add_replays(cursor.kernel_count,
                std::min(phase_.kernel_spans.size(), cursor.kernel_count + limit));
    next(cursor.kernel_count, phase_.kernel_spans.size(), [&](size_t at) {
      const CorrelationId correlation = phase_.kernel_spans[at].correlation;
      if (auto launch = cursor.unclaimed.extract(correlation)) {
        if (!launches_.contains(correlation)) add_launch(phase_.launch_spans[launch.mapped()]);
      }
      add_kernel_span(phase_.kernel_spans[at]);
    });
    // By whole launches: at most one goes beyond the limit.
    for (size_t count = 0; cursor.recorded_count < phase_.recorded.size() && count < limit;) {
      const RecordedKernel& recorded = phase_.recorded[cursor.recorded_count++];
      add_recorded(recorded);
      count += recorded.launch.spans.size() + 1;
    }
    cursor.is_at_end = cursor.span_count == phase_.spans.size() &&
                       cursor.launch_count == phase_.launch_spans.size() &&
                       cursor.kernel_count == phase_.kernel_spans.size() &&
                       cursor.recorded_count == phase_.recorded.size();
    if (cursor.is_at_end && session_.is_active() && phase_.number == session_.phase()) {
      add_open_spans();
    }
    cursor.lanes = log_.lanes;
    cursor.host_lanes = std::move(host_lanes_);
    cursor.device_lanes = std::move(device_lanes_);
    cursor.warp_lanes = std::move(warp_lanes_);
    return std::move(log_);
  }

 private:
  void begin(Value::Map header) {
    log_.base_host_ns = session_.base_host_ns_;
    log_.base_unix_ns = session_.base_unix_ns_;
    log_.summary = session_.summary_locked(std::move(header));
    log_.paths.push_back({0, strings_.at(strings_.intern("ROOT"))});
  }

  static constexpr uint32_t kUnknown = UINT32_MAX;

  /// The name of a kernel, or of the call that launched it.
  uint32_t kernel_text(uint32_t kernel) {
    uint32_t& text = kernel_texts_[kernel];
    if (text == kUnknown) {
      text = strings_.intern(session_.kernel_names_.text(session_.kernels_[kernel].name));
    }
    return text;
  }

  uint32_t launch_text(uint32_t kernel, bool is_graph) {
    if (is_graph) return strings_.intern(concat(kLaunchPrefix, "<graph>"));
    uint32_t& text = launch_texts_[kernel];
    if (text == kUnknown)
      text = strings_.intern(concat(kLaunchPrefix, *strings_.at(kernel_text(kernel))));
    return text;
  }

  uint32_t attributes_of_shape(uint32_t shape, uint32_t device) {
    if (shape == 0) return 0;
    bool is_new;
    uint32_t* at = shapes_.find_or_add(pair_key(shape, device), is_new);
    if (is_new) {
      *at = static_cast<uint32_t>(log_.attributes.size());
      const auto& limits = limits_[device];
      log_.attributes.push_back(
          to_attributes(phase_.shapes[shape], limits.has_value() ? &*limits : nullptr));
    }
    return *at;
  }

  /// Functions are few, and one text may stand at several addresses.
  uint32_t attributes_of_function(const char* function) {
    auto [found, is_new] = functions_.try_emplace(function, log_.attributes.size());
    if (is_new) {
      log_.attributes.push_back({{"function", Value{std::string(function)}}});
    }
    return found->second;
  }

  uint32_t metric_key(MetricId metric) {
    if (metric >= metric_keys_.size()) metric_keys_.resize(metric + 1, kUnknown);
    if (metric_keys_[metric] == kUnknown) {
      const MetricName& name = process.metric_names.name(metric);
      if (name.kind != MetricKind::kInclusive) {
        log_.summary.metric_kinds.try_emplace(name.key, name.kind);
      }
      metric_keys_[metric] = strings_.intern(name.key);
    }
    return metric_keys_[metric];
  }

  uint32_t host_lane(uint32_t thread_number) {
    auto [found, is_new] = host_lanes_.try_emplace(thread_number, log_.lanes.size());
    if (is_new) {
      log_.lanes.push_back({LaneKind::kHost, 0, 0, {}, system_thread_id(thread_number)});
    }
    return found->second;
  }

  /// From 0 in the order in which the threads appeared, not in that of their first spans' ends.
  void number_threads() {
    uint64_t number = 0;
    for (const auto& [thread, lane] : host_lanes_) log_.lanes[lane].number = number++;
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

  void add_metrics(TraceSpan& span, const std::vector<SpanMetric>& from, uint32_t first,
                   uint32_t count) {
    span.first_metric = static_cast<uint32_t>(log_.metrics.size());
    for (uint32_t i = first; i < first + count; ++i) add_metric(span, from[i]);
  }

  void add_metric(TraceSpan& span, const SpanMetric& metric) {
    log_.metrics.push_back({strings_.at(metric_key(metric.metric)), metric.value});
    ++span.metric_count;
  }

  void add_host_span(const HostSpan& from) {
    TraceSpan span{from.kind,
                   host_lane(from.thread_number),
                   paths_.of_row(from.path),
                   from.start_ns,
                   from.end_ns,
                   from.scope_id};
    add_metrics(span, phase_.span_metrics, from.first_metric, from.metric_count);
    if (auto found = session_.scope_values_.find(from.scope_id);
        found != session_.scope_values_.end()) {
      for (const SpanMetric& metric : found->second) add_metric(span, metric);
      span.kind = SpanKind::kMetric;
    }
    span.attributes = category_attributes(from.category);
    log_.spans.push_back(span);
  }

  /// A value that a replay read, at the moment when it did.
  void add_value_span(const ValueSpan& from) {
    TraceSpan span{SpanKind::kMetric, device_lane(LaneKind::kDevice, from.device, from.lane),
                   paths_.of_place(from.place), from.time_ns, from.time_ns};
    span.first_metric = static_cast<uint32_t>(log_.metrics.size());
    add_metric(span, from.metric);
    log_.spans.push_back(span);
  }

  /// The values of launch metadata that came from a device: one each metric, as a graph may run a
  /// kernel several times.
  void add_kernel_values(TraceSpan& span, const KernelSpan& from) {
    const auto found = session_.kernel_values_.find(from.correlation);
    if (found == session_.kernel_values_.end()) return;
    std::vector<MetricId> taken;
    auto& used = used_values_[from.correlation];
    used.resize(found->second.size());
    for (size_t i = 0; i < used.size(); ++i) {
      const auto& [place, kernel, metric] = found->second[i];
      if (used[i] || place != from.place || kernel != from.kernel) continue;
      if (std::find(taken.begin(), taken.end(), metric.metric) != taken.end()) continue;
      used[i] = true;
      taken.push_back(metric.metric);
      add_metric(span, metric);
    }
  }

  /// The index of attributes that tell a range's category.
  uint32_t category_attributes(const char* category) {
    if (category == nullptr) return 0;
    auto [found, is_new] = categories_.try_emplace(category, log_.attributes.size());
    if (is_new) log_.attributes.push_back({{"category", Value{std::string(category)}}});
    return found->second;
  }

  void add_open_spans() {
    const int64_t end_ns = now_ns();
    for_each_open([&](ScopeEntry& entry) {
      const PathId shadow = path_of(&entry);
      const bool is_python = session_.context() == ContextKind::kPython;
      if (is_python && !entry.has_frames_path) return;
      log_.spans.push_back({SpanKind::kScope, host_lane(entry.thread_number),
                            paths_.of_row(is_python ? entry.frames_path : shadow),
                            session_.span_start(entry), end_ns, entry.scope_id});
    });
    for (const RangeSpan& span : process.ranges.open_spans()) {
      add_host_span(session_.span_of_range(span));
    }
  }

  /// Named after the driver's function until its kernel is found.
  void add_launch(const LaunchSpan& from) {
    const uint32_t path = paths_.child(paths_.of_row(from.path), strings_.intern(from.function));
    TraceSpan span{SpanKind::kLaunch, host_lane(from.thread_number), path, from.start_ns,
                   from.end_ns};
    span.attributes = attributes_of_function(from.function);
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
    const auto [name, device, kind] = session_.kernels_[from.kernel];
    const uint32_t path = paths_.child(paths_.of_place(from.place), kernel_text(from.kernel));
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
      int64_t& early_ns = early_ns_[device];
      early_ns = std::max(early_ns, source.start_ns - from.start_ns);
      source.flow_id = span.flow_id = ++last_flow_id_;
      source.is_flow_source = true;
      const bool is_graph = kind == EventKind::kGraph || (from.place & kLaunchBit) != 0;
      source.path =
          paths_.child(log_.paths[source.path].parent, launch_text(from.kernel, is_graph));
      launches_.erase(launch);
    }
    span.attributes = attributes_of_shape(from.shape, device);
    add_metrics(span, phase_.kernel_span_metrics, from.first_metric, from.metric_count);
    add_kernel_values(span, from);
    if (kind == EventKind::kCopy) {
      if (bytes_key_ == kUnknown) bytes_key_ = strings_.intern("bytes");
      log_.metrics.push_back({strings_.at(bytes_key_), from.bytes});
      ++span.metric_count;
    }
    log_.spans.push_back(span);
  }

  /// What stands on graph lanes of these kernels. First of all, as the memory that it takes is free
  /// again before the log grows.
  void add_replays(size_t from, size_t to) {
    if (session_.captured_places_.empty()) return;
    ReplaySpans replays(log_);
    uint32_t lane = 0;
    const KernelSpan* last = nullptr;
    for (size_t at = from; at < to; ++at) {
      const KernelSpan& span = phase_.kernel_spans[at];
      if ((span.place & kLaunchBit) == 0 || span.correlation == 0) continue;
      if (last == nullptr || last->lane != span.lane || last->kernel != span.kernel) {
        lane = device_lane(LaneKind::kGraph, session_.kernels_[span.kernel].device, span.lane);
      }
      last = &span;
      replays.add(lane, paths_.of_captured(span.place).scopes, span);
    }
    replays.finish();
  }

  void add_recorded(const RecordedKernel& from) {
    const auto [name, device, kind] = session_.kernels_[from.kernel];
    const uint32_t text = kernel_text(from.kernel);
    recorded_.add({from.launch, device, from.kernel,
                   paths_.child(paths_.of_place(from.place), text), *strings_.at(text),
                   timed_.shift_of(from)});
  }

  /// A kernel that seems to have begun before the call that launched it tells how far the clocks of
  /// host and device are apart, at least.
  void note_residuals() {
    for (const auto& [device, early_ns] : early_ns_) {
      if (early_ns <= 0) continue;
      const auto& [type, number] = session_.devices_seen_[device];
      for (DeviceEntry& entry : log_.summary.devices) {
        if (entry.type != type || entry.id != number) continue;
        raise_residual(entry.attributes, early_ns);
      }
    }
  }

  static void raise_residual(Value::Map& attributes, int64_t to_ns) {
    for (auto& [key, value] : attributes) {
      if (key != kClockResidual) continue;
      if (auto* known = std::get_if<int64_t>(&value.data)) *known = std::max(*known, to_ns);
      return;
    }
    attributes.emplace_back(kClockResidual, Value{to_ns});
  }

  static constexpr const char* kClockResidual = "clock_residual_ns";

  const Session& session_;
  const Phase& phase_;
  const std::vector<std::optional<SmLimits>> limits_;
  TraceLog log_;
  SnapshotStrings strings_;
  TracePaths paths_{log_.paths, strings_, session_.captured_places_};
  std::vector<uint32_t> kernel_texts_;  // by kernel of the session
  std::vector<uint32_t> launch_texts_;
  std::vector<uint32_t> metric_keys_;  // by MetricId
  uint32_t bytes_key_ = kUnknown;
  KeyIndex shapes_;                                           // (shape, device) -> attributes
  std::unordered_map<std::string_view, uint32_t> functions_;  // -> attributes
  std::map<uint32_t, uint32_t> host_lanes_;                   // thread number -> lane
  std::map<std::tuple<LaneKind, uint32_t, uint64_t>, uint32_t> device_lanes_;
  std::unordered_map<CorrelationId, size_t> launches_;  // those that no kernel has claimed -> span
  std::unordered_map<CorrelationId, std::vector<bool>> used_values_;
  std::map<std::string_view, uint32_t> categories_;  // -> attributes
  TimedRuns timed_{phase_};
  WarpLanes warp_lanes_;
  RecordedSpans recorded_{
      log_,
      warp_lanes_,
      {[this](uint32_t parent, std::string name) {
         return paths_.child(parent, strings_.intern(std::move(name)));
       },
       [this](uint32_t device, uint32_t sm) { return device_lane(LaneKind::kSm, device, sm); }}};
  uint64_t last_flow_id_ = 0;
  std::map<uint32_t, int64_t> early_ns_;  // device -> most that a kernel was before its launch
};

namespace {

/// Samples have no times: they stand in the summary only, by kernel and line.
void add_samples(const SampleCopy& samples, const ReportLimits& limits, Summary& summary) {
  if (!samples.is_wanted()) return;
  const auto contexts_of = [&](NameId symbol, uint32_t, const std::vector<uint32_t>& timed) {
    std::vector<SampleContext> contexts;  // one of what is shown, one of what is not
    for (const bool is_included : {true, false}) {
      SampleContext context{0, 0, is_included};
      size_t count = 0;
      for (const uint32_t number : timed) {
        if (samples.is_timed_included[number] != is_included) continue;
        context.time_ns += samples.timed[number].time_ns;
        ++count;
      }
      if (count > 0) contexts.push_back(context);
    }
    if (contexts.empty()) contexts.push_back({0, 0, samples.is_included(symbol)});
    return contexts;
  };
  SampleReport report(samples, limits);
  report.divide(contexts_of, [](uint32_t, LineId, const SampleCounts&) {});
  report.describe(summary);
}

}  // namespace

TraceLog Session::snapshot_trace(int phase, Value::Map header) const {
  const auto held = find_phase(phase, DataKind::kTrace);  // even if it is cleared meanwhile
  SampleCopy samples(*this, held);
  process.ranges.drain();
  process.ranges.resolve_all();
  process.threads.reap();  // scopes of threads that ended are not open
  samples.copy_device_part();
  samples.copy_host_part();
  process.resolve_frames();
  TraceLog log = [&] {
    std::lock_guard lock(mutex_);
    return TraceBuilder(*this, *held).build(std::move(header));
  }();
  add_samples(samples, {.with_line_totals = true}, log.summary);
  return log;
}

TraceLog Session::snapshot_new_trace(int phase, Value::Map header, TraceCursor& cursor,
                                     size_t limit) const {
  const auto held = find_phase(phase, DataKind::kTrace);  // even if it is cleared meanwhile
  SampleCopy samples(*this, held);
  process.ranges.drain();
  process.ranges.resolve_all();
  process.threads.reap();
  samples.copy_device_part();
  samples.copy_host_part();
  TraceLog log = [&] {
    std::lock_guard lock(mutex_);
    return TraceBuilder(*this, *held).build_new(std::move(header), cursor, limit);
  }();
  // In every chunk, as the last one tells about the whole: a short list must do.
  add_samples(samples, {.instructions = 256, .with_line_totals = true}, log.summary);
  return log;
}

}  // namespace proton
