#include "backends/common/sink_table.h"

#include <new>

#include "base/clock.h"

namespace proton {

SinkTable::Entry* SinkTable::find(const EventSink& sink) {
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& one) { return one.sink == &sink; });
  return entry == entries_.end() ? nullptr : &*entry;
}

void SinkTable::add(EventSink& sink, uint32_t needs) {
  std::lock_guard lock(mutex_);
  entries_.push_back({&sink, needs, false, {}});
}

void SinkTable::remove(const EventSink& sink) {
  std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const Entry& entry) { return entry.sink == &sink; });
}

bool SinkTable::has(const EventSink& sink) {
  std::lock_guard lock(mutex_);
  return find(sink) != nullptr;
}

bool SinkTable::is_active(const EventSink& sink) {
  std::lock_guard lock(mutex_);
  const Entry* entry = find(sink);
  return entry != nullptr && entry->is_active;
}

size_t SinkTable::size() {
  std::lock_guard lock(mutex_);
  return entries_.size();
}

uint32_t SinkTable::active_needs() {
  std::lock_guard lock(mutex_);
  uint32_t needs = 0;
  for (const Entry& entry : entries_) {
    if (entry.is_active) needs |= entry.needs;
  }
  return needs;
}

bool SinkTable::has_other(const EventSink& sink, Need need) {
  std::lock_guard lock(mutex_);
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.sink != &sink && entry.is_active && entry.has(need);
  });
}

void SinkTable::activate(const EventSink& sink) {
  std::lock_guard lock(mutex_);
  note_launch(launches_.cells().newest());
  if (Entry* entry = find(sink)) entry->is_active = true;
}

void SinkTable::begin(const EventSink& sink) {
  std::lock_guard lock(mutex_);
  note_launch(launches_.cells().newest());
  if (Entry* entry = find(sink)) begin_times(*entry);
}

/// Forgets times of long ago: those of which nothing is under way any more, and that lie further
/// back than launches are known.
void SinkTable::begin_times(Entry& entry) {
  if (entry.times.is_large() && order_.newest() > CorrelationMap::kCapacity) {
    CorrelationMap& map = *launches_.map(entry.with_frames());
    entry.times.trim(order_.newest() - CorrelationMap::kCapacity, [&](const auto& keep) {
      map.visit_unread(launches_.generation(), [&](uint32_t id) { keep(order_.position_of(id)); });
    });
  }
  // Nobody's before us, whatever the clocks say: nothing was recorded.
  const bool is_first = std::all_of(entries_.begin(), entries_.end(),
                                    [](const Entry& other) { return other.times.size() == 0; });
  const int64_t now = now_ns();
  for (Entry& other : entries_) {
    if (!other.is_active) other.times.end_moments(now);
  }
  entry.times.begin(order_.newest(), is_first ? ActiveTimes::kEver : now);
  entry.may_miss_records = true;
}

/// The last to pause gets what runs until somebody is active again: it was launched before, for
/// the driver records no more.
void SinkTable::pause(const EventSink& sink, bool is_recorded_on) {
  std::lock_guard lock(mutex_);
  note_launch(launches_.cells().newest());
  Entry* entry = find(sink);
  if (entry == nullptr) return;
  const bool is_last = std::none_of(entries_.begin(), entries_.end(), [&](const Entry& other) {
    return &other != entry && other.is_active;
  });
  entry->times.end(order_.newest(), is_last && !is_recorded_on ? ActiveTimes::kNever : now_ns());
  entry->is_active = false;
}

void SinkTable::deactivate(const EventSink& sink) {
  std::lock_guard lock(mutex_);
  if (Entry* entry = find(sink)) entry->is_active = false;
}

void SinkTable::reset_order() {
  std::lock_guard lock(mutex_);
  order_.reset();
  old_cells_at_ = 0;
}

void SinkTable::forget_old_cells() {
  if (old_cells_at_ != 0) {
    launches_.cells().forget_old(static_cast<uint32_t>(order_.newest()), kFarBack);
  }
  old_cells_at_ = order_.newest();
}

void SinkTable::count_loss(const char* kind, uint64_t count) {
  if (count == 0) return;
  for (const Entry& entry : entries_) entry.sink->on_loss(kind, count);
}

void SinkTable::count_dropped(uint64_t count) {
  for (Entry& entry : entries_) {
    if (entry.may_miss_records) {
      entry.sink->on_dropped(count);
      entry.dropped += count;
    }
    entry.may_miss_records = entry.is_active;
  }
}

void SinkTable::note_complete() {
  for (Entry& entry : entries_) entry.may_miss_records = entry.is_active;
}

void SinkTable::reset_after_fork() {
  new (&mutex_) std::mutex;
  entries_.clear();
}

}  // namespace proton
