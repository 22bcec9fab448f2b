#include "backends/device_buffer/region_ends.h"

namespace proton::device_buffer {

void RegionEnds::find(std::span<const Event> events, std::span<const Region> regions) {
  ends_.assign(events.size(), kNone);
  if (begun_.size() < regions.size()) begun_.resize(regions.size());
  for (std::vector<size_t>& starts : begun_) starts.clear();
  for (size_t at = 0; at < events.size(); ++at) {
    const Event& event = events[at];
    if (regions[event.region].matching == Matching::kQueued) continue;
    std::vector<size_t>& starts = begun_[event.region];
    if (event.kind == RecordKind::kStart) {
      starts.push_back(at);
    } else if (event.kind == RecordKind::kEnd && !starts.empty()) {
      ends_[starts.back()] = at;
      starts.pop_back();
    }
  }
}

}  // namespace proton::device_buffer
