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

Summary SessionFacts::summarize(Value::Map header, const LossLog& losses,
                                const DeviceTables& tables) const {
  Summary summary;
  for (auto& [key, value] : header) {
    auto* sampling = std::get_if<Value::Map>(&value.data);
    if (key == "sampling" && sampling != nullptr) summary.sampling = std::move(*sampling);
  }
  std::erase_if(header, [](const auto& fact) { return fact.first == "sampling"; });
  summary.header = std::move(header);
  summary.losses = losses.counts();
  summary.warnings = losses.warnings();
  if (const size_t count = tables.places.unseen_graph_count()) {
    summary.warnings.push_back(
        concat(count, count == 1 ? " graph was" : " graphs were",
               " captured while nothing was recorded: kernels of their replays stand below ",
               quote(kUnknownCapture), " by graph; start the session before graphs are captured ",
               "to see the code that captured them"));
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
      host(context, data, device, losses, device.use_count()) {}

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
  process.ranges.drain();  // into the phase, before its spans are looked at
  if (const auto cleared = host.find_phase(phase)) device.clear_phase(phase, cleared->spans);
  host.clear_phase(phase);
}

uint64_t Session::change_count(int phase) const {
  process.ranges.drain();
  const auto on_host = host.find_phase(phase);
  return on_host == nullptr ? 0 : on_host->change_count() + device.change_count(phase) + 1;
}

std::map<std::string, uint64_t> Session::count_losses() const {
  process.ranges.drain();
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
