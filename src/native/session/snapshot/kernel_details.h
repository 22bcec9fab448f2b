/// The spreads and launch attributes of a tree's rows. Rows of a phase that meet in one row of the
/// tree, because their frames have equal text, are put together. Private to session/.
#pragma once

#include <unordered_map>
#include <vector>

#include "model/call_tree.h"
#include "session/booking/phase.h"
#include "session/snapshot/occupancy.h"

namespace proton {

/// What stands between a replay's path and the path where its kernels were captured.
inline constexpr const char* kCapturedAt = "<captured_at>";
/// Stands for that path when nobody saw the capture: before the session, or while it paused.
inline constexpr const char* kUnknownCapture = "<captured while not recording>";

/// The attributes of a launch as they stand in files; null limits: those of its device are unknown.
Value::Map to_attributes(const LaunchShape& shape, const SmLimits* limits);

class KernelDetails {
 public:
  /// All kernels of a row ran on one device, whose limits must outlive this; null: unknown.
  void add(uint32_t row, const KernelRow& kernel, const SmLimits* limits);
  std::vector<KernelDetail> take();

 private:
  /// All phase rows of one tree row.
  struct Part {
    uint32_t row;
    const SmLimits* limits;
    std::vector<const KernelRow*> kernels;
  };

  static KernelDetail detail_of(const Part& part);

  std::vector<Part> parts_;
  std::unordered_map<uint32_t, size_t> by_row_;
};

}  // namespace proton
