#include "files/trace_layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <variant>

#include "base/text.h"
#include "files/format.h"
#include "files/json_encoder.h"

namespace proton {

PairedFlows::PairedFlows(const TraceLog& log) {
  for (const TraceSpan& span : log.spans) {
    if (span.flow_id == 0) continue;
    (span.is_flow_source ? sources_ : targets_).push_back(span.flow_id);
  }
  for (auto* ends : {&sources_, &targets_}) {
    if (!std::ranges::is_sorted(*ends)) std::ranges::sort(*ends);
  }
  is_all_paired_ = sources_ == targets_;
}

bool PairedFlows::contains(const TraceSpan& span) const {
  if (span.flow_id == 0 || is_all_paired_) return span.flow_id != 0;
  return std::ranges::binary_search(span.is_flow_source ? targets_ : sources_, span.flow_id);
}

namespace {

/// A device as it is ordered: GPUs by number, before the host that interprets kernels.
using DeviceKey = std::tuple<bool, uint32_t, std::string_view>;

bool is_interpreted(const TraceLane& lane) { return lane.device_type == "CPU"; }

DeviceKey device_of(const TraceLane& lane) {
  return {is_interpreted(lane), lane.device_id, lane.device_type};
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

/// With a blank behind it; a device that is the only one of its kind needs no number.
std::string device_number(const TraceLane& lane, bool is_only) {
  return is_only ? std::string() : std::to_string(lane.device_id) + " ";
}

std::string sm_name(const TraceLane& lane, bool is_only, uint64_t sm) {
  return concat("GPU ", device_number(lane, is_only), "SM ", sm);
}

std::string name_of(const TraceLane& lane, bool is_only) {
  const std::string number = std::to_string(lane.number);
  if (lane.kind == LaneKind::kHost) return "CPU Thread " + number;
  if (lane.kind == LaneKind::kWarp) {
    return "warp " + number + " (line " + std::to_string(lane.inside.line) + ")";
  }
  const std::string device = device_number(lane, is_only);
  if (lane.kind == LaneKind::kGraph) {
    return is_only ? "Graph: Stream " + number : "Graph: GPU " + device + "Stream " + number;
  }
  if (lane.kind == LaneKind::kSm) return sm_name(lane, is_only, lane.number);
  const char* processor = is_interpreted(lane) ? "Interpreter " : "GPU ";
  return processor + device + "Stream " + number;
}

/// A CTA as known traces name it: a process whose threads are its warps.
std::string process_of(const TraceLane& lane, bool is_only) {
  const std::string device = is_only ? std::string() : " GPU " + std::to_string(lane.device_id);
  return lane.inside.kernel + device + " Core" + std::to_string(lane.inside.sm) + " CTA" +
         std::to_string(lane.inside.cta);
}

/// A JSON list of two texts.
std::string pair_of(std::string_view first, std::string_view second) {
  const auto quoted = [](std::string_view text) {
    return json_text([text](JsonEncoder& out) { out.string(text); });
  };
  return concat("[", quoted(first), ", ", quoted(second), "]");
}

/// Host threads, streams and graphs, multiprocessors, warps.
int rank_of(LaneKind kind) {
  return kind == LaneKind::kHost ? 0 : kind == LaneKind::kSm ? 2 : kind == LaneKind::kWarp ? 3 : 1;
}

}  // namespace

std::vector<LaneRow> assign_lane_rows(const TraceLog& log) {
  if (log.is_read()) return log.rows;
  std::vector<size_t> order(log.lanes.size());
  std::iota(order.begin(), order.end(), 0);
  // Host threads first, then device by device and stream by stream, graphs above their stream; then
  // the insides of devices.
  std::ranges::stable_sort(order, {}, [&](size_t index) {
    const TraceLane& lane = log.lanes[index];
    const auto& [kernel, sm, cta, line] = lane.inside;
    return std::tuple(rank_of(lane.kind),
                      lane.kind == LaneKind::kHost ? DeviceKey() : device_of(lane),
                      std::string_view(kernel), sm, cta, lane.number, lane.kind, line);
  });
  std::set<DeviceKey> devices;
  for (const TraceLane& lane : log.lanes) {
    if (lane.kind != LaneKind::kHost) devices.insert(device_of(lane));
  }

  std::vector<LaneRow> rows(log.lanes.size());
  std::set<uint64_t> taken;
  int64_t sort_index = 0;
  for (const size_t index : order) {
    const TraceLane& lane = log.lanes[index];
    const uint64_t rank = std::distance(devices.begin(), devices.lower_bound(device_of(lane)));
    LaneRow& row = rows[index];
    const bool is_only = std::ranges::count_if(devices, [&](const DeviceKey& device) {
                           return std::get<0>(device) == is_interpreted(lane);
                         }) < 2;
    row.name = name_of(lane, is_only);
    row.sort_index = sort_index++;
    if (lane.kind == LaneKind::kWarp) {
      row.process = process_of(lane, is_only);
      row.sm = sm_name(lane, is_only, lane.inside.sm);
      row.key = pair_of(row.process, row.name);
      row.title = concat(row.process, " ", row.name);
      continue;
    }
    row.thread_id = preferred_thread_id(lane, rank);
    if (taken.contains(row.thread_id)) row.thread_id = format::kSpareLaneBase;
    while (!taken.insert(row.thread_id).second) ++row.thread_id;
    row.key = concat("[", format::kProcessId, ", ", row.thread_id, "]");
    row.title = row.name;
  }
  return rows;
}

namespace {

/// A track while spans are put on it: the ends of the spans that are open now, innermost last.
struct OpenTrack {
  Track track;
  std::vector<int64_t> open_ends;

  bool takes(const TraceSpan& span) {
    while (!open_ends.empty() && open_ends.back() <= span.start_ns) open_ends.pop_back();
    return open_ends.empty() || end_of(span) <= open_ends.back();
  }
  void put(uint32_t index, const TraceSpan& span) {
    const int64_t end_ns = end_of(span);
    open_ends.push_back(open_ends.empty() ? end_ns : std::min(end_ns, open_ends.back()));
    track.spans.push_back(index);
  }
};

void nest_lane(const TraceLog& log, uint32_t lane, std::vector<uint32_t> order,
               std::vector<Track>& tracks) {
  sort_for_nesting(log, order);
  const size_t max_tracks = log.is_read() ? SIZE_MAX : kMaxTracksOfLane;
  std::vector<OpenTrack> open;
  for (const uint32_t index : order) {
    const TraceSpan& span = log.spans[index];
    auto fitting = std::ranges::find_if(open, [&](OpenTrack& track) { return track.takes(span); });
    if (fitting == open.end()) {
      if (open.size() < max_tracks) open.push_back({{lane, open.empty(), {}}, {}});
      fitting = open.end() - 1;
      if (open.size() == 1) fitting->track.spans.reserve(order.size());
    }
    fitting->put(index, span);
  }
  for (OpenTrack& track : open) tracks.push_back(std::move(track.track));
}

}  // namespace

void sort_for_nesting(const TraceLog& log, std::vector<uint32_t>& indices) {
  // Keys side by side: looking them up in the spans while sorting takes three times as long.
  struct Key {
    int64_t start_ns;
    int64_t end_ns;
    uint32_t index;
  };
  std::vector<Key> keys;
  keys.reserve(indices.size());
  for (const uint32_t index : indices) {
    keys.push_back({log.spans[index].start_ns, log.spans[index].end_ns, index});
  }
  const auto is_before = [](const Key& left, const Key& right) {
    if (left.start_ns != right.start_ns) return left.start_ns < right.start_ns;
    if (left.end_ns != right.end_ns) return left.end_ns > right.end_ns;
    return left.index < right.index;
  };
  if (std::ranges::is_sorted(keys, is_before)) return;
  std::ranges::sort(keys, is_before);
  std::ranges::transform(keys, indices.begin(), &Key::index);
}

double as_double(const MetricValue& number) {
  if (const auto* whole = std::get_if<int64_t>(&number)) return static_cast<double>(*whole);
  if (const auto* large = std::get_if<uint64_t>(&number)) return static_cast<double>(*large);
  return std::get<double>(number);
}

std::vector<Track> nest_spans(const TraceLog& log) {
  std::vector<size_t> counts(log.lanes.size());
  for (const TraceSpan& span : log.spans) ++counts[span.lane];
  std::vector<std::vector<uint32_t>> by_lane(log.lanes.size());
  for (size_t lane = 0; lane < counts.size(); ++lane) by_lane[lane].reserve(counts[lane]);
  for (uint32_t index = 0; index < log.spans.size(); ++index) {
    by_lane[log.spans[index].lane].push_back(index);
  }
  std::vector<Track> tracks;
  for (uint32_t lane = 0; lane < by_lane.size(); ++lane) {
    nest_lane(log, lane, std::move(by_lane[lane]), tracks);
  }
  return tracks;
}

namespace {

/// Turns the values of a counter into running sums; integers become doubles where they overflow.
void add_up(std::vector<CounterSample>& samples) {
  for (size_t i = 1; i < samples.size(); ++i) {
    const MetricValue& before = samples[i - 1].total;
    MetricValue& value = samples[i].total;
    const auto* old_whole = std::get_if<int64_t>(&before);
    const auto* new_whole = std::get_if<int64_t>(&value);
    int64_t sum;
    if (old_whole != nullptr && new_whole != nullptr &&
        !__builtin_add_overflow(*old_whole, *new_whole, &sum)) {
      value = sum;
      continue;
    }
    value = as_double(before) + as_double(value);
  }
}

bool is_countable(const MetricValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return std::isfinite(*number);
  return std::holds_alternative<int64_t>(value) || std::holds_alternative<uint64_t>(value);
}

}  // namespace

std::vector<Counter> count_metrics(const TraceLog& log) {
  std::vector<Counter> counters;
  std::unordered_map<std::string_view, size_t> known;
  for (const TraceSpan& span : log.spans) {
    for (uint32_t i = 0; i < span.metric_count; ++i) {
      const Metric& metric = log.metrics[span.first_metric + i];
      if (!is_countable(metric.value)) continue;
      const auto [found, is_new] = known.try_emplace(*metric.key, counters.size());
      if (is_new) counters.push_back({metric.key, {}});
      counters[found->second].samples.push_back({span.end_ns, metric.value});
    }
  }
  std::erase_if(counters, [](const Counter& counter) { return counter.samples.size() < 2; });
  for (Counter& counter : counters) {
    std::ranges::stable_sort(counter.samples, {}, &CounterSample::time_ns);
    const auto kind = log.summary.metric_kinds.find(*counter.name);
    const bool is_property =
        kind != log.summary.metric_kinds.end() && kind->second == MetricKind::kProperty;
    if (!is_property) add_up(counter.samples);
  }
  return counters;
}

}  // namespace proton
