#include "files/trace_tracks.h"

#include <algorithm>

namespace proton {

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
  std::vector<OpenTrack> open;
  for (const uint32_t index : order) {
    const TraceSpan& span = log.spans[index];
    auto fitting = std::ranges::find_if(open, [&](OpenTrack& track) { return track.takes(span); });
    if (fitting == open.end()) {
      if (open.size() < kMaxTracksOfLane) open.push_back({{lane, open.empty(), {}}, {}});
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

}  // namespace proton
