#include "session/snapshot/trace_builder.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "session/samples/sample_report.h"
#include "session/scopes/process.h"
#include "session/scopes/scope_events.h"
#include "session/snapshot/kernel_details.h"
#include "session/snapshot/recorded_spans.h"
#include "session/snapshot/replay_spans.h"
#include "session/snapshot/trace_paths.h"

namespace proton {
namespace {

constexpr uint32_t kUnknown = UINT32_MAX;

/// A phase and what it refers to, with both locks held.
struct TraceSource {
  const Session& session;
  const HostPhase& host;
  const DevicePhase& device;
  const DeviceTables& tables;
  bool is_growing;  // scopes that are open belong to it

  const KernelEntry& kernel(uint32_t number) const { return tables.kernels.all()[number]; }
  const SeenDevice& seen(uint32_t device) const { return tables.kernels.devices()[device]; }
};

/// The attributes of spans: equal ones share one entry of the log.
class TraceAttributes {
 public:
  TraceAttributes(const TraceSource& source, std::vector<Value::Map>& attributes)
      : shapes_(source.device.shapes), attributes_(attributes) {
    for (const SeenDevice& seen : source.tables.kernels.devices()) {
      limits_.push_back(SmLimits::from(source.session.facts.find_device(seen)));
    }
  }

  uint32_t of_shape(uint32_t shape, uint32_t device) {
    if (shape == 0) return 0;
    bool is_new;
    uint32_t* at = of_shapes_.find_or_add(pair_key(shape, device), is_new);
    if (is_new) {
      const auto& limits = limits_[device];
      *at = add(to_attributes(shapes_[shape], limits.has_value() ? &*limits : nullptr));
    }
    return *at;
  }

  /// Functions of the driver and categories are few, and one text may stand at several addresses.
  uint32_t of_text(const char* key, const char* text) {
    if (text == nullptr) return 0;
    auto [found, is_new] = of_texts_.try_emplace({key, text}, 0);
    if (is_new) found->second = add({{key, Value{std::string(text)}}});
    return found->second;
  }

 private:
  uint32_t add(Value::Map map) {
    attributes_.push_back(std::move(map));
    return static_cast<uint32_t>(attributes_.size() - 1);
  }

  const std::vector<LaunchShape>& shapes_;
  std::vector<Value::Map>& attributes_;
  std::vector<std::optional<SmLimits>> limits_;  // by device
  KeyIndex of_shapes_;                           // (shape, device)
  std::map<std::pair<std::string_view, std::string_view>, uint32_t> of_texts_;
};

/// The texts of kernels and metrics, by their numbers.
class TraceNames {
 public:
  TraceNames(const DeviceTables& tables, TraceLog& log, TraceTexts& texts)
      : kernels_(tables.kernels),
        log_(log),
        texts_(texts),
        kernel_texts_(kernels_.all().size(), kUnknown),
        launch_texts_(kernels_.all().size(), kUnknown) {}

  uint32_t kernel(uint32_t kernel) {
    uint32_t& text = kernel_texts_[kernel];
    if (text == kUnknown) text = texts_.intern(kernels_.names.text(kernels_.all()[kernel].name));
    return text;
  }

  /// Of the call that launched a kernel, or a graph.
  uint32_t launch(uint32_t kernel, bool is_graph) {
    if (is_graph) return texts_.intern(concat(kLaunchPrefix, "<graph>"));
    uint32_t& text = launch_texts_[kernel];
    if (text == kUnknown) {
      text = texts_.intern(concat(kLaunchPrefix, *texts_.at(this->kernel(kernel))));
    }
    return text;
  }

  const std::string* metric(MetricId metric) {
    if (metric >= metric_keys_.size()) metric_keys_.resize(metric + 1, nullptr);
    if (metric_keys_[metric] == nullptr) {
      const MetricName& name = process.metric_names.name(metric);
      if (name.kind != MetricKind::kInclusive) {
        log_.summary.metric_kinds.try_emplace(name.key, name.kind);
      }
      metric_keys_[metric] = texts_.at(texts_.intern(name.key));
    }
    return metric_keys_[metric];
  }

  const std::string* bytes() {
    if (bytes_key_ == nullptr) bytes_key_ = texts_.at(texts_.intern("bytes"));
    return bytes_key_;
  }

 private:
  const KernelTable& kernels_;
  TraceLog& log_;
  TraceTexts& texts_;
  std::vector<uint32_t> kernel_texts_;
  std::vector<uint32_t> launch_texts_;
  std::vector<const std::string*> metric_keys_;
  const std::string* bytes_key_ = nullptr;
};

/// How far the clocks of host and device are apart, at least: a kernel that seems to have begun
/// before the call that launched it tells.
class ClockResiduals {
 public:
  void add(uint32_t device, int64_t early_ns) {
    int64_t& most_ns = early_ns_[device];
    most_ns = std::max(most_ns, early_ns);
  }

  void note(const TraceSource& source, std::vector<DeviceEntry>& devices) const {
    for (const auto& [device, early_ns] : early_ns_) {
      if (early_ns <= 0) continue;
      const auto& [type, number] = source.seen(device);
      for (DeviceEntry& entry : devices) {
        if (entry.type == type && entry.id == number) raise(entry.attributes, early_ns);
      }
    }
  }

 private:
  static constexpr const char* kClockResidual = "clock_residual_ns";

  static void raise(Value::Map& attributes, int64_t to_ns) {
    for (auto& [key, value] : attributes) {
      if (key != kClockResidual) continue;
      if (auto* known = std::get_if<int64_t>(&value.data)) *known = std::max(*known, to_ns);
      return;
    }
    attributes.emplace_back(kClockResidual, Value{to_ns});
  }

  std::map<uint32_t, int64_t> early_ns_;  // by device
};

class TraceBuilder {
 public:
  TraceBuilder(const TraceSource& source, Value::Map header, TraceLanes lanes = {})
      : source_(source), lanes_(std::move(lanes)) {
    const SessionFacts& facts = source.session.facts;
    log_.base_host_ns = facts.base_host_ns;
    log_.base_unix_ns = facts.base_unix_ns;
    log_.summary =
        facts.summarize(std::move(header), source.session.losses, source.host.steps, source.tables);
  }

  TraceLog build() {
    const auto& [host, device] = std::tie(source_.host, source_.device);
    add_replays(0, device.kernel_spans.size());
    log_.spans.reserve(log_.spans.size() + host.spans.size() + device.launch_spans.size() +
                       device.kernel_spans.size());
    for (const HostSpan& span : host.spans) add_host_span(span);
    if (source_.is_growing) add_open_spans();
    for (const LaunchSpan& launch : device.launch_spans) add_launch(launch);
    for (const KernelSpan& span : device.kernel_spans) add_kernel_span(span);
    for (const ValueSpan& span : device.value_spans) add_value_span(span);
    for (const ReadSpan& span : device.reads.spans()) add_read_span(span);
    for (const RecordedKernel& recorded : device.recorded) add_recorded(recorded);
    lanes_.number_threads();
    residuals_.note(source_, log_.summary.devices);
    log_.lanes = lanes_.all();
    return std::move(log_);
  }

  /// Only what came since the cursor, and at most `limit` events of each kind.
  TraceLog build_new(TraceCursor& cursor, size_t limit) {
    const auto& [host, device] = std::tie(source_.host, source_.device);
    const auto next = [&](size_t& at, size_t size, const auto& add) {
      for (const size_t end = std::min(size, at + limit); at < end; ++at) add(at);
    };
    next(cursor.span_count, host.spans.size(), [&](size_t at) { add_host_span(host.spans[at]); });
    next(cursor.launch_count, device.launch_spans.size(), [&](size_t at) {
      add_launch(device.launch_spans[at]);
      if (cursor.unclaimed.size() >= TraceCursor::kUnclaimedLimit) cursor.unclaimed.clear();
      cursor.unclaimed[device.launch_spans[at].correlation] = at;
    });
    // A replay whose records are not all here goes on in the next chunk.
    add_replays(cursor.kernel_count,
                std::min(device.kernel_spans.size(), cursor.kernel_count + limit));
    next(cursor.kernel_count, device.kernel_spans.size(), [&](size_t at) {
      const CorrelationId correlation = device.kernel_spans[at].correlation;
      if (auto launch = cursor.unclaimed.extract(correlation)) {
        if (!launches_.contains(correlation)) add_launch(device.launch_spans[launch.mapped()]);
      }
      add_kernel_span(device.kernel_spans[at]);
    });
    // By whole launches: at most one goes beyond the limit.
    for (size_t count = 0; cursor.recorded_count < device.recorded.size() && count < limit;) {
      const RecordedKernel& recorded = device.recorded[cursor.recorded_count++];
      add_recorded(recorded);
      count += recorded.launch.spans.size() + 1;
    }
    cursor.is_at_end = cursor.span_count == host.spans.size() &&
                       cursor.launch_count == device.launch_spans.size() &&
                       cursor.kernel_count == device.kernel_spans.size() &&
                       cursor.recorded_count == device.recorded.size();
    if (cursor.is_at_end && source_.is_growing) add_open_spans();
    log_.lanes = lanes_.all();
    cursor.lanes = std::move(lanes_);
    return std::move(log_);
  }

 private:
  uint32_t device_lane(LaneKind kind, uint32_t device, uint64_t number) {
    return lanes_.device(kind, device, number, source_.seen(device));
  }

  /// Metrics of the span that is added next.
  void add_metrics(TraceSpan& span, const std::vector<SpanMetric>& from, uint32_t first,
                   uint32_t count) {
    span.first_metric = static_cast<uint32_t>(log_.metrics.size());
    for (uint32_t i = first; i < first + count; ++i) add_metric(span, from[i]);
  }

  void add_metric(TraceSpan& span, const SpanMetric& metric) {
    log_.metrics.push_back({names_.metric(metric.metric), metric.value});
    ++span.metric_count;
  }

  TraceSpan to_span(const HostSpan& from) {
    TraceSpan span{from.kind,
                   lanes_.host(from.thread_number),
                   paths_.of_path(from.path),
                   from.start_ns,
                   from.end_ns,
                   from.scope_id};
    span.attributes = attributes_.of_text("category", from.category);
    return span;
  }

  void add_host_span(const HostSpan& from) {
    TraceSpan span = to_span(from);
    add_metrics(span, source_.host.span_metrics, from.first_metric, from.metric_count);
    const auto& values = source_.tables.values.of_scopes;
    if (auto found = values.find(from.scope_id); found != values.end()) {
      for (const SpanMetric& metric : found->second) add_metric(span, metric);
      span.kind = SpanKind::kMetric;
    }
    log_.spans.push_back(span);
  }

  void add_open_spans() {
    for (const HostSpan& span : source_.session.host.open_spans()) {
      log_.spans.push_back(to_span(span));
    }
  }

  /// A value that a replay read, at the moment when it did.
  void add_value_span(const ValueSpan& from) {
    TraceSpan span{SpanKind::kMetric, device_lane(LaneKind::kDevice, from.device, from.lane),
                   paths_.of_place(from.place), from.time_ns, from.time_ns};
    span.first_metric = static_cast<uint32_t>(log_.metrics.size());
    add_metric(span, from.metric);
    log_.spans.push_back(span);
  }

  /// The kernel that read it, as known traces have one: with a moment in place of its time, which
  /// is not the program's.
  void add_read_span(const ReadSpan& from) {
    const auto& [place, kernel] = from.owner;
    uint32_t path = paths_.child(paths_.of_place(place), texts_.intern(metadata_state("")));
    if (kernel != ReadOwner::kNoKernel) path = paths_.child(path, names_.kernel(kernel));
    log_.spans.push_back({SpanKind::kKernel, device_lane(LaneKind::kDevice, from.device, from.lane),
                          paths_.child(path, texts_.intern(kValueRead)), from.time_ns,
                          from.time_ns});
  }

  /// Named after the driver's function until its kernel is found.
  void add_launch(const LaunchSpan& from) {
    const uint32_t path = paths_.child(paths_.of_path(from.path), texts_.intern(from.function));
    TraceSpan span{SpanKind::kLaunch, lanes_.host(from.thread_number), path, from.start_ns,
                   from.end_ns};
    span.attributes = attributes_.of_text("function", from.function);
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
    const auto [name, device, kind] = source_.kernel(from.kernel);
    const uint32_t path = paths_.child(paths_.of_place(from.place), names_.kernel(from.kernel));
    const LaneKind lane = kind == EventKind::kGraph ? LaneKind::kGraph : LaneKind::kDevice;
    TraceSpan span{kind_of(kind), device_lane(lane, device, from.lane), path, from.start_ns,
                   from.end_ns};
    if (from.has_thread) {
      TraceSpan launch{SpanKind::kLaunch, lanes_.host(from.thread_number), path, from.start_ns,
                       from.end_ns};
      launch.flow_id = span.flow_id = ++last_flow_id_;
      launch.is_flow_source = true;
      log_.spans.push_back(launch);
    } else {
      join_launch(from, device, kind, span);
    }
    span.attributes = attributes_.of_shape(from.shape, device);
    add_metrics(span, source_.device.kernel_span_metrics, from.first_metric, from.metric_count);
    add_kernel_values(span, from);
    if (kind == EventKind::kCopy) {
      log_.metrics.push_back({names_.bytes(), from.bytes});
      ++span.metric_count;
    }
    log_.spans.push_back(span);
  }

  /// One arrow a launch, with the driver's number for it: a graph's goes to its first kernel.
  void join_launch(const KernelSpan& from, uint32_t device, EventKind kind, TraceSpan& span) {
    const auto launch = launches_.find(from.correlation);
    if (launch == launches_.end()) return;
    TraceSpan& source = log_.spans[launch->second];
    residuals_.add(device, source.start_ns - from.start_ns);
    source.flow_id = span.flow_id = from.correlation;
    source.is_flow_source = true;
    const bool is_graph = kind == EventKind::kGraph || is_captured(from.place);
    source.path =
        paths_.child(log_.paths[source.path].parent, names_.launch(from.kernel, is_graph));
    launches_.erase(launch);
  }

  /// The values of launch metadata that came from a device: one each metric, as a graph may run a
  /// kernel several times.
  void add_kernel_values(TraceSpan& span, const KernelSpan& from) {
    const auto& values = source_.tables.values.of_kernels;
    const auto found = values.find(from.correlation);
    if (found == values.end()) return;
    std::vector<MetricId> taken;
    auto& used = used_values_[from.correlation];
    used.resize(found->second.size());
    for (size_t i = 0; i < used.size(); ++i) {
      const auto& [place, kernel, metric] = found->second[i];
      if (used[i] || place != from.place || kernel != from.kernel) continue;
      if (std::ranges::find(taken, metric.metric) != taken.end()) continue;
      used[i] = true;
      taken.push_back(metric.metric);
      add_metric(span, metric);
    }
  }

  /// What stands on graph lanes of these kernels. First of all, as the memory that it takes is free
  /// again before the log grows.
  void add_replays(size_t from, size_t to) {
    if (source_.tables.places.all().empty()) return;
    ReplaySpans replays(log_);
    uint32_t lane = 0;
    const KernelSpan* last = nullptr;
    for (size_t at = from; at < to; ++at) {
      const KernelSpan& span = source_.device.kernel_spans[at];
      if (!is_captured(span.place) || span.correlation == 0) continue;
      if (last == nullptr || last->lane != span.lane || last->kernel != span.kernel) {
        lane = device_lane(LaneKind::kGraph, source_.kernel(span.kernel).device, span.lane);
      }
      last = &span;
      replays.add(lane, paths_.of_captured(span.place).scopes, span);
    }
    replays.finish();
  }

  void add_recorded(const RecordedKernel& from) {
    const uint32_t device = source_.kernel(from.kernel).device;
    const uint32_t text = names_.kernel(from.kernel);
    recorded_.add({from.launch, device, source_.seen(device), from.kernel,
                   paths_.child(paths_.of_place(from.place), text), *texts_.at(text),
                   timed_.shift_of(from)});
  }

  const TraceSource& source_;
  TraceLog log_;
  TraceLanes lanes_;
  TraceTexts texts_{log_.strings};
  TracePaths paths_{log_.paths, texts_, source_.tables.places,
                    FrameFilter(source_.session.host.context())};
  TraceNames names_{source_.tables, log_, texts_};
  TraceAttributes attributes_{source_, log_.attributes};
  TimedRuns timed_{source_.device};
  RecordedSpans recorded_{log_, lanes_, texts_, paths_, last_flow_id_};
  ClockResiduals residuals_;
  std::unordered_map<CorrelationId, size_t> launches_;  // those that no kernel has claimed -> span
  std::unordered_map<CorrelationId, std::vector<bool>> used_values_;
  uint64_t last_flow_id_ = UINT32_MAX;  // of arrows without a launch of a driver
};

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

/// Builds a log by `build(TraceSource)`, and adds the samples.
template <typename Build>
TraceLog take_trace(const Session& session, int phase, const ReportLimits& limits, Build build) {
  const auto device =
      session.find_phase(phase, DataKind::kTrace);  // even if it is cleared meanwhile
  const auto host = session.host.find_phase(phase);
  SampleCopy samples(session, device);
  process.drain();
  process.ranges.resolve_all();
  process.threads.reap();  // scopes of threads that ended are not open
  samples.copy_device_part();
  samples.copy_host_part();
  process.resolve_frames();
  const bool is_growing = session.host.is_active() && phase == session.host.phase();
  TraceLog log = session.device.read([&](const DeviceTables& tables) {
    return build(TraceSource{session, *host, *device, tables, is_growing});
  });
  add_samples(samples, limits, log.summary);
  return log;
}

}  // namespace

TraceLog build_trace(const Session& session, int phase, Value::Map header) {
  return take_trace(session, phase, {.with_line_totals = true}, [&](const TraceSource& source) {
    return TraceBuilder(source, std::move(header)).build();
  });
}

TraceLog build_new_trace(const Session& session, int phase, Value::Map header, TraceCursor& cursor,
                         size_t limit) {
  // In every chunk, as the last one tells about the whole: a short list must do.
  const ReportLimits limits{.whole_instructions = 0, .instructions = 256, .with_line_totals = true};
  return take_trace(session, phase, limits, [&](const TraceSource& source) {
    return TraceBuilder(source, std::move(header), std::move(cursor.lanes))
        .build_new(cursor, limit);
  });
}

}  // namespace proton
