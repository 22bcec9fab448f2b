#include "backends/common/unrecorded_launches.h"

#include <algorithm>

#include "model/losses.h"

namespace proton {

LaunchMoment note_moment(const LaunchCells& cells) { return {cells.newest(), cells.under_way()}; }

UnrecordedLaunches find_unrecorded(LaunchTable& launches, SinkTable& sinks,
                                   const LaunchMoment& before) {
  UnrecordedLaunches unrecorded;
  const uint32_t generation = launches.generation();
  const uint32_t oldest = launches.cells().oldest(generation);
  if (before.newest == 0 || oldest == 0) return unrecorded;
  const auto lock = sinks.lock();
  sinks.note_launch(before.newest);
  // Further back ids are not in order, and launches not known.
  const uint32_t after = sinks.order().count() < kFarBack ? oldest - 1 : before.newest - kFarBack;
  for (const bool with_frames : {false, true}) {
    CorrelationMap* const map = launches.map(with_frames);
    if (map == nullptr) continue;
    const auto is_wanted = [&](uint32_t id) {
      return std::ranges::any_of(sinks.entries(), [&](const SinkTable::Entry& entry) {
        return entry.with_frames() == with_frames && sinks.wants(entry, id);
      });
    };
    map->visit_expected(after, before.newest, generation, [&](uint32_t id, ContextId context) {
      if (context == kNoContext || !is_wanted(id)) return;  // our own; nobody's
      if (std::ranges::find(before.under_way, id) == before.under_way.end()) {
        unrecorded.ids[with_frames ? 1 : 0].push_back(id);
      }
    });
  }
  return unrecorded;
}

void count_unrecorded(LaunchTable& launches, SinkTable& sinks, UnrecordedLaunches unrecorded,
                      const LaunchMoment& before_second) {
  const auto lock = sinks.lock();
  for (const bool with_frames : {false, true}) {
    std::erase_if(unrecorded.ids[with_frames ? 1 : 0], [&](uint32_t id) {
      return std::ranges::find(before_second.under_way, id) != before_second.under_way.end() ||
             !launches.map(with_frames)->is_expected(id, launches.generation());
    });
  }
  for (SinkTable::Entry& entry : sinks.entries()) {
    const auto count = static_cast<uint64_t>(
        std::ranges::count_if(unrecorded.ids[entry.with_frames() ? 1 : 0],
                              [&](uint32_t id) { return sinks.wants(entry, id); }));
    // Some may be among the records that the driver says it dropped: those are counted.
    const uint64_t dropped = std::min(count, entry.dropped);
    entry.dropped -= dropped;
    if (count > dropped) entry.sink->on_loss(losses::kUnrecorded, count - dropped);
  }
  for (const bool with_frames : {false, true}) {
    for (const uint32_t id : unrecorded.ids[with_frames ? 1 : 0]) {
      launches.map(with_frames)->find(id);  // once is enough
    }
  }
}

}  // namespace proton
