/// Launches of kernels whose record never comes: the driver's records were switched off by another
/// tool, or went to its buffers. What a call runs is known where it launches a kernel; graphs may
/// be empty and are left out, as is what failed, was captured, or was launched while a backend
/// switched. Looked for after a flush that waited for the GPU, and once more after a second one.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "backends/common/launch_table.h"
#include "backends/common/sink_table.h"

namespace proton {

struct LaunchMoment {
  uint32_t newest;                  // launch
  std::vector<uint32_t> under_way;  // launches whose calls have not returned
};

LaunchMoment note_moment(const LaunchCells& cells);

/// Launches of the shadow map, of the python map.
struct UnrecordedLaunches {
  std::array<std::vector<uint32_t>, 2> ids;

  bool is_empty() const { return ids[0].empty() && ids[1].empty(); }
};

/// Those whose calls had returned before the flush began, for sinks that were active, and that have
/// no record.
UnrecordedLaunches find_unrecorded(LaunchTable& launches, SinkTable& sinks,
                                   const LaunchMoment& before);

/// A thread that had its id before others had theirs may have come to launch only later: those that
/// were launched when the second flush began have a record now. Counts the others as lost, once.
void count_unrecorded(LaunchTable& launches, SinkTable& sinks, UnrecordedLaunches unrecorded,
                      const LaunchMoment& before_second);

}  // namespace proton
