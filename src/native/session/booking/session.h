/// One recording, made of parts that each say what guards them. Calls that concern one part go to
/// that part; the session itself answers what concerns several.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

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
  /// Of a phase with these steps, and with the devices that events came from only.
  Summary summarize(Value::Map header, const LossLog& losses, const MarkedSteps& steps,
                    const DeviceTables& tables) const;

  const int64_t id;
  const int64_t base_host_ns;
  const int64_t base_unix_ns;

 private:
  Value describe(const MarkedSteps& steps, const StepTimes& times) const;

  std::vector<DeviceEntry> devices_;
  Value::List autotune_;
};

class Session {
 public:
  Session(int64_t id, ContextKind context, DataKind data);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // All of these under the GIL
  /// A backend with correlation ids tells the newest one: phases begin after it, and metrics of
  /// captured scopes count for every replay.
  void set_launch_counter(DeviceBooking::NewestLaunch newest);
  int advance_phase();
  void clear_phase(int phase);
  /// A number that differs whenever the phase holds something else; 0 where there is none.
  uint64_t change_count(int phase) const;
  bool is_empty() const { return host.is_empty() && device.is_empty(); }
  /// Losses by kind, with those of ranges that ended until now.
  std::map<std::string, uint64_t> count_losses() const;

  /// With or without the GIL. Throws Error: no such phase, or the other kind of data.
  std::shared_ptr<const DevicePhase> find_phase(int phase, DataKind data) const;

  SessionFacts facts;
  LossLog losses;        // any thread
  DeviceBooking device;  // any thread; backends report to it
  HostBooking host;      // under the GIL
};

}  // namespace proton
