/// Regions below the regions they were recorded in, with what all warps of a buffer spent there.
/// One thread; warps come one after the other.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "backends/device_buffer/layout.h"
#include "base/key_index.h"

namespace proton::device_buffer {

/// The smallest and the largest of some numbers.
template <typename T>
struct Extremes {
  T min{};
  T max{};

  void widen(T low, T high, bool is_first) {
    min = is_first ? low : std::min(min, low);
    max = is_first ? high : std::max(max, high);
  }
};

/// What numbers that a kernel recorded in one place add up to. Integers keep their exact extremes;
/// floats that are not finite are counted and left out of the rest. Not locked.
struct ValueSum {
  uint64_t count = 0;       // all of them
  uint64_t not_finite = 0;  // of them: NaN and infinities
  double sum = 0;           // never infinite: the largest number stands for more
  bool is_float = false;    // `floats` has the extremes, else `integers`
  Extremes<int64_t> integers{};
  Extremes<double> floats{};

  uint64_t finite_count() const { return count - not_finite; }

  void add(int64_t value) {
    integers.widen(value, value, count++ == 0);
    sum += static_cast<double>(value);
  }
  void add_float(double value) {
    is_float = true;
    const bool is_first = finite_count() == 0;
    ++count;
    if (!std::isfinite(value)) {
      ++not_finite;
      return;
    }
    floats.widen(value, value, is_first);
    add_to_sum(value);
  }
  /// Of the same kind, or with nothing in one of them.
  void add(const ValueSum& other) {
    is_float = is_float || other.is_float;
    if (other.finite_count() > 0) {
      const bool is_first = finite_count() == 0;
      integers.widen(other.integers.min, other.integers.max, is_first);
      floats.widen(other.floats.min, other.floats.max, is_first);
    }
    count += other.count;
    not_finite += other.not_finite;
    add_to_sum(other.sum);
  }

 private:
  void add_to_sum(double value) {
    constexpr double kMost = std::numeric_limits<double>::max();
    sum = std::clamp(sum + value, -kMost, kMost);
  }
};

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

/// A start or an end that was matched.
struct PassageSide {
  uint64_t slot;
  uint64_t clock;
  uint64_t placed;  // where a span has it
};

class RegionContexts {
 public:
  /// Begins a buffer; what the last one had is lost. Memory is used again.
  void begin(bool keeps_spans);

  /// The context of a region inside `parent`; kNoContext: there are too many.
  uint32_t enter(uint32_t parent, uint32_t region) {
    const uint64_t key = pair_key(parent, region);
    if (key == last_key_) [[likely]] {
      return last_context_;
    }
    return enter_other(key, parent, region);
  }
  RegionContext& operator[](uint32_t context) { return contexts_[context]; }
  /// The context, where the warp at hand was now.
  RegionContext& touch(uint32_t context) {
    RegionContext& touched = contexts_[context];
    if (!touched.is_touched) {
      touched.is_touched = true;
      touched_.push_back(context);
    }
    return touched;
  }
  std::span<const uint32_t> touched() const { return touched_; }

  /// Adds a passage; `slot` is the warp at hand.
  void book(uint32_t context, const PassageSide& start, const PassageSide& end, double cycles,
            uint64_t slot);
  /// Where spans are kept.
  void add_span(const RegionSpan& span) {
    if (keeps_spans_) spans_.push_back(span);
  }
  bool keeps_spans() const { return keeps_spans_; }
  void finish_warp(uint64_t slot);

  /// One entry a slot in each `warps`, by slot: what was spent in one go and what in waiting.
  std::span<RegionContext> in_order();
  std::vector<RegionSpan>& spans() { return spans_; }

 private:
  uint32_t enter_other(uint64_t key, uint32_t parent, uint32_t region);

  bool keeps_spans_ = false;
  std::vector<RegionContext> contexts_;
  std::vector<std::vector<WarpCycles>> spare_;  // memory for `warps` of contexts to come
  std::vector<RegionSpan> spans_;
  KeyIndex children_;      // (parent, region) -> context
  uint64_t last_key_ = 0;  // of children_, most often the next one too
  uint32_t last_context_ = 0;
  std::vector<uint32_t> touched_;
};

}  // namespace proton::device_buffer
