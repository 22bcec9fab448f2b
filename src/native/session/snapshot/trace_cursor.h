/// How far a trace's journal has come: what later chunks need of earlier ones. Used under the GIL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "model/event.h"
#include "model/trace_log.h"
#include "session/snapshot/recorded_spans.h"

namespace proton {

struct TraceCursor {
  static constexpr size_t kUnclaimedLimit = size_t{1} << 20;

  // How many of the phase's events are in chunks already.
  size_t span_count = 0;
  size_t launch_count = 0;
  size_t kernel_count = 0;
  size_t recorded_count = 0;
  bool is_at_end = false;
  // Lanes keep their numbers from chunk to chunk.
  std::vector<TraceLane> lanes;
  std::map<uint32_t, uint32_t> host_lanes;
  std::map<std::tuple<LaneKind, uint32_t, uint64_t>, uint32_t> device_lanes;
  WarpLanes warp_lanes;
  /// Launches whose kernels have not come -> their place among the phase's launches. They are
  /// written again beside their kernel, so that an arrow can join the two.
  std::unordered_map<CorrelationId, size_t> unclaimed;
};

}  // namespace proton
