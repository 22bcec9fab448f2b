// Metric values that came from devices, long after the call that gave them.
#include "model/losses.h"
#include "session/scopes/process.h"
#include "session/session.h"

namespace proton {

void Session::on_values(std::span<const ValueEvent> values) noexcept {
  try {
    std::lock_guard lock(mutex_);
    for (const ValueEvent& event : values) book_value(event);
  } catch (...) {
    count_loss(losses::kInternal);
  }
}

void Session::book_value(const ValueEvent& event) {
  if (event.is_of_kernel) return book_kernel_value(event);
  const bool is_captured = event.capture != kNoContext;
  if (data_ == DataKind::kTrace && !is_captured) {
    scope_values_[event.scope_id].push_back({event.metric, event.value});
    return;
  }
  const PathId path =
      event.context >= kUnknownContext ? kRootPath : process.contexts.path(event.context);
  const PlaceId place =
      is_captured ? captured_place(path, process.contexts.path(event.capture)) : PlaceId{path};
  Phase* phase = current_;
  if (is_captured) {
    phase = &phase_of(event.correlation);
  } else if (auto found = phases_.find(event.phase); found != phases_.end()) {
    phase = found->second.get();
  } else {
    return count_loss_locked(losses::kLate, 1);
  }
  if (data_ == DataKind::kTree) {
    count_booking(phase->device_values.add(place, event.metric, event.kind, event.value));
    return;
  }
  const uint32_t device = find_device("CUDA", event.device_id);
  phase->value_spans.push_back(
      {place, device, event.lane, event.time_ns, {event.metric, event.value}});
}

void Session::book_kernel_value(const ValueEvent& event) {
  if (!uses_launch_metadata()) return;
  KernelEvent kernel;
  kernel.device_type = "CUDA";
  kernel.device_id = event.device_id;
  kernel.context = event.context;
  kernel.capture = event.capture;
  kernel.correlation = event.correlation;
  uint32_t op_id = 0;
  const ContextId named_by = event.capture == kNoContext ? event.context : event.capture;
  const Op* op = process.contexts.op(named_by, op_id);
  if (op == nullptr || op->name.empty()) {  // no kernel can be told from others
    return count_loss_locked(losses::kLostValue, 1);
  }
  const Booked at = locate(kernel, op, op_id);
  if (data_ == DataKind::kTrace) {
    kernel_values_[event.correlation].push_back({at.place, at.kernel, {event.metric, event.value}});
    return;
  }
  count_booking(phase_of(event.correlation)
                    .kernel_metrics.add(at.row, event.metric, event.kind, event.value));
}

void Session::forget_values(const Phase& phase) {
  if (!scope_values_.empty()) {
    for (const HostSpan& span : phase.spans) scope_values_.erase(span.scope_id);
  }
  if (!kernel_values_.empty()) {
    for (const KernelSpan& span : phase.kernel_spans) kernel_values_.erase(span.correlation);
  }
}

}  // namespace proton
