// The device path of a session: launches, kernels and losses, from any thread.
#include <algorithm>

#include "base/text.h"
#include "model/losses.h"
#include "session/process.h"
#include "session/recording.h"
#include "session/session.h"

namespace proton {

void Session::expect_launches() {
  if (correlations_ == nullptr) correlations_ = std::make_unique<CorrelationMap>();
}

void Session::on_launch(CorrelationId correlation) noexcept {
  if (correlations_ == nullptr || !is_active()) return;
  PathId path = kRootPath;
  if (context_ == ContextKind::kPython && process.hooks.holds_lock() && this_thread != nullptr) {
    path = launch_path(*this_thread, this_thread->stack, true);
  } else {
    path = current_path_unlocked();
  }
  correlations_->put(correlation, path);
}

void Session::on_kernel(const KernelEvent& event) noexcept {
  try {
    std::optional<uint32_t> path;
    if (correlations_ != nullptr) path = correlations_->find(event.correlation);
    std::lock_guard lock(mutex_);
    if (!path.has_value()) count_loss_locked(losses::kUnknownLaunch, 1);
    place_kernel(path.value_or(kRootPath), event, false, 0, nullptr, nullptr);
  } catch (...) {
    count_loss(losses::kInternal);
  }
}

void Session::on_dropped(uint64_t count) noexcept { count_loss(losses::kDropped, count); }

void Session::count_loss(const std::string& kind, uint64_t count) noexcept {
  try {
    std::lock_guard lock(mutex_);
    count_loss_locked(kind, count);
  } catch (...) {  // out of memory: nothing left to say it with
  }
}

void Session::add_kernel(PathId path, uint32_t thread_number, const KernelEvent& event,
                         const SampleList* launch_metrics, const SampleList* metrics) {
  std::lock_guard lock(mutex_);
  place_kernel(path, event, true, thread_number, launch_metrics, metrics);
}

uint32_t Session::intern_kernel(const KernelEvent& event) {
  const std::string device_id = std::to_string(event.device_id);
  auto seen = std::find_if(devices_seen_.begin(), devices_seen_.end(), [&](const DeviceSeen& seen) {
    return seen.type == event.device_type && seen.id == device_id;
  });
  const auto device = static_cast<uint32_t>(seen - devices_seen_.begin());
  if (seen == devices_seen_.end()) {
    devices_seen_.push_back({std::string(event.device_type), device_id});
  }
  const NameId name = kernel_names_.intern(event.name);
  bool is_new;
  uint32_t* kernel = kernel_ids_.find_or_add((uint64_t{name} << 32 | device) + 1, is_new);
  if (is_new) {
    *kernel = static_cast<uint32_t>(kernels_.size());
    kernels_.push_back({name, device});
  }
  return *kernel;
}

void Session::place_kernel(PathId path, const KernelEvent& event, bool has_thread,
                           uint32_t thread_number, const SampleList* launch_metrics,
                           const SampleList* metrics) {
  event_count_.fetch_add(1, std::memory_order_relaxed);
  const uint32_t kernel = intern_kernel(event);
  int64_t end_ns = event.end_ns;
  if (end_ns < event.start_ns) {
    count_loss_locked(losses::kBadTime, 1);
    end_ns = event.start_ns;
  }
  Phase& phase = *current_;
  if (data_ == DataKind::kTrace) {
    auto& stored = phase.kernel_span_metrics;
    const auto first = static_cast<uint32_t>(stored.size());
    for (const SampleList* list : {launch_metrics, metrics}) {
      for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
        stored.push_back({(*list)[i].metric, list->value(i)});
      }
    }
    phase.kernel_spans.push_back({path, kernel, event.lane, thread_number, has_thread,
                                  event.start_ns, end_ns, has_thread ? ++next_flow_id_ : 0, first,
                                  static_cast<uint32_t>(stored.size()) - first});
    return;
  }
  bool is_new;
  uint32_t* row = phase.kernel_index.find_or_add((uint64_t{path} << 32 | kernel) + 1, is_new);
  if (is_new) {
    *row = static_cast<uint32_t>(phase.kernels.size());
    phase.kernels.push_back(
        {next_stamp_.fetch_add(1, std::memory_order_relaxed), path, kernel, 0, 0});
  }
  KernelRow& totals = phase.kernels[*row];
  totals.count += 1;
  totals.time_ns += end_ns - event.start_ns;
  const uint32_t at = *row;
  book_kernel_metrics(at, launch_metrics);
  book_kernel_metrics(at, metrics);
}

void Session::book_kernel_metrics(uint32_t row, const SampleList* metrics) {
  for (size_t i = 0; metrics != nullptr && i < metrics->size(); ++i) {
    const MetricKind kind = process.metric_names.name((*metrics)[i].metric).kind;
    switch (current_->kernel_metrics.add(row, kind, *metrics, i)) {
      case Booking::kBooked:
        break;
      case Booking::kOverflow:
        count_loss_locked(losses::kMetricOverflow, 1);
        break;
      default:
        count_loss_locked(losses::kMetricConflict, 1);
    }
  }
}

}  // namespace proton
