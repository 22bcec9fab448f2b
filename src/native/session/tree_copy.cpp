#include "session/tree_copy.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/text.h"
#include "session/process.h"

namespace proton {
namespace {

constexpr size_t kSliceRows = 2048;  // a fraction of a millisecond
/// Whoever waits for the mutex gets it in a pause; without one this thread would take it again
/// first.
constexpr std::chrono::microseconds kPause{1};

/// The rows that there are at the first look: they are only added to, or change in place.
template <typename Row>
void copy_in_slices(std::mutex& mutex, const std::vector<Row>& rows, std::vector<Row>& copied) {
  size_t count = 0;
  for (bool is_first = true; is_first || copied.size() < count; is_first = false) {
    if (!is_first) std::this_thread::sleep_for(kPause);
    std::lock_guard lock(mutex);
    if (is_first) {
      count = rows.size();
      copied.reserve(count);
    }
    const auto from = rows.begin() + static_cast<ptrdiff_t>(copied.size());
    const size_t slice = std::min(kSliceRows, count - copied.size());
    copied.insert(copied.end(), from, from + static_cast<ptrdiff_t>(slice));
  }
}

void follow_range(uint32_t& place) {
  if (is_range(place)) place = process.ranges.path(place);
}

}  // namespace

TreeCopy::TreeCopy(const Session& session, int phase) : session_(&session) {
  session.expect_phase(phase, DataKind::kTree);
  phase_ = session.phases_.at(phase);
}

void TreeCopy::copy_device_part() {
  // Metrics before the rows they refer to, rows before their kernels and places: what is referred
  // to is there by the time it is copied.
  std::mutex& mutex = session_->mutex_;
  copy_in_slices(mutex, phase_->kernel_metrics.cells(), kernel_metrics);
  copy_in_slices(mutex, phase_->replay_metrics.cells(), replay_metrics);
  copy_in_slices(mutex, phase_->device_values.cells(), device_values);
  copy_in_slices(mutex, phase_->kernels, kernels);
  std::lock_guard lock(mutex);
  kernel_kinds = session_->kernels_;
  kernel_names = session_->kernel_names_.texts();
  captured_places = session_->captured_places_;
}

void TreeCopy::copy_host_part(Value::Map header) {
  process.ranges.drain();
  process.ranges.resolve_all();
  process.resolve_frames();  // may run code of the program's
  if (session_->is_closed()) {
    throw Error(ErrorKind::kSessionNotFound,
                concat("session ", session_->id(), " is not open; it was finalized"));
  }
  seen = phase_->seen;
  scope_metrics = phase_->scope_metrics.cells();
  if (phase_.get() == session_->current_) {
    for (const auto& [scope_id, given] : session_->pending_metrics_) {
      for (size_t i = 0; i < given.metrics.size(); ++i) {
        scope_metrics.push_back({given.path, given.metrics[i].metric, given.metrics.value(i)});
      }
    }
  }
  metric_names = process.metric_names.all();
  copy_paths();
  std::lock_guard lock(session_->mutex_);
  devices = session_->devices_seen_;
  limits = session_->sm_limits_locked();
  summary = session_->summary_locked(std::move(header));
}

/// Turns ranges into their paths, which may make some, and then takes the paths.
void TreeCopy::copy_paths() {
  for (KernelRow& kernel : kernels) follow_range(kernel.place);
  for (MetricCell& cell : device_values) follow_range(cell.row);
  for (MetricCell& cell : replay_metrics) follow_range(cell.row);
  for (MetricCell& cell : scope_metrics) follow_range(cell.row);
  for (SeenPath& sight : seen) follow_range(sight.path);
  for (CapturedPlace& place : captured_places) {
    follow_range(place.replay);
    if (place.is_seen()) follow_range(place.capture);
  }
  paths = process.paths.rows();
  names = process.names.texts();
  frame_texts = process.frame_texts;
}

std::string TreeCopy::frame_name(FrameId frame) const {
  if (frame.kind() == FrameKind::kRoot) return "ROOT";
  return names[frame.is_position() ? frame_texts[frame.number()] : frame.number()];
}

}  // namespace proton
