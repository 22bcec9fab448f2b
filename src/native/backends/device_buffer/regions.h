/// From events to regions: starts matched with their ends, warp by warp, in the context they are
/// nested in. One thread; slots come in order, a CTA's together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backends/device_buffer/cross_warp_matcher.h"
#include "backends/device_buffer/decode.h"
#include "backends/device_buffer/region_contexts.h"
#include "backends/device_buffer/region_ends.h"
#include "backends/device_buffer/warp_patterns.h"

namespace proton::device_buffer {

class RegionMatcher {
 public:
  struct Options {
    RecordCost cost{};
    bool keeps_spans = false;
  };

  /// Begins a buffer; what is found is lost to the next. Memory is used again.
  void begin(std::span<const Region> regions, Options options, Losses& losses);

  /// Adds a warp that recorded what the one added before with the same `alike` did, but for the
  /// clocks: nothing needs to be matched. False: it did not, and nothing was added.
  bool repeat_warp(uint64_t slot, uint32_t alike, const WarpBytes& warp, uint32_t clock_bits) {
    return patterns_.repeat(slot, alike, warp, clock_bits, options_.cost, contexts_, *losses_);
  }
  /// `is_start_lost`: records were overwritten, so ends may come without a start.
  void add_warp(uint64_t slot, std::span<const Event> events, bool is_start_lost,
                uint32_t alike = 0);
  /// Every warp of a CTA was added: match what was left over across them.
  void end_cta() { across_.end_cta(options_.cost, contexts_, *losses_); }

  /// One entry a slot in each `warps`, by slot: what was spent in one go and what in waiting.
  std::span<RegionContext> contexts() { return contexts_.in_order(); }
  std::vector<RegionSpan>& spans() { return contexts_.spans(); }

 private:
  struct Open {
    Event event;
    uint32_t context;
    double worked;            // `worked_` at its start
    uint64_t placed;          // where its span starts
    bool is_crossed = false;  // what it was nested in has ended: nothing is nested in it any more
    uint32_t turns = 0;       // of a loop: those that ended
    size_t ends_at = 0;       // which event ends it, where regions may overlap
  };
  struct Turn {  // of a loop; its end was recorded, but it may last until the next record
    Open start;
    Event end;
    double worked;    // `worked_` at its end
    uint64_t placed;  // where its span ends
  };
  struct Queue {
    std::vector<HalfPassage> starts;
    size_t taken = 0;  // of them, from the front
  };

  void start(const Event& event);
  void end(const Event& event);
  void end_queued(const Event& event);
  void note(const Event& event);
  void close(size_t at, const Event& end);
  void settle_turn(const Event& event, const Event& before);
  bool lasts_until(const Turn& turn, const Event& event) const;
  void end_turn(const Event& end, double worked, uint64_t placed);
  void book_passage(const Open& start, const Event& end, double worked, uint64_t placed);
  void drop_crossed(uint32_t region);
  /// The innermost region that lasts until event `end` at least.
  uint32_t innermost(size_t end) const;
  /// The context of a region that ends with event `end`; kNoContext where there are too many.
  uint32_t enter_context(uint32_t region, size_t end);
  uint64_t place(const Event& event) const;
  void work_until(const Event& event, const Event* before);
  void finish_warp();

  std::span<const Region> regions_;
  Options options_;
  Losses* losses_ = nullptr;
  RegionContexts contexts_;
  WarpPatterns patterns_;
  CrossWarpMatcher across_;
  bool may_overlap_ = false;  // some of regions_ may
  // of the warp at hand
  uint64_t slot_ = 0;
  bool is_start_lost_ = false;
  uint64_t first_clock_ = 0;
  double worked_ = 0;  // cycles from its first record on, without what records cost
  size_t at_ = 0;      // which event it is
  RegionEnds ends_;    // where regions may overlap
  std::vector<Open> open_;
  std::optional<Turn> turn_;  // the last record but marks and values was its end
  size_t crossed_ = 0;        // of open_
  bool has_crossed_ = false;
  uint64_t skipped_ = 0;          // starts without a context, whose ends must be skipped too
  std::vector<Queue> queues_;     // by region: asynchronous starts
  std::vector<uint32_t> queued_;  // regions with a start in their queue, some more than once
};

}  // namespace proton::device_buffer
