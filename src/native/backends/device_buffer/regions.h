/// From events to regions: starts matched with their ends, warp by warp, in the context they are
/// nested in. One thread; slots come in order, a CTA's together.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backends/device_buffer/decode.h"
#include "backends/device_buffer/losses.h"
#include "backends/device_buffer/record_cost.h"
#include "backends/device_buffer/value_sum.h"
#include "base/key_index.h"

namespace proton::device_buffer {

constexpr uint32_t kNoContext = ~0u;

/// What one warp spent in one context.
struct WarpCycles {
  uint64_t slot;
  double cycles;
  uint64_t passages;
};

/// A region below the regions it was recorded in, and what all warps spent in it.
struct RegionContext {
  uint32_t region = 0;
  uint32_t parent = kNoContext;  // an earlier one, or none
  uint32_t depth = 0;
  uint64_t count = 0;       // passages, marks or values
  uint64_t raw_cycles = 0;  // as the clocks say
  double cycles = 0;        // without the records' own cost
  double min_cycles = 0;    // of a passage
  double max_cycles = 0;
  ValueSum values;
  std::vector<WarpCycles> warps;
  bool is_in_order = true;  // `warps`, by slot; else some may be there twice
  double warp_cycles = 0;   // of the warp at hand
  uint64_t warp_passages = 0;
  bool is_touched = false;

  /// A passage of the warp at hand.
  void add(uint64_t raw, double corrected) {
    add_elsewhere(raw, corrected);
    warp_cycles += corrected;
    ++warp_passages;
  }
  /// One that did not stay in it.
  void add_elsewhere(uint64_t raw, double corrected) {
    const bool is_first = count++ == 0;
    raw_cycles += raw;
    cycles += corrected;
    min_cycles = is_first ? corrected : std::min(min_cycles, corrected);
    max_cycles = std::max(max_cycles, corrected);
  }
  void finish_warp(uint64_t slot) {
    warps.push_back({slot, warp_cycles, warp_passages});
    warp_cycles = 0;
    warp_passages = 0;
    is_touched = false;
  }
};

/// One passage, mark (of no length) or value, by clock.
struct RegionSpan {
  uint64_t slot;
  uint64_t end_slot;  // another one of the CTA where it ended in another warp
  uint64_t start_clock;
  uint64_t end_clock;
  int64_t value;  // as in Event
  uint32_t context;
  RecordKind kind;  // kStart for a passage
};

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
  bool repeat_warp(uint64_t slot, uint32_t alike, const WarpBytes& warp, uint32_t clock_bits);
  /// `is_start_lost`: records were overwritten, so ends may come without a start.
  void add_warp(uint64_t slot, std::span<const Event> events, bool is_start_lost,
                uint32_t alike = 0);
  /// Every warp of a CTA was added: match what was left over across them.
  void end_cta();

  /// One entry a slot in each `warps`, by slot: what was spent in one go and what in waiting.
  std::span<RegionContext> contexts();
  std::vector<RegionSpan>& spans() { return spans_; }

 private:
  struct Open {
    Event event;
    uint32_t context;
    double worked;            // `worked_` at its start
    uint64_t placed;          // where its span starts
    bool is_crossed = false;  // what it was nested in has ended: nothing is nested in it any more
    uint32_t turns = 0;       // of a loop: those that ended
  };
  struct Turn {  // of a loop; its end was recorded, but it may last until the next record
    Open start;
    Event end;
    double worked;    // `worked_` at its end
    uint64_t placed;  // where its span ends
  };
  struct Pending {  // an asynchronous start or end without its other half
    uint64_t slot;
    Event event;
    uint32_t context;  // of a start
    uint64_t placed;   // where a span has it
  };
  struct Side {  // a start or an end that was matched
    uint64_t slot;
    uint64_t clock;
    uint64_t placed;
  };
  struct Queue {
    std::vector<Pending> starts;
    size_t taken = 0;  // of them, from the front
  };

  /// What a warp recorded, and which of that belongs together. Kernels whose warps do the same are
  /// matched once.
  struct Pattern {
    struct Passage {
      uint32_t start, end;  // records
      uint32_t context;
    };
    std::vector<uint32_t> tags;      // without payloads; empty: none is known
    std::vector<Passage> passages;   // as they ended
    std::vector<uint32_t> contexts;  // of them, each once
  };

  void learn(std::span<const Event> events, Pattern& pattern);
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
  uint32_t innermost() const;
  /// The context of a region here; kNoContext where there are too many.
  uint32_t enter_context(uint32_t region);
  void book(uint32_t context, const Side& start, const Side& end, double cycles);
  void book_pair(const Pending& start, const Pending& end);
  void match_across(std::span<const Pending> starts, std::span<const Pending> ends);
  std::vector<std::vector<Pending>> by_waiting(std::span<const Pending> starts,
                                               std::span<const Pending> ends) const;
  void match_oldest(std::span<const Pending> starts, std::span<const Pending> ends, size_t share);
  void match_newest(std::span<const Pending> starts, std::span<const Pending> ends);
  uint64_t place(const Event& event) const;
  void work_until(const Event& event, const Event* before);
  RegionContext& touch(uint32_t context);
  void finish_warp();

  std::span<const Region> regions_;
  Options options_;
  Losses* losses_ = nullptr;
  std::vector<RegionContext> contexts_;
  std::vector<std::vector<WarpCycles>> spare_;  // memory for `warps` of contexts to come
  std::vector<RegionSpan> spans_;
  KeyIndex children_;      // (parent, region) -> context
  uint64_t last_key_ = 0;  // of children_, most often the next one too
  uint32_t last_context_ = 0;
  // of the warp at hand
  uint64_t slot_ = 0;
  bool is_start_lost_ = false;
  uint64_t first_clock_ = 0;
  double worked_ = 0;  // cycles from its first record on, without what records cost
  std::vector<Open> open_;
  std::optional<Turn> turn_;  // the last record but marks and values was its end
  size_t crossed_ = 0;        // of open_
  bool has_crossed_ = false;
  uint64_t skipped_ = 0;  // starts without a context, whose ends must be skipped too
  std::vector<uint32_t> touched_;
  std::vector<Queue> queues_;     // by region: asynchronous starts
  std::vector<uint32_t> queued_;  // regions with a start in their queue, some more than once
  // warps that repeat another
  std::array<Pattern, 8> patterns_;
  std::vector<Pattern::Passage> passages_;  // of the warp at hand
  std::vector<uint64_t> clocks_;
  std::vector<double> worked_at_;
  uint64_t repeated_ = 0, learned_ = 0;
  // of the CTA at hand
  bool is_start_lost_in_cta_ = false;
  std::vector<Pending> pending_starts_;
  std::vector<Pending> pending_ends_;
};

}  // namespace proton::device_buffer
