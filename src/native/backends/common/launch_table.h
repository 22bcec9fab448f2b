/// The launches of a driver, from the call to the last of its records: which context each had, by
/// its correlation id, for both kinds of contexts. A subscription is a generation: ids may start
/// anew with it, and launches of an earlier one are told apart. Any thread; no lock but that of the
/// maps for launches whose records come very late.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "backends/common/correlation_map.h"
#include "backends/common/launch_cells.h"
#include "model/event_sink.h"
#include "model/ids.h"

namespace proton {

/// What sinks need, as bits: what several need is what each of them needs, or-ed.
enum Need : uint32_t {
  kNeedsShadow = 1,       // contexts of launches as scopes
  kNeedsPython = 2,       // contexts of launches as Python frames
  kNeedsCalls = 4,        // the launching calls too, for a timeline
  kNeedsGraphTimes = 8,   // how long each launch of a graph took, on stderr
  kNeedsSamples = 16,     // of instructions
  kNeedsCopies = 32,      // copies and memsets
  kNeedsMigrations = 64,  // of unified memory
  kNeedsNodes = 128,      // graphs node by node, not as wholes
};

class LaunchTable {
 public:
  enum class Launch {
    kUnseen,
    kEarlier,  // seen by an earlier subscription; its id may have come again since
    kSeen,
  };

  explicit LaunchTable(LaunchCells& cells) : cells_(cells) {}
  ~LaunchTable() {
    for (const auto& known : maps_) delete known.load();
  }
  LaunchTable(const LaunchTable&) = delete;
  LaunchTable& operator=(const LaunchTable&) = delete;

  // With the backend's control lock
  /// Launches with contexts of this kind will come. Throws std::bad_alloc.
  void open(bool with_frames);
  /// Ids may start anew; nobody may be launching under callbacks.
  void begin_generation();

  LaunchCells& cells() { return cells_; }
  uint32_t generation() const { return generation_.load(std::memory_order_relaxed); }
  /// Null: no sink ever had contexts of this kind. It stays.
  CorrelationMap* map(bool with_frames) const {
    return maps_[with_frames ? 1 : 0].load(std::memory_order_acquire);
  }

  /// On a launching thread, before its call: where the launch belongs, for the kinds of contexts in
  /// `needs`, with its tag (see CorrelationMap). Takes no lock.
  void put(LaunchCell& cell, uint32_t correlation, uint32_t needs, uint64_t tag,
           const ContextSource& source) noexcept {
    cell.under_way.store(correlation, std::memory_order_relaxed);  // before others see it
    if ((needs & kNeedsShadow) != 0) map(false)->put(correlation, source.shadow(), tag);
    if ((needs & kNeedsPython) != 0) map(true)->put(correlation, source.python(), tag);
  }
  /// Then, also where nobody asked for contexts: the launch is the thread's newest.
  static void count(LaunchCell& cell, uint32_t correlation, uint32_t generation) noexcept {
    if (cell.generation.load(std::memory_order_relaxed) != generation) [[unlikely]] {
      cell.first_correlation.store(correlation, std::memory_order_relaxed);
      cell.generation.store(generation, std::memory_order_release);
      cell.context = nullptr;
    }
    cell.last_correlation.store(correlation, std::memory_order_relaxed);
    cell.launch_count.store(cell.launch_count.load(std::memory_order_relaxed) + 1,
                            std::memory_order_relaxed);
  }

  /// No record of it is waited for any more, whichever kinds were asked for meanwhile.
  void mark_read(uint32_t correlation) noexcept;
  /// A record of it may come or not; `needs` says in which maps.
  void mark_optional(uint32_t correlation, uint32_t needs) noexcept;
  /// The driver is about to stop recording kernels, or has done so.
  void mark_under_way_optional();

  /// Marks the launch as read; `context` is unknown unless it was seen.
  Launch find(bool with_frames, uint32_t correlation, ContextId& context) {
    context = kUnknownContext;
    CorrelationMap* const known = map(with_frames);
    if (known == nullptr) return Launch::kUnseen;
    const auto launch = known->find(correlation);
    if (!launch.has_value()) return Launch::kUnseen;
    if (launch->generation != generation()) return Launch::kEarlier;
    context = launch->context;
    return Launch::kSeen;
  }
  /// The same, of whichever generation.
  ContextId context_of(bool with_frames, uint32_t correlation) {
    CorrelationMap* const known = map(with_frames);
    const auto launch = known == nullptr ? std::nullopt : known->find(correlation);
    return launch.has_value() ? launch->context : ContextId{kUnknownContext};
  }
  /// A reader will soon ask for this one.
  void prefetch(uint32_t correlation) const noexcept {
    for (const auto& known : maps_) {
      const CorrelationMap* const map = known.load(std::memory_order_relaxed);
      if (map != nullptr) map->prefetch(correlation);
    }
  }

  /// Whether a launch after one id, up to another, was not read yet.
  bool has_unread(uint32_t after, uint32_t until, bool with_frames) {
    CorrelationMap* const known = map(with_frames);
    return known != nullptr && known->has_unread(after, until, generation());
  }

 private:
  std::atomic<uint32_t> generation_{0};
  std::array<std::atomic<CorrelationMap*>, 2> maps_{};  // once made they stay
  LaunchCells& cells_;
};

}  // namespace proton
