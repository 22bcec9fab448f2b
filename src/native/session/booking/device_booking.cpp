#include "session/booking/device_booking.h"

#include "model/losses.h"
#include "session/scopes/process.h"

namespace proton {

DeviceBooking::DeviceBooking(ContextKind context, DataKind data, LossLog& losses)
    : context_(context), data_(data), losses_(losses) {}

// ---- kernels and copies: what runs for every event comes first ----

inline PathId DeviceBooking::path_of_context(ContextId context) const {
  return context >= kUnknownContext ? kRootPath : process.contexts.path(context, is_python());
}

[[gnu::always_inline]] inline PlaceId DeviceBooking::place_of(const KernelEvent& event) {
  if (event.context >= kUnknownContext) losses_.count(losses::kUnknownLaunch);
  const PathId path = path_of_context(event.context);
  if (event.capture == kNoContext) return path;
  if (event.capture == kUnknownContext) return tables_.places.find_unseen(path, event.graph);
  return tables_.places.find(path, process.contexts.path(event.capture, is_python()));
}

inline uint32_t DeviceBooking::row_of(DevicePhase& phase, PlaceId place, uint32_t kernel) {
  if (data_ == DataKind::kTrace) return 0;
  return phase.kernel_index.row_of(pair_key(place, kernel), phase.kernels, [&] {
    return KernelRow{use_count_.fetch_add(1, std::memory_order_relaxed), place, kernel};
  });
}

inline void DeviceBooking::book(const KernelEvent& event, const Booked& booked,
                                DevicePhase& phase) {
  ++phase.event_changes;
  int64_t end_ns = event.end_ns;
  if (end_ns < event.start_ns) {
    losses_.count(losses::kBadTime);
    end_ns = event.start_ns;
  }
  if (books_more_) [[unlikely]]
    book_more(event, end_ns - event.start_ns, booked, phase);
  if (data_ == DataKind::kTrace) return book_span(event, end_ns, booked, phase);
  if (!event.riders.empty()) book_captured_metrics(event, phase);
  const uint32_t row = booked.row;
  phase.kernels[row].add(event, end_ns - event.start_ns);
  if (booked.op != nullptr) {
    for (const OpMetric& metric : booked.op->metrics) {
      losses_.count_refused(
          phase.kernel_metrics.add(row, metric.metric, metric.kind, metric.value));
    }
  }
  for (const SampleList* metrics : {booked.launch_metrics, booked.metrics}) {
    if (metrics != nullptr) book_metrics(phase, row, *metrics);
  }
}

inline void DeviceBooking::place_event(const KernelEvent& event, bool with_metadata) {
  const ContextId named_by = event.capture == kNoContext ? event.context : event.capture;
  uint32_t op_id = 0;
  const Op* op = nullptr;
  if (with_metadata) {
    op = event.graph_launches == nullptr ? process.contexts.op(named_by, op_id, is_python())
                                         : graph_metadata_.find(event, process.contexts, losses_);
  }
  DevicePhase& phase = phase_of(event.correlation);
  const PlaceId place = place_of(event);
  const uint32_t kernel = tables_.kernels.kernel_of(event, op, op_id);
  book(event, {place, kernel, row_of(phase, place, kernel), op}, phase);
}

template <typename Book>
void DeviceBooking::book_locked(Book book) noexcept {
  try {
    std::lock_guard lock(mutex_);
    book();
  } catch (...) {
    losses_.count(losses::kInternal);
  }
}

void DeviceBooking::on_events(std::span<const KernelEvent> events) noexcept {
  book_locked([&] {
    const bool with_metadata = uses_launch_metadata();
    if (!events.empty()) phases_.follow(events.back().correlation);
    for (const KernelEvent& event : events) place_event(event, with_metadata);
    event_count_.fetch_add(events.size(), std::memory_order_relaxed);
  });
}

void DeviceBooking::add_kernel(PathId path, uint32_t thread_number, const KernelEvent& event,
                               const SampleList* launch_metrics, const SampleList* metrics) {
  std::lock_guard lock(mutex_);
  DevicePhase& phase = phase_of(event.correlation);
  KernelTable& kernels = tables_.kernels;
  const uint32_t kernel = kernels.intern(event.name, kernels.device_of(event), event.kind);
  Booked booked{path, kernel, row_of(phase, path, kernel)};
  booked.launch_metrics = launch_metrics;
  booked.metrics = metrics;
  booked.has_thread = true;
  booked.thread_number = thread_number;
  event_count_.fetch_add(1, std::memory_order_relaxed);
  book(event, booked, phase);
}

void DeviceBooking::book_span(const KernelEvent& event, int64_t end_ns, const Booked& booked,
                              DevicePhase& phase) {
  auto& stored = phase.kernel_span_metrics;
  const auto first = static_cast<uint32_t>(stored.size());
  if (booked.op != nullptr) {
    for (const OpMetric& metric : booked.op->metrics) {
      stored.push_back({metric.metric, metric.value});
    }
  }
  for (const SampleList* list : {booked.launch_metrics, booked.metrics}) {
    for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
      stored.push_back({(*list)[i].metric, list->value(i)});
    }
  }
  if (!event.riders.empty()) add_captured_metrics(event, phase, first);
  uint32_t shape = 0;
  if (event.shape.grid[0] != 0) {
    auto [found, is_new] =
        phase.shape_index.try_emplace(event.shape, static_cast<uint32_t>(phase.shapes.size()));
    if (is_new) phase.shapes.push_back(event.shape);
    shape = found->second;
  }
  phase.kernel_spans.push_back({booked.place, booked.kernel, event.lane, booked.thread_number,
                                booked.has_thread, event.correlation, event.start_ns, end_ns, shape,
                                first, static_cast<uint32_t>(stored.size()) - first, event.bytes});
}

void DeviceBooking::book_more(const KernelEvent& event, int64_t time_ns, const Booked& booked,
                              DevicePhase& phase) {
  if (tables_.steps.is_on()) tables_.steps.add(event.correlation, event.start_ns, time_ns);
  if (tables_.sampling == nullptr || event.kind != EventKind::kKernel) return;
  const auto symbol = [&] { return tables_.kernels.names.intern(event.name); };
  const uint32_t name_id = event.name_id != 0 ? event.name_id : symbol() | kLaunchBit;
  phase.timed_symbols.add(booked.place, booked.kernel, name_id, time_ns, symbol);
}

void DeviceBooking::book_metrics(DevicePhase& phase, uint32_t row, const SampleList& metrics) {
  for (size_t i = 0; i < metrics.size(); ++i) {
    const MetricKind kind = process.metric_names.name(metrics[i].metric).kind;
    losses_.count_refused(phase.kernel_metrics.add(row, kind, metrics, i));
  }
}

// ---- metrics of captured scopes ----

PathId DeviceBooking::path_of_captured(const CapturedScope& scope) const {
  return is_python() && scope.python != kUnknownContext ? scope.python : scope.shadow;
}

/// In a tree: below the replay, at the paths of the captured scopes.
void DeviceBooking::book_captured_metrics(const KernelEvent& event, DevicePhase& phase) {
  const PathId replay = path_of_context(event.context);
  for (const uint64_t node : event.riders) {
    process.captured_metrics.visit(node, [&](const CapturedScope& scope) {
      const PlaceId place = tables_.places.find(replay, path_of_captured(scope));
      for (const OpMetric& metric : scope.metrics) {
        losses_.count_refused(
            phase.replay_metrics.add(place, metric.metric, metric.kind, metric.value));
      }
    });
  }
}

/// In a trace: on the span itself, beside those that the span has from `first` on.
void DeviceBooking::add_captured_metrics(const KernelEvent& event, DevicePhase& phase,
                                         size_t first) {
  auto& stored = phase.kernel_span_metrics;
  for (const uint64_t node : event.riders) {
    process.captured_metrics.visit(node, [&](const CapturedScope& scope) {
      for (const OpMetric& metric : scope.metrics) {
        const auto same =
            std::find_if(stored.begin() + static_cast<ptrdiff_t>(first), stored.end(),
                         [&](const SpanMetric& other) { return other.metric == metric.metric; });
        if (same == stored.end()) {
          stored.push_back({metric.metric, metric.value});
        } else {
          losses_.count_refused(add_value(same->value, metric.kind, metric.value));
        }
      }
    });
  }
}

// ---- launches, values, samples ----

void DeviceBooking::on_launches(std::span<const LaunchEvent> launches) noexcept {
  if (data_ != DataKind::kTrace) return;
  book_locked([&] {
    if (!launches.empty()) phases_.follow(launches.back().correlation);
    for (const LaunchEvent& launch : launches) {
      phase_of(launch.correlation)
          .launch_spans.push_back({launch.correlation, launch.thread_number,
                                   path_of_context(launch.context), launch.function,
                                   launch.start_ns, launch.end_ns});
    }
  });
}

void DeviceBooking::on_values(std::span<const ValueEvent> values) noexcept {
  book_locked([&] {
    for (const ValueEvent& event : values) book_value(event);
  });
}

void DeviceBooking::book_value(const ValueEvent& event) {
  const bool is_captured = event.capture != kNoContext;
  const bool has_launch = event.is_of_kernel || is_captured;
  DevicePhase* phase =
      has_launch ? phases_.of_launch(event.correlation) : phases_.find(event.phase);
  if (event.is_of_kernel && !uses_launch_metadata()) return;
  if (phase == nullptr) return losses_.count(losses::kLate);
  ++phase->event_changes;
  if (event.is_of_kernel) return book_kernel_value(event, *phase);
  if (data_ == DataKind::kTrace && !is_captured) {
    tables_.values.of_scopes[event.scope_id].push_back({event.metric, event.value});
    return;
  }
  PlaceId place = path_of_context(event.context);
  if (is_captured) place = tables_.places.find(place, path_of_context(event.capture));
  if (data_ == DataKind::kTree) {
    phase->reads.count({place});
    losses_.count_refused(phase->device_values.add(place, event.metric, event.kind, event.value));
    return;
  }
  const uint32_t device = tables_.kernels.find_device("CUDA", event.device_id);
  phase->reads.add_span({place}, event, device);
  phase->value_spans.push_back(
      {place, device, event.lane, event.time_ns, {event.metric, event.value}});
}

void DeviceBooking::book_kernel_value(const ValueEvent& event, DevicePhase& phase) {
  KernelEvent kernel;
  kernel.device_type = "CUDA";
  kernel.device_id = event.device_id;
  kernel.context = event.context;
  kernel.capture = event.capture;
  uint32_t op_id = 0;
  const ContextId named_by = event.capture == kNoContext ? event.context : event.capture;
  const Op* op = process.contexts.op(named_by, op_id, is_python());
  if (op == nullptr || op->name.empty()) {  // no kernel can be told from others
    return losses_.count(losses::kLostValue);
  }
  const PlaceId place = place_of(kernel);
  const uint32_t number = tables_.kernels.kernel_of(kernel, op, op_id);
  if (data_ == DataKind::kTrace) {
    phase.reads.add_span({place, number}, event, tables_.kernels.all()[number].device);
    tables_.values.of_kernels[event.correlation].push_back(
        {place, number, {event.metric, event.value}});
    return;
  }
  phase.reads.count({place, number});
  losses_.count_refused(phase.kernel_metrics.add(row_of(phase, place, number), event.metric,
                                                 event.kind, event.value));
}

void DeviceBooking::set_sampling(SamplingFacts facts) {
  auto sampling = std::make_shared<const Sampling>(std::move(facts));
  std::lock_guard lock(mutex_);
  tables_.sampling.swap(sampling);
  books_more_ = true;
}

/// Samples have no launch to belong to: they are of the phase in which they arrive.
void DeviceBooking::on_samples(const SampleBatch& batch) noexcept {
  book_locked([&] {
    SampleTable& table = phases_.current().samples;
    const uint32_t device = tables_.kernels.find_device(batch.device_type, batch.device_id);
    std::vector<uint32_t> reasons;
    reasons.reserve(batch.reasons.size());
    for (const std::string& reason : batch.reasons) {
      reasons.push_back(tables_.reasons.intern(reason));
    }
    std::string_view last_name;  // pcs of one function come together
    uint64_t last_module = 0;
    uint32_t function = 0;
    for (const SampledPc& pc : batch.pcs) {
      if (&pc == batch.pcs.data() || pc.module != last_module || pc.function != last_name) {
        const NameId symbol = tables_.kernels.names.intern(pc.function);
        function = table.function_of({symbol, device, pc.module});
        last_name = pc.function;
        last_module = pc.module;
      }
      table.add(function, pc.pc, reasons, pc.samples, pc.latency);
    }
  });
}

// ---- what instrumented kernels recorded about themselves ----

void DeviceBooking::on_recorded(const RecordedLaunch& launch) noexcept {
  book_locked([&] {
    book_regions(launch, !has_kernel_times());
    event_count_.fetch_add(1, std::memory_order_relaxed);
  });
}

void DeviceBooking::add_regions(RecordedLaunch launch) {
  std::lock_guard lock(mutex_);
  book_regions(std::move(launch), false);
}

void DeviceBooking::book_regions(RecordedLaunch launch, bool with_time) {
  KernelEvent event;
  event.context = launch.context;
  event.name = launch.kernel;
  event.device_type = launch.device_type;
  event.device_id = launch.device_id;
  event.lane = launch.lane;
  DevicePhase& phase =
      launch.phase.has_value() ? or_current(phases_.find(*launch.phase)) : phases_.current();
  const Booked booked = locate_recorded(phase, event, launch.is_captured);
  ++phase.event_changes;
  if (with_time && launch.set_times(event)) book(event, booked, phase);
  if (data_ == DataKind::kTree) {
    phase.regions.add(booked.row, launch, tables_.kernels.names);
    return;
  }
  keep_recorded(std::move(launch), booked, phase);
}

/// Where a kernel is booked in a phase; a captured one at its capture, below its replay if another
/// backend saw one.
DeviceBooking::Booked DeviceBooking::locate_recorded(DevicePhase& phase, const KernelEvent& event,
                                                     bool is_captured) {
  uint32_t op_id = 0;
  const Op* op =
      uses_launch_metadata() ? process.contexts.op(event.context, op_id, is_python()) : nullptr;
  tables_.kernels.forget_last_device();
  const uint32_t kernel = tables_.kernels.kernel_of(event, op, op_id);
  tables_.kernels.forget_last_device();
  const PlaceId place =
      is_captured ? phase.place_of_captured(tables_.places, path_of_context(event.context), kernel)
                  : place_of(event);
  return {place, kernel, row_of(phase, place, kernel), op};
}

void DeviceBooking::keep_recorded(RecordedLaunch launch, const Booked& booked, DevicePhase& phase) {
  constexpr uint64_t kMostSpans = uint64_t{1} << 21;  // of a phase
  launch.kernel = {};                                 // `booked` has it
  if (launch.spans.size() > kMostSpans - std::min(kMostSpans, phase.recorded_spans)) {
    losses_.count(losses::kRegionSpans, launch.spans.size());
    launch.spans = {};
  }
  phase.recorded_spans += launch.spans.size();
  phase.recorded.push_back({booked.place, booked.kernel, std::move(launch)});
}

// ---- phases ----

void DeviceBooking::begin_phase(int phase) {
  std::optional<CorrelationId> newest;
  if (newest_launch_ != nullptr) newest = newest_launch_();
  std::lock_guard lock(mutex_);
  phases_.advance(phase, newest);
}

void DeviceBooking::clear_phase(int phase, const HostPhase& on_host) {
  std::shared_ptr<const DevicePhase> cleared;  // freed without the lock
  std::lock_guard lock(mutex_);
  cleared = phases_.share(phase);
  if (cleared == nullptr) return;
  tables_.values.forget(on_host.spans, cleared->kernel_spans);
  tables_.steps.forget(on_host.steps.all);
  if (tables_.steps.is_first()) cleared_ns_ += cleared->time_ns();
  phases_.clear(phase);
}

StepId DeviceBooking::begin_step(int64_t time_ns, bool is_kept) {
  std::optional<CorrelationId> newest;
  if (newest_launch_ != nullptr) newest = newest_launch_();
  std::lock_guard lock(mutex_);
  StepTimes& steps = tables_.steps;
  if (steps.is_first()) {
    steps.switch_on(cleared_ns_ + phases_.time_ns());
    books_more_ = true;
  }
  return steps.begin(time_ns, newest, is_kept);
}

uint64_t DeviceBooking::change_count(int phase) const {
  std::lock_guard lock(mutex_);
  const auto found = phases_.share(phase);
  return found == nullptr ? 0 : found->change_count();
}

bool DeviceBooking::is_complete(int phase) const {
  std::optional<PhaseBoundaries::Launches> launches;
  {
    std::lock_guard lock(mutex_);
    if (phase >= phases_.number()) return false;
    launches = phases_.launches_of(phase);
  }
  if (launches_under_way_ == nullptr) return false;
  return !launches.has_value() ||
         !launches_under_way_(launches->after, launches->until, context_ != ContextKind::kShadow);
}

bool DeviceBooking::is_empty() const {
  std::lock_guard lock(mutex_);
  return event_count() == 0 && phases_.are_empty();
}

DeviceBooking::FoundPhase DeviceBooking::find_phase(int phase) const {
  std::lock_guard lock(mutex_);
  return {phases_.share(phase), phases_.number()};
}

}  // namespace proton
