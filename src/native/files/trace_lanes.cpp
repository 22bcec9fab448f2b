#include "files/trace_lanes.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>

#include "files/format.h"

namespace proton {

namespace {

/// A device as it is ordered: GPUs by number, before the host that interprets kernels.
using DeviceKey = std::tuple<bool, uint32_t, std::string_view>;

/// True for lanes of interpreted kernels. Where a lane does not say what its device is, the devices
/// of the log tell.
bool is_interpreted(const TraceLog& log, const TraceLane& lane) {
  if (!lane.device_type.empty()) return lane.device_type == "CPU";
  const std::string id = std::to_string(lane.device_id);
  bool is_cpu = false;
  for (const DeviceEntry& device : log.summary.devices) {
    if (device.id != id) continue;
    if (device.type != "CPU") return false;
    is_cpu = true;
  }
  return is_cpu;
}

DeviceKey device_of(const TraceLog& log, const TraceLane& lane) {
  return {is_interpreted(log, lane), lane.device_id, lane.device_type};
}

uint64_t preferred_thread_id(const TraceLane& lane, uint64_t device_rank) {
  // Numbers past the distance between two bases would land among another kind's ids.
  constexpr uint64_t kLimit = format::kStreamLaneBase - format::kGraphLaneBase;
  if (lane.number >= kLimit) return format::kSpareLaneBase;
  if (lane.kind == LaneKind::kHost) return lane.number;
  const uint64_t base = lane.kind == LaneKind::kGraph ? format::kGraphLaneBase
                        : lane.kind == LaneKind::kSm  ? format::kSmLaneBase
                                                      : format::kStreamLaneBase;
  return base + lane.number + device_rank * format::kDeviceLaneStride;
}

std::string name_of(const TraceLog& log, const TraceLane& lane, uint64_t device_rank) {
  const std::string number = std::to_string(lane.number);
  if (lane.kind == LaneKind::kHost) return "CPU Thread " + number;
  if (lane.kind == LaneKind::kWarp) {
    return "warp " + number + " (line " + std::to_string(lane.inside.line) + ")";
  }
  const std::string device =
      device_rank == 0 ? std::string() : std::to_string(lane.device_id) + " ";
  if (lane.kind == LaneKind::kGraph) {
    return device.empty() ? "Graph: Stream " + number : "Graph: GPU " + device + "Stream " + number;
  }
  if (lane.kind == LaneKind::kSm) return "GPU " + device + "SM " + number;
  const char* processor = is_interpreted(log, lane) ? "Interpreter " : "GPU ";
  return processor + device + "Stream " + number;
}

/// A CTA as known traces name it: a process whose threads are its warps.
std::string process_of(const TraceLane& lane, uint64_t device_rank) {
  const std::string device =
      device_rank == 0 ? std::string() : " GPU " + std::to_string(lane.device_id);
  return lane.inside.kernel + device + " Core" + std::to_string(lane.inside.sm) + " CTA" +
         std::to_string(lane.inside.cta);
}

/// Host threads, streams and graphs, multiprocessors, warps.
int rank_of(LaneKind kind) {
  return kind == LaneKind::kHost ? 0 : kind == LaneKind::kSm ? 2 : kind == LaneKind::kWarp ? 3 : 1;
}

}  // namespace

std::vector<LaneRow> assign_lane_rows(const TraceLog& log) {
  std::vector<size_t> order(log.lanes.size());
  std::iota(order.begin(), order.end(), 0);
  // Host threads first, then device by device and stream by stream, graphs above their stream; then
  // the insides of devices.
  std::ranges::stable_sort(order, {}, [&](size_t index) {
    const TraceLane& lane = log.lanes[index];
    const auto& [kernel, sm, cta, line] = lane.inside;
    return std::tuple(rank_of(lane.kind),
                      lane.kind == LaneKind::kHost ? DeviceKey() : device_of(log, lane),
                      std::string_view(kernel), sm, cta, lane.number, lane.kind, line);
  });
  std::set<DeviceKey> devices;
  for (const TraceLane& lane : log.lanes) {
    if (lane.kind != LaneKind::kHost) devices.insert(device_of(log, lane));
  }

  std::vector<LaneRow> rows(log.lanes.size());
  std::set<uint64_t> taken;
  uint64_t sort_index = 0;
  for (const size_t index : order) {
    const TraceLane& lane = log.lanes[index];
    const uint64_t rank = std::distance(devices.begin(), devices.lower_bound(device_of(log, lane)));
    if (lane.kind == LaneKind::kWarp) {
      rows[index] = {0, name_of(log, lane, rank), sort_index++, process_of(lane, rank)};
      continue;
    }
    uint64_t thread_id = preferred_thread_id(lane, rank);
    if (taken.contains(thread_id)) thread_id = format::kSpareLaneBase;
    while (!taken.insert(thread_id).second) ++thread_id;
    rows[index] = {thread_id, name_of(log, lane, rank), sort_index++};
  }
  return rows;
}

}  // namespace proton
