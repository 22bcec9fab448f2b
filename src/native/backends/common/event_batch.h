/// Events on their way from a driver's buffer to the sinks: decoded in place, and sent from there
/// to sinks that want them all. Callers hold the lock of the sink table.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "backends/common/launch_table.h"
#include "backends/common/sink_table.h"

namespace proton {

/// The contexts of an event, for both kinds of sinks.
struct EventContexts {
  ContextId shadow = kUnknownContext;
  ContextId python = kUnknownContext;
  ContextId shadow_capture = kNoContext;
  ContextId python_capture = kNoContext;
};

/// Adds to events what their launch cannot tell: where the nodes of a graph were captured.
class EventAnnotator {
 public:
  virtual ~EventAnnotator() = default;
  /// What it lets events refer to stays good until the next call.
  virtual void annotate(std::span<KernelEvent> events, std::span<EventContexts> contexts) = 0;
};

struct EventCounts {
  uint64_t kernels = 0;
  uint64_t copies = 0;
  uint64_t graphs = 0;
  uint64_t unknown = 0;  // launches that nobody saw
};

class EventBatch {
 public:
  /// So many events share one lock of each sink; more would not stay in the nearest cache.
  static constexpr size_t kSize = 128;

  EventBatch(LaunchTable& launches, SinkTable& sinks, EventAnnotator& annotator)
      : launches_(launches), sinks_(sinks), annotator_(annotator) {}

  /// Where to decode the next event; nothing of it stays without `push`.
  KernelEvent& next() { return events_[count_]; }
  /// `is_asked`: a call of the program's launched it.
  void push(bool is_asked) {
    const uint32_t correlation = events_[count_].correlation;
    is_asked_[count_] = is_asked;
    sinks_.note_launch(correlation);
    launches_.prefetch(correlation);
    if (++count_ == kSize) send();
  }
  /// Hands the events so far to every sink that wants them, with its kind of context.
  void send();
  void clear() { count_ = 0; }

  /// Hands over the launching calls noted so far, also to sinks that have paused since.
  void send_calls();

  const EventCounts& counts() const { return counts_; }

 private:
  void find_launches();
  void send_to(const SinkTable::Entry& entry);

  LaunchTable& launches_;
  SinkTable& sinks_;
  EventAnnotator& annotator_;
  EventCounts counts_;
  size_t count_ = 0;
  std::array<KernelEvent, kSize> events_;
  std::array<EventContexts, kSize> contexts_;
  std::array<bool, kSize> is_asked_;
  std::vector<KernelEvent> wanted_;  // for a sink that wants some of them
  std::vector<LaunchEvent> calls_;
  std::vector<LaunchEvent> wanted_calls_;
};

}  // namespace proton
