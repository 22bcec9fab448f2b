#include "session/session.h"

#include <algorithm>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "model/losses.h"
#include "session/scopes/process.h"
#include "session/scopes/scope_events.h"

namespace proton {

Session::Session(int64_t id, ContextKind context, DataKind data)
    : id_(id),
      context_(context),
      data_(data),
      base_host_ns_(now_ns()),
      base_unix_ns_(unix_now_ns()),
      current_(phases_.emplace(0, std::make_shared<Phase>(0)).first->second.get()) {
  process.add_session(*this);
}

Session::~Session() {
  if (!is_closed_) close();
}

void Session::activate() {
  if (is_active()) return;
  process.ranges.drain();  // what has ended so far is not this session's
  activated_ns_ = now_ns();
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

void Session::deactivate() {
  if (!is_active()) return;
  process.ranges.drain();
  if (data_ == DataKind::kTrace) cut_open_spans();
  settle_metrics();
  is_active_.store(false, std::memory_order_relaxed);
  process.update_active();
  if (activity_listener_) activity_listener_(false);
}

void Session::close() {
  is_active_.store(false, std::memory_order_relaxed);
  is_closed_ = true;
  process.remove_session(*this);
}

void Session::abandon() noexcept {
  activity_listener_ = nullptr;
  is_active_.store(false, std::memory_order_relaxed);
  is_closed_ = true;
}

int Session::advance_phase() {
  process.ranges.drain();
  const int next = current_->number + 1;
  if (data_ == DataKind::kTree) settle_metrics();
  auto phase = std::make_shared<Phase>(next);
  const CorrelationId newest = newest_launch_ == nullptr ? 0 : newest_launch_();
  std::lock_guard lock(mutex_);
  if (newest_launch_ != nullptr) boundaries_.add(newest, next);
  current_ = phases_.emplace(next, std::move(phase)).first->second.get();
  mark_ = static_cast<uint32_t>(next) + 1;
  process.ranges.next_tick();
  return next;
}

void Session::clear_phase(int phase) {
  process.ranges.drain();
  process.ranges.next_tick();
  std::lock_guard lock(mutex_);
  if (auto found = phases_.find(phase); found != phases_.end()) forget_values(*found->second);
  if (phase != current_->number) {
    phases_.erase(phase);
    boundaries_.drop(phase, [&](int each) { return !phases_.contains(each); });
    return;
  }
  std::shared_ptr<Phase>& slot = phases_[phase];
  const uint64_t changes = slot->change_count();
  slot = std::make_shared<Phase>(phase);
  slot->host_change_count = changes + 1;
  current_ = slot.get();
  std::fill(marks_.begin(), marks_.end(), 0);
}

uint64_t Session::change_count(int phase) const {
  process.ranges.drain();
  std::lock_guard lock(mutex_);
  const auto found = phases_.find(phase);
  return found == phases_.end() ? 0 : found->second->change_count() + 1;
}

bool Session::is_settled(int phase) const {
  std::optional<PhaseBoundaries::Launches> launches;
  {
    std::lock_guard lock(mutex_);
    if (phase >= current_->number) return false;
    launches = boundaries_.launches_of(phase);
  }
  if (launches_under_way_ == nullptr) return false;
  return !launches.has_value() ||
         !launches_under_way_(launches->after, launches->until, context_ == ContextKind::kPython);
}

bool Session::is_empty() const {
  process.ranges.drain();
  std::lock_guard lock(mutex_);
  return event_count() == 0 && std::all_of(phases_.begin(), phases_.end(), [](const auto& phase) {
           return phase.second->is_empty();
         });
}

[[gnu::noinline]] void Session::see_first(PathId path) {  // `see` stays small
  if (path >= marks_.size()) marks_.resize(std::max<size_t>(path + 1, process.paths.size() * 2));
  const bool is_new = marks_[path] == 0;
  marks_[path] = mark_;
  if (path == kRootPath) return;
  current_->seen.push_back({next_stamp_.fetch_add(1, std::memory_order_relaxed), path});
  if (!is_new) return;
  const FrameId frame = process.paths.frame(path);
  const auto& invalid = process.invalid_names;
  if (frame.kind() != FrameKind::kPython && frame.number() < invalid.size() &&
      invalid[frame.number()] != 0) {
    count_loss(losses::kInvalidText);
  }
}

void Session::book_scope(PathId path, const ScopeEntry& entry, int64_t end_ns,
                         const SampleList& metrics) {
  see(path);
  if (data_ == DataKind::kTrace) return add_span(path, entry, end_ns, metrics);
  if (entry.is_timed) {
    ++current_->host_change_count;
    const MetricId metric = process.metric_names.cpu_time();
    const MetricValue elapsed = end_ns - span_start(entry);
    if (current_->scope_metrics.add(path, metric, MetricKind::kExclusive, elapsed) !=
        Booking::kBooked) {
      count_loss(losses::kMetricConflict);
    }
  }
  if (!pending_metrics_.empty()) book_samples(path, take_metrics(entry));
  book_samples(path, metrics);
}

SampleList Session::take_metrics(const ScopeEntry& entry) {
  auto pending = pending_metrics_.extract(entry.scope_id);
  return pending.empty() ? SampleList() : std::move(pending.mapped().metrics);
}

/// Books what was given at entries: whether those scopes are captured will not be known here.
void Session::settle_metrics() {
  auto pending = std::move(pending_metrics_);
  pending_metrics_.clear();
  if (data_ == DataKind::kTrace) return;  // their spans are cut, and carry them
  for (const auto& [scope_id, given] : pending) {
    try {
      book_samples(given.path, given.metrics);
    } catch (const Error&) {
      count_loss(losses::kMetricConflict);
    }
  }
}

void Session::book_metrics(PathId path, const ScopeEntry& entry, const SampleList& metrics) {
  see(path);
  if (data_ == DataKind::kTree && !counts_replays()) return book_samples(path, metrics);
  // Traces show them on the scope's span. In a tree they wait as well: a scope that is captured
  // into a graph counts whenever the graph runs.
  pending_metrics_.try_emplace(entry.scope_id, EntryMetrics{path, {}})
      .first->second.metrics.add_all(metrics);
}

void Session::book_samples(PathId path, const SampleList& metrics) {
  size_t clash = metrics.size();
  Booking first_clash = Booking::kBooked;
  if (metrics.size() > 0) ++current_->host_change_count;
  for (size_t i = 0; i < metrics.size(); ++i) {
    const MetricKind kind = process.metric_names.name(metrics[i].metric).kind;
    const Booking booking = current_->scope_metrics.add(path, kind, metrics, i);
    if (booking == Booking::kOverflow) {
      count_loss(losses::kMetricOverflow);
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

[[gnu::noinline]] void Session::refuse(Booking booking, PathId path, MetricId metric,
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

int64_t Session::span_start(const ScopeEntry& entry) const {
  return std::max(entry.start_ns, activated_ns_);
}

void Session::add_span(PathId path, const ScopeEntry& entry, int64_t end_ns,
                       const SampleList& metrics) {
  auto& stored = current_->span_metrics;
  const auto first = static_cast<uint32_t>(stored.size());
  const auto store = [&](const SampleList& samples) {
    for (size_t i = 0; i < samples.size(); ++i) {
      stored.push_back({samples[i].metric, samples.value(i)});
    }
  };
  if (!pending_metrics_.empty()) store(take_metrics(entry));
  store(metrics);
  if (entry.is_timed) {
    stored.push_back({process.metric_names.cpu_time(), end_ns - span_start(entry)});
  }
  const auto count = static_cast<uint32_t>(stored.size()) - first;
  current_->spans.push_back({count == 0 ? SpanKind::kScope : SpanKind::kMetric, path,
                             entry.thread_number, span_start(entry), end_ns, entry.scope_id, first,
                             count});
}

void Session::cut_open_spans() {
  const int64_t end_ns = now_ns();
  for_each_open([&](ScopeEntry& entry) {
    const PathId shadow = path_of(&entry);
    if (context_ == ContextKind::kPython && !entry.has_frames_path) return;
    const PathId path = context_ == ContextKind::kPython ? entry.frames_path : shadow;
    see(path);
    add_span(path, entry, end_ns, SampleList());
  });
  for (const RangeSpan& span : process.ranges.open_spans()) book_range(span);
}

void Session::add_device(std::string type, std::string id, Value::Map attributes) {
  for (DeviceEntry& device : devices_) {
    if (device.type == type && device.id == id) {
      device.attributes = std::move(attributes);
      return;
    }
  }
  devices_.push_back({std::move(type), std::move(id), std::move(attributes)});
}

void Session::warn(const std::string& text) {
  std::lock_guard lock(mutex_);
  for (auto& [known, count] : warnings_) {
    if (known == text) {
      ++count;
      return;
    }
  }
  warnings_.emplace_back(text, 1);
}

std::vector<std::string> Session::warnings() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> lines;
  for (const auto& [text, count] : warnings_) {
    lines.push_back(count == 1 ? text : concat(text, " (", count, " times)"));
  }
  return lines;
}

std::map<std::string, uint64_t> Session::losses() const {
  process.ranges.drain();
  std::lock_guard lock(mutex_);
  return losses_;
}

}  // namespace proton
