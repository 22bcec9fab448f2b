// What instrumented kernels recorded about themselves, on its way to rows and spans.
#include <algorithm>
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

PlaceId Session::place_of_captured(const Phase& phase, PathId capture, uint32_t kernel) {
  const auto is_of_capture = [&](PlaceId place) {
    return (place & kLaunchBit) != 0 && captured_places_[place & ~kLaunchBit].capture == capture;
  };
  for (const KernelRow& row : phase.kernels) {
    if (row.kernel == kernel && is_of_capture(row.place)) return row.place;
  }
  for (const KernelSpan& span : phase.kernel_spans) {
    if (span.kernel == kernel && is_of_capture(span.place)) return span.place;
  }
  return captured_place(kRootPath, capture);
}

void Session::add_recorded(RecordedLaunch launch) { add_recorded(std::move(launch), false); }

void Session::add_recorded(RecordedLaunch launch, bool with_time) {
  KernelEvent event;
  event.context = launch.context;
  event.name = launch.kernel;
  event.device_type = launch.device_type;
  event.device_id = launch.device_id;
  event.lane = launch.lane;
  std::lock_guard lock(mutex_);
  // Devices are remembered by the address of their type's text, which is not ours to keep.
  last_device_type_ = nullptr;
  Phase& phase = phase_numbered(launch.phase);
  const Booked at = locate_in(phase, event, launch.is_captured);
  last_device_type_ = nullptr;
  ++phase.event_count;
  if (with_time) book_recorded(launch, event, at, phase);
  last_device_type_ = nullptr;
  if (data_ == DataKind::kTree) {
    phase.regions.add(at.row, launch, kernel_names_);
    return;
  }
  keep_recorded(std::move(launch), at, phase);
}

void Session::keep_recorded(RecordedLaunch launch, const Booked& booked, Phase& phase) {
  constexpr uint64_t kMostSpans = uint64_t{1} << 21;  // of a phase
  launch.kernel = {};                                 // `booked` has it
  if (launch.spans.size() > kMostSpans - std::min(kMostSpans, phase.recorded_spans)) {
    count_loss_locked(losses::kRegionSpans, launch.spans.size());
    launch.spans = {};
  }
  phase.recorded_spans += launch.spans.size();
  phase.recorded.push_back({booked.place, booked.kernel, std::move(launch)});
}

void Session::on_recorded(const RecordedLaunch& launch) noexcept {
  try {
    add_recorded(launch, !has_kernel_times());
    event_count_.fetch_add(1, std::memory_order_relaxed);
  } catch (...) {
    count_loss(losses::kInternal);
  }
}

}  // namespace proton
