/// The rows of a chrome trace: which thread id, name and place every lane of a log gets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace_log.h"

namespace proton {

struct LaneRow {
  uint64_t thread_id;
  std::string name;
  uint64_t sort_index;
  std::string process = {};  // of a warp, whose thread id is its name; empty: the only process
};

/// A row of its own for each of the log's lanes, in the order of the lanes. The first device's ids
/// are those that readers know; other devices' never coincide with them.
std::vector<LaneRow> assign_lane_rows(const TraceLog& log);

}  // namespace proton
