#include "session/booking/session.h"

#include <algorithm>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "session/scopes/process.h"

namespace proton {

SessionFacts::SessionFacts(int64_t id)
    : id(id), base_host_ns(now_ns()), base_unix_ns(unix_now_ns()) {}

void SessionFacts::add_device(std::string type, std::string id, Value::Map attributes) {
  for (DeviceEntry& device : devices_) {
    if (device.type == type && device.id == id) {
      device.attributes = std::move(attributes);
      return;
    }
  }
  devices_.push_back({std::move(type), std::move(id), std::move(attributes)});
}

const DeviceEntry* SessionFacts::find_device(const SeenDevice& seen) const {
  for (const DeviceEntry& device : devices_) {
    if (device.type == seen.type && device.id == seen.id) return &device;
  }
  return nullptr;
}

/// As files have it; what says nothing is left out.
Value SessionFacts::describe(const MarkedSteps& steps, const StepTimes& times) const {
  Value::List starts, durations, gpu_times, names;
  bool has_gpu_time = false;
  for (size_t at = 0; at < steps.all.size(); ++at) {
    const MarkedStep& step = steps.all[at];
    starts.push_back({step.start_ns - base_host_ns});
    durations.push_back({step.duration_ns});
    gpu_times.push_back({times.time_of(step.id)});
    has_gpu_time |= times.time_of(step.id) != 0;
    if (steps.names.empty()) continue;
    const auto found = steps.names.find(at);
    names.push_back({found == steps.names.end() ? std::string() : found->second});
  }
  Value::Map series = {{"base_ns", {base_unix_ns}},
                       {"start_ns", {std::move(starts)}},
                       {"duration_ns", {std::move(durations)}}};
  if (!names.empty()) series.push_back({"names", {std::move(names)}});
  if (has_gpu_time) series.push_back({"gpu_time_ns", {std::move(gpu_times)}});
  if (steps.left_out > 0) series.push_back({"left_out", {static_cast<int64_t>(steps.left_out)}});
  Value::List all;
  all.push_back({std::move(series)});
  return {std::move(all)};
}

Summary SessionFacts::summarize(Value::Map header, const LossLog& losses, const MarkedSteps& steps,
                                const DeviceTables& tables) const {
  Summary summary;
  for (auto& [key, value] : header) {
    auto* sampling = std::get_if<Value::Map>(&value.data);
    if (key == "sampling" && sampling != nullptr) summary.sampling = std::move(*sampling);
  }
  std::erase_if(header, [](const auto& fact) { return fact.first == "sampling"; });
  if (steps.count() > 0) header.emplace_back("steps", describe(steps, tables.steps));
  summary.header = std::move(header);
  summary.losses = losses.counts();
  summary.warnings = losses.warnings();
  if (std::string text = tables.places.unseen_graphs(); !text.empty()) {
    summary.warnings.push_back(std::move(text));
  }
  summary.autotune = autotune_;
  for (const DeviceEntry& device : devices_) {
    const bool is_seen = std::ranges::any_of(tables.kernels.devices(), [&](const SeenDevice& seen) {
      return seen.type == device.type && seen.id == device.id;
    });
    if (is_seen) summary.devices.push_back(device);
  }
  return summary;
}

Session::Session(int64_t id, ContextKind context, DataKind data)
    : facts(id),
      device(context, data, losses),
      host(context, data, device, losses, device.use_count()) {
  host.set_step_listener(
      [this](int64_t time_ns, bool is_kept) { return device.begin_step(time_ns, is_kept); });
}

Session::~Session() {
  if (!host.is_closed()) host.close();
}

void Session::set_launch_counter(DeviceBooking::NewestLaunch newest) {
  host.count_replays(newest != nullptr);
  device.set_launch_counter(newest);
}

int Session::advance_phase() {
  const int phase = host.advance_phase();
  device.begin_phase(phase);
  return phase;
}

void Session::clear_phase(int phase) {
  process.drain();  // into the phase, before its spans are looked at
  if (const auto cleared = host.find_phase(phase)) device.clear_phase(phase, *cleared);
  host.clear_phase(phase);
}

uint64_t Session::change_count(int phase) const {
  process.drain();
  const auto on_host = host.find_phase(phase);
  return on_host == nullptr ? 0 : on_host->change_count() + device.change_count(phase) + 1;
}

std::map<std::string, uint64_t> Session::count_losses() const {
  process.drain();
  return losses.counts();
}

std::shared_ptr<const DevicePhase> Session::find_phase(int phase, DataKind data) const {
  if (data != host.data()) {
    throw Error(ErrorKind::kDataKind,
                concat("session ", facts.id, " records a ",
                       data == DataKind::kTree ? "trace, not a tree" : "tree, not a trace",
                       "; start it with data=", data == DataKind::kTree ? "'tree'" : "'trace'"));
  }
  const auto [found, current] = device.find_phase(phase);
  if (found == nullptr) {
    throw Error(ErrorKind::kPhaseNotFound, concat("session ", facts.id, " has no data for phase ",
                                                  phase, "; the current phase is ", current));
  }
  return found;
}

}  // namespace proton
