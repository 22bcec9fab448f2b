/// The sinks of a backend: what each needs, when it was active and so which launches are its own,
/// and what it was told to have lost. Its lock is the one under which a backend reads records, one
/// buffer at a time. It comes after the backend's control lock and before those of graph nodes,
/// metric values and thread cells. It is never held while a driver is told to flush: buffers come
/// back on the flushing thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

#include "backends/common/active_times.h"
#include "backends/common/launch_table.h"
#include "model/event_sink.h"

namespace proton {

class SinkTable {
 public:
  struct Entry {
    EventSink* sink;
    uint32_t needs;  // bits of Need
    bool is_active = false;
    ActiveTimes times;
    bool may_miss_records = false;  // was active since dropped records were last counted
    uint64_t dropped = 0;           // of those it was told of; they may be of missing launches

    bool has(uint32_t need) const { return (needs & need) != 0; }
    bool with_frames() const { return has(kNeedsPython); }
    /// Whether it asked for copies of this kind, whenever it was.
    bool wants_copy(const KernelEvent& event) const {
      const bool is_migration = event.correlation == 0 && event.graph_node == 0;
      return has(is_migration ? kNeedsMigrations : kNeedsCopies);
    }
  };

  explicit SinkTable(LaunchTable& launches) : launches_(launches) {}

  [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

  // With the backend's control lock, without this one
  void add(EventSink& sink, uint32_t needs);
  void remove(const EventSink& sink);
  bool has(const EventSink& sink);
  bool is_active(const EventSink& sink);
  size_t size();
  /// What the active ones need, or-ed; 0: none is active.
  uint32_t active_needs();
  /// Whether another active sink has this need.
  bool has_other(const EventSink& sink, Need need);

  /// From now on its needs count. Launches are its own from `begin` on: what other threads launch
  /// before the driver tells all that it needs is not.
  void activate(const EventSink& sink);
  void begin(const EventSink& sink);
  /// `is_recorded_on`: the driver goes on recording though no sink may be active.
  void pause(const EventSink& sink, bool is_recorded_on);
  /// Without an end to its time: it never began, or the sink goes.
  void deactivate(const EventSink& sink);

  /// Ids start anew.
  void reset_order();

  /// Calls `visit` with every active sink that has this need.
  template <typename Visit>
  void visit_active(Need need, Visit&& visit) {
    std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_) {
      if (entry.is_active && entry.has(need)) visit(*entry.sink);
    }
  }

  // With the lock
  std::vector<Entry>& entries() { return entries_; }
  /// Moves the order of launches along: ids wrap around.
  void note_launch(uint32_t correlation) {
    order_.note(correlation);
    if (order_.newest() - old_cells_at_ >= kFarBack) [[unlikely]] {
      forget_old_cells();
    }
  }
  const LaunchOrder& order() const { return order_; }
  /// Whether the sink was active at this launch.
  bool wants(const Entry& entry, uint32_t correlation) const {
    return entry.times.has(order_.position_of(correlation));
  }
  void count_loss(const char* kind, uint64_t count);
  /// The driver says that it has dropped so many records since it was last asked.
  void count_dropped(uint64_t count);
  /// Every record of work up to now was read: those dropped from now on are of who is active.
  void note_complete();

  /// In a forked child.
  void reset_after_fork();

 private:
  Entry* find(const EventSink& sink);
  void begin_times(Entry& entry);
  void forget_old_cells();

  LaunchTable& launches_;
  std::mutex mutex_;
  std::vector<Entry> entries_;
  LaunchOrder order_;
  uint64_t old_cells_at_ = 0;  // the position at which cells were last looked through
};

}  // namespace proton
