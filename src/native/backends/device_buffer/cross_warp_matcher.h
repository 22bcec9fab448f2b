/// Asynchronous starts and ends that found no other half in their warp, matched across the warps of
/// a CTA. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backends/device_buffer/decode.h"
#include "backends/device_buffer/region_contexts.h"

namespace proton::device_buffer {

/// An asynchronous start or end without its other half.
struct HalfPassage {
  uint64_t slot;
  Event event;
  uint32_t context;  // of a start
  uint64_t placed;   // where a span has it
};

/// What is under way goes on beside the records in between: only the pair itself costs. `slot` is
/// the warp at hand.
void book_pair(const HalfPassage& start, const HalfPassage& end, const RecordCost& cost,
               RegionContexts& contexts, uint64_t slot);

class CrossWarpMatcher {
 public:
  void add_starts(std::span<const HalfPassage> starts) {
    starts_.insert(starts_.end(), starts.begin(), starts.end());
  }
  void add_end(const HalfPassage& end) { ends_.push_back(end); }
  /// Records of a warp were overwritten, so ends may come without a start.
  void lose_start() { is_start_lost_ = true; }

  /// Every warp of the CTA was added.
  void end_cta(const RecordCost& cost, RegionContexts& contexts, Losses& losses);

 private:
  using Halves = std::span<const HalfPassage>;

  /// Where matches of a CTA go.
  struct Books {
    const RecordCost& cost;
    RegionContexts& contexts;
    Losses& losses;
    void add(const HalfPassage& start, const HalfPassage& end) const {
      book_pair(start, end, cost, contexts, ~uint64_t{0});
    }
  };

  void match(Halves starts, Halves ends, const Books& books) const;
  std::vector<std::vector<HalfPassage>> by_waiting(Halves starts, Halves ends) const;
  static void match_oldest(Halves starts, Halves ends, size_t share, const Books& books);
  static void match_newest(Halves starts, Halves ends, const Books& books);

  bool is_start_lost_ = false;
  std::vector<HalfPassage> starts_;
  std::vector<HalfPassage> ends_;
};

}  // namespace proton::device_buffer
