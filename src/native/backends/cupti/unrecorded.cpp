// Launches of kernels whose record never comes: CUPTI's records were switched off by another tool,
// or went to its buffers. What a call runs is known where it launches a kernel; graphs may be empty
// and are left out, as is what failed, was captured, or was launched while we switched.
#include <algorithm>

#include "backends/cupti/hub.h"
#include "backends/cupti/thread_cells.h"
#include "base/clock.h"
#include "model/losses.h"

namespace proton::cupti {

Hub::Moment Hub::note_moment() { return {newest_correlation(), launches_under_way()}; }

/// No record is to be waited for, in whichever map: those asked for may have changed meanwhile.
void Hub::settle_launch(uint32_t correlation) noexcept {
  const uint32_t made = made_maps_.load(std::memory_order_acquire);
  if ((made & kShadow) != 0) shadow_map_->find(correlation);
  if ((made & kPython) != 0) python_map_->find(correlation);
}

void Hub::settle_last_launch() noexcept { settle_launch(last_launch()); }

/// A record may come or not.
void Hub::excuse_launch(uint32_t correlation, uint32_t captures) noexcept {
  if ((captures & kShadow) != 0 && shadow_map_ != nullptr) shadow_map_->excuse(correlation);
  if ((captures & kPython) != 0 && python_map_ != nullptr) python_map_->excuse(correlation);
}

/// CUPTI is about to stop recording kernels, or has done so.
void Hub::excuse_launches_under_way() {
  for (const uint32_t id : launches_under_way()) excuse_launch(id, kShadow | kPython);
}

/// Decode held. Launches whose calls had returned by then, for sinks that were active, and that
/// have no record.
Hub::Missing Hub::find_missing(const Moment& before) {
  Missing missing;
  const uint32_t oldest = oldest_correlation(generation_);
  if (before.newest == 0 || oldest == 0) return missing;
  note_launch(before.newest);
  // Further back ids are not in order, and launches not known.
  const uint32_t after = order_.count() < kFarBack ? oldest - 1 : before.newest - kFarBack;
  for (size_t i = 0; i < missing.size(); ++i) {
    CorrelationMap* const map = maps()[i];
    if (map == nullptr) continue;
    const auto is_wanted = [&](uint32_t id) {
      return std::any_of(sinks_.begin(), sinks_.end(), [&](const SinkEntry& entry) {
        return entry.options.with_frames == (i == 1) && wants(entry, id);
      });
    };
    map->visit_expected(after, before.newest, generation_, [&](uint32_t id, ContextId context) {
      if (context == kNoContext || !is_wanted(id)) return;  // our own; nobody's
      if (std::ranges::find(before.under_way, id) == before.under_way.end()) {
        missing[i].push_back(id);
      }
    });
  }
  return missing;
}

/// After a flush that waited for the GPU: `before` is when it began.
void Hub::count_unrecorded(const Moment& before, int64_t until_ns) {
  Missing missing;
  {
    std::lock_guard decoding(decode_);
    missing = find_missing(before);
  }
  if (missing[0].empty() && missing[1].empty()) return;
  // A thread that had its id before others had theirs may have come to launch only now: those that
  // are launched by now have a record after another flush.
  const Moment now = note_moment();
  const size_t problem_count = problems_.size();
  const bool is_done = flush_within(until_ns - now_ns(), true, kFlushForced);
  problems_.resize(problem_count);  // the same again
  if (!is_done) return;
  std::lock_guard decoding(decode_);
  count_dropped(nullptr, 0);
  for (size_t i = 0; i < missing.size(); ++i) {
    std::erase_if(missing[i], [&](uint32_t id) {
      return std::ranges::find(now.under_way, id) != now.under_way.end() ||
             !maps()[i]->is_expected(id, generation_);
    });
  }
  lose(missing);
}

/// Decode held.
void Hub::lose(const Missing& missing) {
  for (SinkEntry& entry : sinks_) {
    const std::vector<uint32_t>& launches = missing[entry.options.with_frames ? 1 : 0];
    const auto count = static_cast<uint64_t>(
        std::ranges::count_if(launches, [&](uint32_t id) { return wants(entry, id); }));
    // Some may be among the records that CUPTI says it dropped: those are counted.
    const uint64_t dropped = std::min(count, entry.dropped);
    entry.dropped -= dropped;
    if (count > dropped) entry.sink->on_loss(losses::kUnrecorded, count - dropped);
  }
  for (size_t i = 0; i < missing.size(); ++i) {
    for (const uint32_t id : missing[i]) maps()[i]->find(id);  // once is enough
  }
}

}  // namespace proton::cupti
