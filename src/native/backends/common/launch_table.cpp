#include "backends/common/launch_table.h"

namespace proton {

void LaunchTable::open(bool with_frames) {
  if (map(with_frames) != nullptr) return;
  maps_[with_frames ? 1 : 0].store(new CorrelationMap, std::memory_order_release);
}

void LaunchTable::begin_generation() {
  cells_.forget();
  generation_.store(generation() % (CorrelationMap::kGenerations - 1) + 1,
                    std::memory_order_relaxed);
  for (const bool with_frames : {false, true}) {
    if (CorrelationMap* const known = map(with_frames)) known->forget_aside();
  }
}

void LaunchTable::mark_read(uint32_t correlation) noexcept {
  for (const bool with_frames : {false, true}) {
    if (CorrelationMap* const known = map(with_frames)) known->find(correlation);
  }
}

void LaunchTable::mark_optional(uint32_t correlation, uint32_t needs) noexcept {
  for (const bool with_frames : {false, true}) {
    if ((needs & (with_frames ? kNeedsPython : kNeedsShadow)) == 0) continue;
    if (CorrelationMap* const known = map(with_frames)) known->mark_optional(correlation);
  }
}

void LaunchTable::mark_under_way_optional() {
  for (const uint32_t id : cells_.under_way()) mark_optional(id, kNeedsShadow | kNeedsPython);
}

}  // namespace proton
