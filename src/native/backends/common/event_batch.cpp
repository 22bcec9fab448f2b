#include "backends/common/event_batch.h"

#include <algorithm>

namespace proton {

/// Finds where the events were launched; drops those that nobody here asked for.
void EventBatch::find_launches() {
  using Launch = LaunchTable::Launch;
  EventContexts contexts;  // of the event before: the kernels of a graph share one id
  uint32_t last = 0;
  size_t kept = 0;
  for (size_t i = 0; i < count_; ++i) {
    const KernelEvent& event = events_[i];
    if (!is_asked_[i]) {
      contexts = {kRootPath, kRootPath};
      last = 0;
    } else if (event.correlation != last || last == 0) {
      last = 0;
      const Launch shadow = launches_.find(false, event.correlation, contexts.shadow);
      const Launch python = launches_.find(true, event.correlation, contexts.python);
      if (contexts.shadow == kNoContext || contexts.python == kNoContext) continue;  // our own
      if (shadow != Launch::kSeen && python != Launch::kSeen) {
        // Launched before anyone here asked.
        if (shadow == Launch::kEarlier || python == Launch::kEarlier) continue;
        // A call that was under way when we subscribed: its start was not for us to see.
        if (sinks_.order().count() < kFarBack) {
          const uint32_t oldest = launches_.cells().oldest(launches_.generation());
          if (oldest != 0 && is_after(oldest, event.correlation)) continue;
        }
        ++counts_.unknown;
      } else {
        last = event.correlation;
      }
    }
    uint64_t& counter = event.kind == EventKind::kKernel ? counts_.kernels
                        : event.kind == EventKind::kCopy ? counts_.copies
                                                         : counts_.graphs;
    ++counter;
    contexts_[kept] = contexts;
    if (kept != i) events_[kept] = event;
    ++kept;
  }
  count_ = kept;
}

void EventBatch::send() {
  find_launches();
  if (count_ != 0) {
    annotator_.annotate({events_.data(), count_}, {contexts_.data(), count_});
    for (const SinkTable::Entry& entry : sinks_.entries()) send_to(entry);
  }
  count_ = 0;
}

void EventBatch::send_to(const SinkTable::Entry& entry) {
  std::array<bool, kSize> is_wanted;
  size_t wanted_count = 0;
  const bool with_frames = entry.with_frames();
  for (size_t i = 0; i < count_; ++i) {
    KernelEvent& event = events_[i];
    const EventContexts& contexts = contexts_[i];
    event.context = with_frames ? contexts.python : contexts.shadow;
    event.capture = with_frames ? contexts.python_capture : contexts.shadow_capture;
    is_wanted[i] = event.correlation == 0 ? entry.times.has_moment(event.start_ns)
                                          : sinks_.wants(entry, event.correlation);
    if (event.kind == EventKind::kCopy && !entry.wants_copy(event)) is_wanted[i] = false;
    if (event.graph_node != 0 && event.capture == kNoContext) is_wanted[i] = false;  // our own
    wanted_count += is_wanted[i];
  }
  if (wanted_count == count_) {
    entry.sink->on_events({events_.data(), count_});
  } else if (wanted_count != 0) {
    wanted_.clear();
    for (size_t i = 0; i < count_; ++i) {
      if (is_wanted[i]) wanted_.push_back(events_[i]);
    }
    entry.sink->on_events(wanted_);
  }
}

void EventBatch::send_calls() {
  const auto& entries = sinks_.entries();
  if (std::none_of(entries.begin(), entries.end(),
                   [](const auto& entry) { return entry.has(kNeedsCalls); })) {
    return;
  }
  calls_.clear();
  launches_.cells().take_calls(calls_);
  if (calls_.empty()) return;
  for (const SinkTable::Entry& entry : entries) {
    if (!entry.has(kNeedsCalls)) continue;
    wanted_calls_.clear();
    for (const LaunchEvent& call : calls_) {
      if (!sinks_.wants(entry, call.correlation)) continue;
      LaunchEvent& sent = wanted_calls_.emplace_back(call);
      launches_.find(entry.with_frames(), call.correlation, sent.context);
      if (sent.context == kNoContext) wanted_calls_.pop_back();  // our own
    }
    if (!wanted_calls_.empty()) entry.sink->on_launches(wanted_calls_);
  }
}

}  // namespace proton
