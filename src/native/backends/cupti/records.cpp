// From a buffer that CUPTI has filled to the sinks: on CUPTI's own thread, or on one that flushes.
#include <algorithm>

#include "backends/cupti/activities.h"
#include "backends/cupti/hub.h"
#include "backends/cupti/thread_cells.h"
#include "model/losses.h"

namespace proton::cupti {

/// Moves the order of launches along: ids wrap around.
void Hub::note_launch(uint32_t correlation) {
  order_.note(correlation);
  if (order_.newest() - old_cells_at_ < kFarBack) [[likely]] {
    return;
  }
  if (old_cells_at_ != 0) forget_old_correlations(static_cast<uint32_t>(order_.newest()), kFarBack);
  old_cells_at_ = order_.newest();
}

void Hub::on_completed(Context context, uint32_t stream, uint8_t* buffer, size_t size,
                       size_t valid) noexcept {
  try {
    std::lock_guard lock(decode_);
    count_dropped(context, stream);
    ++stats_.buffers;
    stats_.buffer_bytes += valid;
    if (valid != 0) read_records(buffer, valid);
    dispatch();
    dispatch_launches();
    dispatch_values(0);
  } catch (...) {
    std::lock_guard lock(decode_);
    pending_count_ = 0;
    for (const SinkEntry& entry : sinks_) entry.sink->on_loss(losses::kInternal, 1);
  }
  buffers_.give_back(buffer, size, valid);
}

void Hub::count_dropped(Context context, uint32_t stream) {
  size_t dropped = 0;
  if (library_.dropped_records(context, stream, &dropped) != kSuccess || dropped == 0) return;
  stats_.dropped += dropped;
  for (SinkEntry& entry : sinks_) {
    if (entry.may_miss_records) {
      entry.sink->on_dropped(dropped);
      entry.dropped += dropped;
    }
    entry.may_miss_records = entry.is_active;
  }
}

void Hub::read_records(uint8_t* buffer, size_t valid) {
  names_.start_turn();
  CorrelationMap* const maps[] = {shadow_map_.get(), python_map_.get()};
  void* record = nullptr;
  while (library_.next_record(buffer, valid, &record) == kSuccess) {
    KernelEvent& event = pending_[pending_count_];
    const Decoded decoded = decode(record, names_, clock_, event);
    if (decoded == Decoded::kIgnored) continue;
    if (decoded == Decoded::kIncomplete) {
      ++stats_.incomplete;
      for (const SinkEntry& entry : sinks_) {
        const bool is_known = event.correlation != 0;  // else it may be anybody's
        if (!is_known || wants(entry, event.correlation)) {
          entry.sink->on_loss(losses::kIncomplete, 1);
        }
      }
      settle_launch(event.correlation);
      continue;
    }
    if (event.kind == EventKind::kKernel && event.name == kReaderName) {  // ours, and nobody's
      add_replayed_read(event);
      continue;
    }
    if (event.kind == EventKind::kKernel && event.name == kReplayCounterName) {
      settle_launch(event.correlation);
      continue;
    }
    is_asked_[pending_count_] = decoded == Decoded::kEvent;
    note_launch(event.correlation);
    for (const CorrelationMap* map : maps) {
      if (map != nullptr) map->prefetch(event.correlation);
    }
    if (++pending_count_ == kBatch) dispatch();
  }
}

inline Hub::Launch Hub::find_context(CorrelationMap* map, uint32_t correlation,
                                     ContextId& context) {
  context = kUnknownContext;
  if (map == nullptr) return Launch::kUnseen;
  const auto launch = map->find(correlation);
  if (!launch.has_value()) return Launch::kUnseen;
  if (launch->generation != generation_) return Launch::kEarlier;
  context = launch->context;
  return Launch::kSeen;
}

bool Hub::has_launches_under_way(uint32_t after, uint32_t until, bool with_frames) {
  std::lock_guard lock(decode_);
  CorrelationMap* map = (with_frames ? python_map_ : shadow_map_).get();
  return map != nullptr && map->has_unread(after, until, generation_);
}

/// Finds where the pending events were launched; drops those that nobody here asked for.
void Hub::find_launches() {
  Contexts contexts;  // of the event before: the kernels of a graph share one id
  uint32_t last = 0;
  size_t kept = 0;
  for (size_t i = 0; i < pending_count_; ++i) {
    const KernelEvent& event = pending_[i];
    if (!is_asked_[i]) {
      contexts = {kRootPath, kRootPath};
      last = 0;
    } else if (event.correlation != last || last == 0) {
      last = 0;
      const Launch shadow = find_context(shadow_map_.get(), event.correlation, contexts.shadow);
      const Launch python = find_context(python_map_.get(), event.correlation, contexts.python);
      if (contexts.shadow == kNoContext || contexts.python == kNoContext) continue;  // our own
      if (shadow != Launch::kSeen && python != Launch::kSeen) {
        // Launched before anyone here asked.
        if (shadow == Launch::kEarlier || python == Launch::kEarlier) continue;
        // A call that was under way when we subscribed: its start was not for us to see.
        if (order_.count() < kFarBack) {
          const uint32_t oldest = oldest_correlation(generation_);
          if (oldest != 0 && is_after(oldest, event.correlation)) continue;
        }
        ++stats_.unknown;
      } else {
        last = event.correlation;
      }
    }
    uint64_t& counter = event.kind == EventKind::kKernel ? stats_.kernels
                        : event.kind == EventKind::kCopy ? stats_.copies
                                                         : stats_.graphs;
    ++counter;
    contexts_of_[kept] = contexts;
    if (kept != i) pending_[kept] = event;
    ++kept;
  }
  pending_count_ = kept;
}

/// Hands the pending events to every sink that wants them, with its kind of context.
void Hub::dispatch() {
  find_launches();
  find_nodes();
  if (pending_count_ != 0) {
    for (const SinkEntry& entry : sinks_) send_to(entry);
  }
  pending_count_ = 0;
}

bool Hub::SinkEntry::wants_copy(const KernelEvent& event) const {
  const bool is_migration = event.correlation == 0 && event.graph_node == 0;
  return is_migration ? options.with_migrations : options.with_copies;
}

void Hub::send_to(const SinkEntry& entry) {
  std::array<bool, kBatch> is_wanted;
  size_t wanted_count = 0;
  for (size_t i = 0; i < pending_count_; ++i) {
    KernelEvent& event = pending_[i];
    const Contexts& contexts = contexts_of_[i];
    event.context = entry.options.with_frames ? contexts.python : contexts.shadow;
    event.capture = entry.options.with_frames ? contexts.python_capture : contexts.shadow_capture;
    is_wanted[i] = event.correlation == 0 ? entry.times.has_moment(event.start_ns)
                                          : wants(entry, event.correlation);
    if (event.kind == EventKind::kCopy && !entry.wants_copy(event)) is_wanted[i] = false;
    if (event.graph_node != 0 && event.capture == kNoContext) is_wanted[i] = false;  // our own
    wanted_count += is_wanted[i];
  }
  if (wanted_count == pending_count_) {
    entry.sink->on_events({pending_.data(), pending_count_});
  } else if (wanted_count != 0) {
    batch_.clear();
    for (size_t i = 0; i < pending_count_; ++i) {
      if (is_wanted[i]) batch_.push_back(pending_[i]);
    }
    entry.sink->on_events(batch_);
  }
}

/// Also those of sinks that have paused since.
void Hub::dispatch_launches() {
  if (std::none_of(sinks_.begin(), sinks_.end(),
                   [](const SinkEntry& entry) { return entry.options.with_launches; })) {
    return;
  }
  launches_.clear();
  take_launches(launches_);
  if (launches_.empty()) return;
  for (const SinkEntry& entry : sinks_) {
    if (!entry.options.with_launches) continue;
    const auto& map = entry.options.with_frames ? python_map_ : shadow_map_;
    launch_batch_.clear();
    for (const LaunchEvent& launch : launches_) {
      if (!wants(entry, launch.correlation)) continue;
      LaunchEvent& sent = launch_batch_.emplace_back(launch);
      find_context(map.get(), launch.correlation, sent.context);
      if (sent.context == kNoContext) launch_batch_.pop_back();  // our own
    }
    if (!launch_batch_.empty()) entry.sink->on_launches(launch_batch_);
  }
}

}  // namespace proton::cupti
