#include "session/snapshot/phase_copy.h"

#include <mutex>

#include "base/error.h"
#include "base/text.h"
#include "session/scopes/process.h"
#include "session/snapshot/slices.h"

namespace proton {
namespace {

void follow_range(uint32_t& place) {
  if (is_range(place)) place = process.ranges.path(place);
}

}  // namespace

TreeCopy::TreeCopy(const Session& session, int phase)
    : TreeCopy(session, session.find_phase(phase, DataKind::kTree)) {}

TreeCopy::TreeCopy(const Session& session, std::shared_ptr<const Phase> phase)
    : samples(session, phase), session_(&session), phase_(std::move(phase)) {}

void TreeCopy::copy_device_part() {
  // Metrics before the rows they refer to, rows before their kernels and places: what is referred
  // to is there by the time it is copied.
  std::mutex& mutex = session_->mutex_;
  samples.copy_device_part();
  copy_in_slices(mutex, phase_->kernel_metrics.cells(), kernel_metrics);
  copy_in_slices(mutex, phase_->replay_metrics.cells(), replay_metrics);
  copy_in_slices(mutex, phase_->device_values.cells(), device_values);
  copy_in_slices(mutex, phase_->regions.rows(), regions);
  copy_in_slices(mutex, phase_->kernels, kernels);
  std::lock_guard lock(mutex);
  kernel_kinds = session_->kernels_;
  kernel_names = session_->kernel_names_.texts();
  captured_places = session_->captured_places_;
}

void TreeCopy::copy_host_part(Value::Map header) {
  process.ranges.drain();
  process.ranges.resolve_all();
  samples.copy_host_part();  // may run code of the program's
  process.resolve_frames();  // so may this, last: later paths would lack their texts
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
  for (TimedSymbol& timed : samples.timed) follow_range(timed.place);
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
