// From a buffer that CUPTI has filled to the sinks: on CUPTI's own thread, or on one that flushes.
#include "backends/cupti/activities.h"
#include "backends/cupti/hub.h"
#include "backends/cupti/thread_cells.h"
#include "model/losses.h"

namespace proton::cupti {
namespace {

/// So many events share one lock of each sink.
constexpr size_t kBatch = 512;

}  // namespace

bool Hub::Interval::has(uint32_t correlation) const {
  if (after != 0 && !is_after(correlation, after)) return false;
  return is_open || !is_after(correlation, until);
}

bool Hub::SinkEntry::wants(uint32_t correlation) const {
  for (auto interval = intervals.rbegin(); interval != intervals.rend(); ++interval) {
    if (interval->has(correlation)) return true;
  }
  return false;
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
  } catch (...) {
    std::lock_guard lock(decode_);
    pending_.clear();
    for (const SinkEntry& entry : sinks_) entry.sink->on_loss(losses::kInternal, 1);
  }
  buffers_.give_back(buffer, size);
}

void Hub::count_dropped(Context context, uint32_t stream) {
  size_t dropped = 0;
  if (library_.dropped_records(context, stream, &dropped) != kSuccess || dropped == 0) return;
  stats_.dropped += dropped;
  for (const SinkEntry& entry : sinks_) {
    if (entry.is_active) entry.sink->on_dropped(dropped);
  }
}

void Hub::read_records(uint8_t* buffer, size_t valid) {
  KernelEvent event;
  void* record = nullptr;
  while (library_.next_record(buffer, valid, &record) == kSuccess) {
    switch (decode(record, names_, clock_, event)) {
      case Decoded::kEvent:
        add_pending(event, true);
        break;
      case Decoded::kUnasked:
        add_pending(event, false);
        break;
      case Decoded::kIncomplete:
        ++stats_.incomplete;
        for (const SinkEntry& entry : sinks_) entry.sink->on_loss(losses::kIncomplete, 1);
        break;
      case Decoded::kIgnored:
        break;
    }
    if (pending_.size() >= kBatch) dispatch();
  }
}

bool Hub::find_context(CorrelationMap* map, uint32_t correlation, ContextId& context) {
  context = kUnknownContext;
  if (map == nullptr) return true;
  const auto launch = map->find(correlation);
  if (!launch.has_value()) return true;
  context = launch->context;
  return launch->generation == generation_;
}

void Hub::add_pending(const KernelEvent& event, bool is_asked) {
  Pending pending{event, kRootPath, kRootPath, kNoContext, kNoContext, is_asked};
  if (is_asked) {
    const bool has_shadow = find_context(shadow_map_.get(), event.correlation, pending.shadow);
    const bool has_python = find_context(python_map_.get(), event.correlation, pending.python);
    if (!has_shadow || !has_python) return;  // launched before anyone here asked
    if (pending.shadow == kUnknownContext && pending.python == kUnknownContext) {
      // A call that was under way when we subscribed: its start was not for us to see.
      const uint32_t oldest = oldest_correlation(generation_);
      if (oldest != 0 && is_after(oldest, event.correlation)) return;
      ++stats_.unknown;
    }
  }
  uint64_t& counter = event.kind == EventKind::kKernel ? stats_.kernels
                      : event.kind == EventKind::kCopy ? stats_.copies
                                                       : stats_.graphs;
  ++counter;
  pending_.push_back(pending);
}

/// Hands the pending events to every sink that wants them, with its kind of context.
void Hub::dispatch() {
  if (pending_.empty()) return;
  const uint32_t epoch = source_.epoch();
  {
    std::lock_guard lock(nodes_.mutex());
    for (Pending& pending : pending_) {
      if (pending.event.graph_node == 0) continue;
      pending.shadow_capture = pending.python_capture = kUnknownContext;
      const NodeContexts* node = nodes_.find(pending.event.graph_node);
      if (node == nullptr || node->epoch != epoch) continue;
      pending.shadow_capture = node->shadow;
      pending.python_capture = node->python;
      pending.event.graph_root = node->root;
    }
  }
  for (const SinkEntry& entry : sinks_) {
    batch_.clear();
    for (const Pending& pending : pending_) {
      // Work without an id goes to whoever is active now.
      const uint32_t id = pending.event.correlation;
      if (id == 0 ? !entry.is_active : !entry.wants(id)) continue;
      if (pending.event.kind == EventKind::kCopy && !entry.options.with_copies) continue;
      KernelEvent& event = batch_.emplace_back(pending.event);
      event.context = entry.options.with_frames ? pending.python : pending.shadow;
      event.capture = entry.options.with_frames ? pending.python_capture : pending.shadow_capture;
    }
    if (!batch_.empty()) entry.sink->on_events(batch_);
  }
  pending_.clear();
}

void Hub::dispatch_launches() {
  if ((captures_.load(std::memory_order_relaxed) & kTimes) == 0) return;
  launches_.clear();
  take_launches(launches_);
  if (launches_.empty()) return;
  for (const SinkEntry& entry : sinks_) {
    if (!entry.options.with_launches) continue;
    const auto& map = entry.options.with_frames ? python_map_ : shadow_map_;
    launch_batch_.clear();
    for (const LaunchEvent& launch : launches_) {
      if (!entry.wants(launch.correlation)) continue;
      LaunchEvent& sent = launch_batch_.emplace_back(launch);
      find_context(map.get(), launch.correlation, sent.context);
    }
    if (!launch_batch_.empty()) entry.sink->on_launches(launch_batch_);
  }
}

}  // namespace proton::cupti
