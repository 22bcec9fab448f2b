/// The parts of a session as readers are given them: its two bookings, and what is known about the
/// recording as a whole.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "model/call_tree.h"
#include "session/booking/device_booking.h"
#include "session/scopes/host_booking.h"
#include "session/scopes/loss_log.h"

namespace proton {

/// About the recording as a whole. Guarded by the GIL.
class SessionFacts {
 public:
  explicit SessionFacts(int64_t id);

  /// Describes a device; what was said of it before is replaced.
  void add_device(std::string type, std::string id, Value::Map attributes);
  void add_autotune(Value record) { autotune_.push_back(std::move(record)); }

  /// The description of a device; null: there is none.
  const DeviceEntry* find_device(const SeenDevice& seen) const;
  /// With the devices that events came from only.
  Summary summarize(Value::Map header, const LossLog& losses, const DeviceTables& tables) const;

  const int64_t id;
  const int64_t base_host_ns;
  const int64_t base_unix_ns;

 private:
  std::vector<DeviceEntry> devices_;
  Value::List autotune_;
};

struct SessionParts {
  const SessionFacts& facts;
  const LossLog& losses;
  const HostBooking& host;
  const DeviceBooking& device;

  /// With or without the GIL. Throws Error: no such phase, or the other kind of data.
  std::shared_ptr<const DevicePhase> find_phase(int phase, DataKind data) const;
};

}  // namespace proton
