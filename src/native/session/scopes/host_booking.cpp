#include "session/scopes/host_booking.h"

#include <algorithm>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "model/losses.h"
#include "session/scopes/process.h"
#include "session/scopes/scope_events.h"

namespace proton {
namespace {

MetricValue value_of(RangePayload::Kind kind, int64_t integer, double real) {
  return kind == RangePayload::Kind::kReal ? MetricValue(real) : MetricValue(integer);
}

MetricId payload_metric() { return process.metric_names.intern("payload"); }

}  // namespace

HostBooking::HostBooking(ContextKind context, DataKind data, EventSink& sink, LossLog& losses,
                         std::atomic<uint64_t>& use_count)
    : context_(context),
      data_(data),
      sink_(sink),
      losses_(losses),
      use_count_(use_count),
      current_(phases_.emplace(0, std::make_shared<HostPhase>()).first->second.get()) {
  process.add_session(*this);
}

void HostBooking::activate() {
  if (is_active()) return;
  process.drain();  // what has ended so far is not this session's
  step_start_ns_ = activated_ns_ = now_ns();
  if (step_listener_) step_listener_(step_start_ns_, false);
  is_active_.store(true, std::memory_order_relaxed);
  process.update_active();
  process.ranges.next_tick();
  publish_all();
  if (!activity_listener_) return;
  try {
    activity_listener_(true);
  } catch (...) {
    is_active_.store(false, std::memory_order_relaxed);
    process.update_active();
    throw;
  }
}

void HostBooking::deactivate() {
  if (!is_active()) return;
  process.drain();
  if (data_ == DataKind::kTrace) cut_open_spans();
  book_open_times();
  book_entry_metrics();
  is_active_.store(false, std::memory_order_relaxed);
  process.update_active();
  if (activity_listener_) activity_listener_(false);
}

void HostBooking::close() {
  is_active_.store(false, std::memory_order_relaxed);
  is_closed_ = true;
  process.remove_session(*this);
}

void HostBooking::abandon() noexcept {
  activity_listener_ = nullptr;
  is_active_.store(false, std::memory_order_relaxed);
  is_closed_ = true;
}

void HostBooking::mark_step(int64_t time_ns, const std::string& name) {
  MarkedSteps& steps = current_->steps;
  const StepId id = step_listener_ ? step_listener_(time_ns, !steps.is_full()) : 0;
  const MarkedStep step{step_start_ns_, time_ns - step_start_ns_, id};
  step_start_ns_ = time_ns;
  if (!steps.add(step, name)) count_loss(losses::kStep);
}

std::shared_ptr<const HostPhase> HostBooking::find_phase(int phase) const {
  const auto found = phases_.find(phase);
  return found == phases_.end() ? nullptr : found->second;
}

int HostBooking::advance_phase() {
  process.drain();
  if (data_ == DataKind::kTree) book_entry_metrics();
  current_->seen = seen_of(*current_);
  ++phase_;
  ++phase_mark_;
  current_ = phases_.emplace(phase_, std::make_shared<HostPhase>()).first->second.get();
  process.ranges.next_tick();
  return phase_;
}

void HostBooking::clear_phase(int phase) {
  process.drain();
  process.ranges.next_tick();
  if (phase != phase_) {
    phases_.erase(phase);
    return;
  }
  std::shared_ptr<HostPhase>& slot = phases_[phase];
  const uint64_t changes = slot->change_count();
  slot = std::make_shared<HostPhase>();
  slot->metric_changes = changes + 1;
  current_ = slot.get();
  std::ranges::fill(uses_, PathUse());
}

bool HostBooking::is_empty() const {
  process.drain();
  return std::all_of(phases_.begin(), phases_.end(),
                     [](const auto& phase) { return phase.second->is_empty(); });
}

[[gnu::noinline]] void HostBooking::add_new_path(PathId path) {  // so that `add_path` stays small
  if (path >= uses_.size()) uses_.resize(std::max<size_t>(path + 1, process.paths.size() * 2));
  const bool is_new = uses_[path].phase_mark == 0;
  uses_[path] = {0, phase_mark_};
  if (path == kRootPath) return;
  current_->seen.push_back({use_count_.fetch_add(1, std::memory_order_relaxed), path});
  if (!is_new) return;
  const FrameId frame = process.paths.frame(path);
  const auto& invalid = process.invalid_names;
  if (frame.kind() != FrameKind::kPython && frame.number() < invalid.size() &&
      invalid[frame.number()] != 0) {
    losses_.count(losses::kInvalidText);
  }
}

void HostBooking::book_scope(PathId path, PathId place, const ScopeEntry& entry, int64_t end_ns,
                             const SampleList& metrics) {
  add_path(path);
  if (data_ == DataKind::kTrace) return add_span(path, entry, end_ns, metrics);
  book_time(path, entry, end_ns);
  if (place != path) add_path(place);
  if (!entry_metrics_.empty()) book_samples(place, take_metrics(entry));
  book_samples(place, metrics);
}

void HostBooking::book_time(PathId path, const ScopeEntry& entry, int64_t end_ns) {
  if (!entry.is_timed) return;
  ++current_->metric_changes;
  const MetricId metric = process.metric_names.cpu_time();
  const MetricValue elapsed = end_ns - span_start(entry);
  losses_.count_refused(current_->scope_metrics.add(path, metric, MetricKind::kExclusive, elapsed));
}

SampleList HostBooking::take_metrics(const ScopeEntry& entry) {
  auto pending = entry_metrics_.extract(entry.scope_id);
  return pending.empty() ? SampleList() : std::move(pending.mapped().metrics);
}

/// Books what was given at entries: whether those scopes are captured will not be known here.
void HostBooking::book_entry_metrics() {
  auto pending = std::move(entry_metrics_);
  entry_metrics_.clear();
  if (data_ == DataKind::kTrace) return;  // their spans are cut, and carry them
  for (const auto& [scope_id, given] : pending) {
    try {
      book_samples(given.path, given.metrics);
    } catch (const Error&) {
      losses_.count(losses::kMetricConflict);
    }
  }
}

void HostBooking::book_metrics(PathId path, const ScopeEntry& entry, const SampleList& metrics) {
  add_path(path);
  if (data_ == DataKind::kTree && !counts_replays()) return book_samples(path, metrics);
  // Traces show them on the scope's span. In a tree they wait as well: a scope that is captured
  // into a graph counts whenever the graph runs.
  entry_metrics_.try_emplace(entry.scope_id, EntryMetrics{path, {}})
      .first->second.metrics.add_all(metrics);
}

void HostBooking::book_samples(PathId path, const SampleList& metrics) {
  size_t clash = metrics.size();
  Booking first_clash = Booking::kBooked;
  if (metrics.size() > 0) ++current_->metric_changes;
  for (size_t i = 0; i < metrics.size(); ++i) {
    const MetricKind kind = process.metric_names.name(metrics[i].metric).kind;
    const Booking booking = current_->scope_metrics.add(path, kind, metrics, i);
    if (booking == Booking::kOverflow) {
      losses_.count(losses::kMetricOverflow);
    } else if (booking != Booking::kBooked && first_clash == Booking::kBooked) {
      clash = i;
      first_clash = booking;
    }
  }
  if (first_clash != Booking::kBooked) {
    refuse(first_clash, path, metrics[clash].metric, metrics.value(clash));
  }
  for (const DeviceSample& sample : metrics.device()) {
    const MetricKind kind = process.metric_names.name(sample.metric).kind;
    if (sample.is_captured || kind == MetricKind::kProperty) continue;
    // The value comes later: only its type can be judged now.
    const Booking booking = current_->scope_metrics.add(path, sample.metric, kind, sample.zero);
    if (booking != Booking::kBooked) refuse(booking, path, sample.metric, sample.zero);
  }
}

[[gnu::noinline]] void HostBooking::refuse(Booking booking, PathId path, MetricId metric,
                                           const MetricValue& value) {
  const std::string node = process.frame_name(process.paths.frame(path));
  const std::string& key = process.metric_names.name(metric).key;
  const MetricValue& standing = current_->scope_metrics.value(path, metric);
  const char* what = booking == Booking::kLengthClash ? "length" : "type";
  throw Error(ErrorKind::kUsage,
              concat("metric ", quote(key), " of ", quote(node), " changed its ", what, " from ",
                     type_name(standing), " to ", type_name(value),
                     "; the value was not recorded, give every value of a metric one ", what));
}

int64_t HostBooking::span_start(const ScopeEntry& entry) const {
  return std::max(entry.start_ns, activated_ns_);
}

void HostBooking::add_span(PathId path, const ScopeEntry& entry, int64_t end_ns,
                           const SampleList& metrics) {
  auto& stored = current_->span_metrics;
  const auto first = static_cast<uint32_t>(stored.size());
  const auto store = [&](const SampleList& samples) {
    for (size_t i = 0; i < samples.size(); ++i) {
      stored.push_back({samples[i].metric, samples.value(i)});
    }
  };
  if (!entry_metrics_.empty()) store(take_metrics(entry));
  store(metrics);
  if (entry.is_timed) {
    stored.push_back({process.metric_names.cpu_time(), end_ns - span_start(entry)});
  }
  const auto count = static_cast<uint32_t>(stored.size()) - first;
  current_->spans.push_back({count == 0 ? SpanKind::kScope : SpanKind::kMetric, path,
                             entry.thread_number, span_start(entry), end_ns, entry.scope_id, first,
                             count});
}

template <typename Visit>
void HostBooking::visit_open_scopes(Visit visit) const {
  for_each_open([&](ScopeEntry& entry) {
    const PathId shadow = path_of(&entry);
    if (context_ == ContextKind::kPython && !entry.has_frames_path) return;
    visit(context_ == ContextKind::kPython ? entry.frames_path : shadow, entry);
  });
}

void HostBooking::book_open_times() {
  if (data_ != DataKind::kTree) return;
  const int64_t end_ns = now_ns();
  visit_open_scopes([&](PathId path, const ScopeEntry& entry) {
    if (entry.is_timed) add_path(path);
    book_time(path, entry, end_ns);
  });
}

void HostBooking::cut_open_spans() {
  const int64_t end_ns = now_ns();
  visit_open_scopes([&](PathId path, const ScopeEntry& entry) {
    add_path(path);
    add_span(path, entry, end_ns, SampleList());
  });
  for (const RangeSpan& span : process.ranges.open_spans()) book_range(span);
}

std::vector<HostSpan> HostBooking::open_spans() const {
  std::vector<HostSpan> spans;
  const int64_t end_ns = now_ns();
  visit_open_scopes([&](PathId path, const ScopeEntry& entry) {
    spans.push_back(
        {SpanKind::kScope, path, entry.thread_number, span_start(entry), end_ns, entry.scope_id});
  });
  for (const RangeSpan& span : process.ranges.open_spans()) spans.push_back(span_of_range(span));
  return spans;
}

std::vector<SeenPath> HostBooking::seen_of(const HostPhase& phase) const {
  std::vector<SeenPath> seen = phase.seen;
  if (&phase != current_) return seen;
  for (SeenPath& one : seen) one.entries = uses_[one.path].entries;
  return seen;
}

std::vector<MetricCell> HostBooking::metrics_of(const HostPhase& phase) const {
  std::vector<MetricCell> cells = phase.scope_metrics.cells();
  if (&phase != current_) return cells;
  for (const auto& [scope_id, pending] : entry_metrics_) {
    for (size_t i = 0; i < pending.metrics.size(); ++i) {
      cells.push_back({pending.path, pending.metrics[i].metric, pending.metrics.value(i)});
    }
  }
  return cells;
}

void HostBooking::book_operator(PathId path, uint64_t calls, int64_t time_ns) {
  if (data_ != DataKind::kTree || context_ != ContextKind::kOps) return;
  add_path(path);
  ++current_->metric_changes;
  const auto add = [&](MetricId metric, int64_t value) {
    const MetricKind kind = process.metric_names.name(metric).kind;
    losses_.count_refused(current_->scope_metrics.add(path, metric, kind, value));
  };
  add(process.metric_names.cpu_time(), time_ns);
  add(process.metric_names.calls(), static_cast<int64_t>(calls));
}

PathId HostBooking::path_of_range(const OpenRange& range) const {
  if (context_ != ContextKind::kPython || range.frames == kNoContext) {
    return process.ranges.path(range.context);
  }
  return process.paths.child(process.ranges.path(range.frames),
                             process.paths.frame(process.ranges.path(range.context)));
}

HostSpan HostBooking::span_of_range(const RangeSpan& span) const {
  HostSpan result{};
  result.kind = span.is_mark ? SpanKind::kMark : SpanKind::kScope;
  result.path = path_of_range(span.range);
  result.thread_number = span.thread_number;
  result.start_ns = std::max(span.range.start_ns, activated_ns_);
  result.end_ns = std::max(span.end_ns, result.start_ns);
  result.scope_id = ++process.next_scope_id;
  result.category = span.range.category;
  return result;
}

void HostBooking::book_range(const RangeSpan& span) {
  if (data_ != DataKind::kTrace) return;
  HostSpan stored = span_of_range(span);
  add_path(stored.path);
  const RangePayload& payload = span.range.payload;
  if (payload.kind != RangePayload::Kind::kNone) {
    if (!span.is_mark) stored.kind = SpanKind::kMetric;
    stored.first_metric = static_cast<uint32_t>(current_->span_metrics.size());
    stored.metric_count = 1;
    current_->span_metrics.push_back(
        {payload_metric(), value_of(payload.kind, payload.integer, payload.real)});
  }
  current_->spans.push_back(stored);
}

void HostBooking::book_range_sum(const RangeSum& sum) {
  if (data_ != DataKind::kTree) return;
  const bool has_frames = context_ == ContextKind::kPython && sum.frames != kNoContext;
  const PathId path = process.ranges.path(has_frames ? sum.frames : sum.context);
  add_path(path);
  ++current_->metric_changes;
  const auto add = [&](MetricId metric, const MetricValue& value) {
    const MetricKind kind = process.metric_names.name(metric).kind;
    losses_.count_refused(current_->scope_metrics.add(path, metric, kind, value));
  };
  if (sum.is_mark) add(process.metric_names.intern("marks"), sum.count);
  if (sum.kind != RangePayload::Kind::kNone) {
    add(payload_metric(), value_of(sum.kind, sum.integer, sum.real));
  }
}

}  // namespace proton
