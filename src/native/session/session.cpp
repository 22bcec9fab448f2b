#include "session/session.h"

#include "model/losses.h"
#include "session/samples/sample_copy.h"
#include "session/samples/sample_report.h"
#include "session/scopes/process.h"
#include "session/snapshot/phase_copy.h"
#include "session/snapshot/trace_builder.h"

namespace proton {

Session::Session(int64_t id, ContextKind context, DataKind data)
    : facts_(id),
      host_(context, data, *this, losses_, next_stamp_),
      device_(context, data, losses_, next_stamp_) {}

Session::~Session() {
  if (!is_closed()) close();
}

int Session::advance_phase() {
  const int phase = host_.advance_phase();
  device_.begin_phase(phase);
  return phase;
}

void Session::clear_phase(int phase) {
  process.ranges.drain();  // into the phase, before its spans are looked at
  if (const auto cleared = host_.find_phase(phase)) device_.clear_phase(phase, cleared->spans);
  host_.clear_phase(phase);
}

uint64_t Session::change_count(int phase) const {
  process.ranges.drain();
  const auto found = host_.find_phase(phase);
  return found == nullptr ? 0 : found->change_count() + device_.change_count(phase) + 1;
}

std::map<std::string, uint64_t> Session::losses() const {
  process.ranges.drain();
  return losses_.counts();
}

void Session::on_dropped(uint64_t count) noexcept { losses_.count(losses::kDropped, count); }

std::vector<std::pair<uint64_t, std::string>> Session::missing_code(int phase) const {
  SampleCopy copy(parts(), parts().find_phase(phase, data()));
  copy.copy_device_part();
  return copy.missing_code();
}

std::vector<std::string> Session::sampled_files(int phase) const {
  SampleCopy copy(parts(), parts().find_phase(phase, data()));
  copy.copy_device_part();
  return proton::sampled_files(copy);
}

CallTree Session::snapshot_tree(int phase, Value::Map header) const {
  PhaseCopy copy(parts(), phase);
  copy.copy_device_part();
  copy.copy_host_part(std::move(header));
  return build_tree(std::move(copy));
}

TraceLog Session::snapshot_trace(int phase, Value::Map header) const {
  return build_trace(parts(), phase, std::move(header));
}

TraceLog Session::snapshot_new_trace(int phase, Value::Map header, TraceCursor& cursor,
                                     size_t limit) const {
  return build_new_trace(parts(), phase, std::move(header), cursor, limit);
}

}  // namespace proton
