/// A phase of a tree session as it stands in its tables: the part of a snapshot that needs locks,
/// kept short, so that a save does not hold up the program. The tree is built of it without any.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/string_table.h"
#include "model/call_tree.h"
#include "session/booking/session.h"
#include "session/metrics/metric_names.h"
#include "session/samples/sample_copy.h"
#include "session/scopes/path_table.h"
#include "session/snapshot/frame_filter.h"
#include "session/snapshot/kernel_details.h"

namespace proton {

class PhaseCopy {
 public:
  /// Under the GIL. Throws Error: no such phase, or a trace. What the phase holds stays readable
  /// even if it is cleared before it is copied; the session must not be destroyed.
  PhaseCopy(const Session& session, int phase);

  /// First. Best without the GIL: takes the lock of the booking on devices, again and again for a
  /// slice of rows. What comes in meanwhile may be in or not, but each row is of one moment.
  void copy_device_part();

  /// Then, under the GIL: everything that the device part refers to is known by now. Throws Error:
  /// the session was closed meanwhile.
  void copy_host_part(Value::Map header);

  std::string frame_name(FrameId frame) const;
  bool is_library(FrameId frame) const;
  const KernelEntry& kernel(uint32_t number) const { return samples.kernels[number]; }
  const std::string& kernel_name(NameId name) const { return samples.kernel_names[name]; }
  const SeenDevice& device(uint32_t number) const { return samples.devices[number].seen; }
  const CapturedPlace& captured(PlaceId place) const {
    return samples.captured_places[place & ~kLaunchBit];
  }

  const FrameFilter filter;
  SampleCopy samples;  // with kernels, devices and captured places
  // device part
  std::vector<MetricCell> kernel_metrics;
  std::vector<MetricCell> replay_metrics;
  std::vector<MetricCell> device_values;
  std::vector<ReadRow> reads;
  std::vector<RegionRow> regions;
  std::vector<KernelRow> rows;
  // host part
  std::vector<SeenPath> seen;
  std::vector<MetricCell> scope_metrics;  // with those of open scopes
  std::vector<PathTable::Row> paths;
  StringTexts names;
  std::vector<NameId> frame_texts;       // by position
  std::vector<uint8_t> is_library_text;  // by name
  std::vector<MetricName> metric_names;
  std::vector<std::optional<SmLimits>> limits;  // by device
  Summary summary;

 private:
  PhaseCopy(const Session& session, int phase, std::shared_ptr<const DevicePhase> device_phase);
  void copy_paths();
  void place_reads();

  const Session& session_;
  std::shared_ptr<const DevicePhase> device_phase_;
  std::shared_ptr<const HostPhase> host_phase_;
};

/// The tree of a complete copy; needs no lock.
CallTree build_tree(PhaseCopy copy);

}  // namespace proton
