// What instrumented kernels recorded about themselves, on its way to rows and spans.
#include <utility>

#include "model/losses.h"
#include "session/session.h"

namespace proton {

Phase& Session::phase_numbered(std::optional<int> number) {
  if (!number.has_value()) return *current_;
  if (auto found = phases_.find(*number); found != phases_.end()) return *found->second;
  count_loss_locked(losses::kLate, 1);
  return *current_;
}

void Session::add_recorded(RecordedLaunch launch) {
  KernelEvent event;
  event.context = launch.context;
  event.name = launch.kernel;
  event.device_type = launch.device_type;
  event.device_id = launch.device_id;
  std::lock_guard lock(mutex_);
  // Devices are remembered by the address of their type's text, which is not ours to keep.
  last_device_type_ = nullptr;
  Phase& phase = phase_numbered(launch.phase);
  const Booked at = locate_in(phase, event);
  last_device_type_ = nullptr;
  ++phase.event_count;
  if (data_ == DataKind::kTree) {
    phase.regions.add(at.row, launch, kernel_names_);
    return;
  }
  launch.kernel = {};  // `at` has it
  phase.recorded.push_back({at.place, at.kernel, std::move(launch)});
}

}  // namespace proton
