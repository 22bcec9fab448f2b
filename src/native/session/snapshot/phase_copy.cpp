#include "session/snapshot/phase_copy.h"

#include "base/error.h"
#include "base/text.h"
#include "session/scopes/process.h"
#include "session/scopes/scope_events.h"

namespace proton {
namespace {

void follow_range(uint32_t& place) {
  if (is_range(place)) place = process.ranges.path(place);
}

}  // namespace

PhaseCopy::PhaseCopy(const Session& session, int phase)
    : PhaseCopy(session, phase, session.find_phase(phase, DataKind::kTree)) {}

PhaseCopy::PhaseCopy(const Session& session, int phase,
                     std::shared_ptr<const DevicePhase> device_phase)
    : filter(session.host.context()),
      samples(session, device_phase),
      session_(session),
      device_phase_(std::move(device_phase)),
      host_phase_(session.host.find_phase(phase)) {}

void PhaseCopy::copy_device_part() {
  // Metrics before the rows they refer to, rows before their kernels and places: what is referred
  // to is there by the time it is copied.
  const DeviceBooking& device = session_.device;
  samples.copy_rows();
  device.copy_rows(device_phase_->kernel_metrics.cells(), kernel_metrics);
  device.copy_rows(device_phase_->replay_metrics.cells(), replay_metrics);
  device.copy_rows(device_phase_->device_values.cells(), device_values);
  device.copy_rows(device_phase_->reads.rows(), reads);
  device.copy_rows(device_phase_->regions.rows(), regions);
  device.copy_rows(device_phase_->kernels, rows);
  samples.copy_names();
}

void PhaseCopy::copy_host_part(Value::Map header) {
  process.drain();
  process.ranges.resolve_all();
  samples.copy_host_part();  // may run code of the program's
  process.resolve_frames();  // so may this, last: later paths would lack their texts
  if (session_.host.is_closed()) {
    throw Error(ErrorKind::kSessionNotFound,
                concat("session ", session_.facts.id, " is not open; it was finalized"));
  }
  seen = session_.host.seen_of(*host_phase_);
  scope_metrics = session_.host.metrics_of(*host_phase_);
  metric_names = process.metric_names.all();
  copy_paths();
  for (const SampleCopy::Device& device : samples.devices) {
    limits.push_back(SmLimits::from(session_.facts.find_device(device.seen)));
  }
  summary = session_.device.read([&](const DeviceTables& tables) {
    return session_.facts.summarize(std::move(header), session_.losses, host_phase_->steps, tables);
  });
}

/// Turns ranges into their paths, which may make some, and then takes the paths.
void PhaseCopy::copy_paths() {
  for (KernelRow& row : rows) follow_range(row.place);
  for (TimedSymbol& timed : samples.timed) follow_range(timed.place);
  for (MetricCell& cell : device_values) follow_range(cell.row);
  for (MetricCell& cell : replay_metrics) follow_range(cell.row);
  for (MetricCell& cell : scope_metrics) follow_range(cell.row);
  for (SeenPath& path : seen) follow_range(path.path);
  for (CapturedPlace& place : samples.captured_places) {
    follow_range(place.replay);
    if (place.is_seen()) follow_range(place.capture);
  }
  place_reads();
  paths = process.paths.rows();
  names = process.names.texts();
  frame_texts = process.frame_texts.by_position;
  is_library_text = process.frame_texts.is_library;
}

bool PhaseCopy::is_library(FrameId frame) const {
  if (frame.kind() != FrameKind::kPython) return false;
  const NameId text = frame.is_position() ? frame_texts[frame.number()] : frame.number();
  return text < is_library_text.size() && is_library_text[text] != 0;
}

/// Puts reads where work for metrics stands: in that state, of the owner's path.
void PhaseCopy::place_reads() {
  for (ReadRow& read : reads) {
    auto& [place, kernel] = read.owner;
    const std::string name =
        kernel == ReadOwner::kNoKernel ? "" : kernel_name(this->kernel(kernel).name);
    if (!is_captured(place)) {
      follow_range(place);
      place = path_with_state(place, metadata_state(name));
      continue;
    }
    CapturedPlace captured = this->captured(place);
    if (captured.is_seen()) {
      captured.capture = path_with_state(captured.capture, metadata_state(name));
    }
    place = static_cast<PlaceId>(samples.captured_places.size()) | kLaunchBit;
    samples.captured_places.push_back(captured);
  }
}

std::string PhaseCopy::frame_name(FrameId frame) const {
  if (frame.kind() == FrameKind::kRoot) return "ROOT";
  return names[frame.is_position() ? frame_texts[frame.number()] : frame.number()];
}

}  // namespace proton
