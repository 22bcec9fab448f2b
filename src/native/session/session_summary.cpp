// What files say about a session as a whole: losses, warnings, devices.
#include <algorithm>

#include "base/text.h"
#include "session/session.h"
#include "session/snapshot/kernel_details.h"

namespace proton {

const DeviceEntry* Session::described_locked(const DeviceSeen& seen) const {
  for (const DeviceEntry& device : devices_) {
    if (device.type == seen.type && device.id == seen.id) return &device;
  }
  return nullptr;
}

std::vector<std::optional<SmLimits>> Session::sm_limits_locked() const {
  std::vector<std::optional<SmLimits>> limits;
  for (const DeviceSeen& seen : devices_seen_) {
    const DeviceEntry* device = described_locked(seen);
    limits.push_back(device == nullptr ? std::nullopt : SmLimits::from(device->attributes));
  }
  return limits;
}

Summary Session::summary_locked(Value::Map header) const {
  Summary summary;
  for (auto& [key, value] : header) {
    auto* sampling = std::get_if<Value::Map>(&value.data);
    if (key == "sampling" && sampling != nullptr) summary.sampling = std::move(*sampling);
  }
  std::erase_if(header, [](const auto& fact) { return fact.first == "sampling"; });
  summary.header = std::move(header);
  summary.losses = losses_;
  for (const auto& [text, count] : warnings_) {
    summary.warnings.push_back(count == 1 ? text : concat(text, " (", count, " times)"));
  }
  if (!unseen_graphs_.empty()) {
    summary.warnings.push_back(
        concat(unseen_graphs_.size(), unseen_graphs_.size() == 1 ? " graph was" : " graphs were",
               " captured while nothing was recorded: kernels of their replays stand below ",
               quote(kUnknownCapture), " by graph; start the session before graphs are captured ",
               "to see the code that captured them"));
  }
  summary.autotune = autotune_;
  for (const DeviceEntry& device : devices_) {
    const bool is_seen = std::any_of(
        devices_seen_.begin(), devices_seen_.end(),
        [&](const DeviceSeen& seen) { return seen.type == device.type && seen.id == device.id; });
    if (is_seen) summary.devices.push_back(device);
  }
  return summary;
}

}  // namespace proton
