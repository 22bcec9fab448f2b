/// What records cost, and what that leaves of the time between two of them. Pure.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace proton::device_buffer {

/// A record's instructions take `cycles` where there is work around them. Right behind another
/// record they take longer, as they wait for its store to read its registers, which work hides.
struct RecordCost {
  double cycles = 0;          // 0: nothing is corrected
  double empty_cycles = 0;    // between two records with nothing between them; 0: `cycles`
  bool shifts_spans = false;  // spans are placed without it, too, not only summed

  bool is_known() const { return cycles > 0; }
  bool is_valid() const {
    return std::isfinite(cycles) && cycles >= 0 && std::isfinite(empty_cycles) && empty_cycles >= 0;
  }
  /// What is left of `raw` cycles from a record to one that is `records` further on. Nothing up to
  /// what empty ones take; from twice their wait on, all but `cycles`; in between a straight line.
  double without(uint64_t raw, uint64_t records) const {
    const double time = static_cast<double>(raw), count = static_cast<double>(records);
    const double above_empty = time - count * std::max(empty_cycles, cycles);
    return std::max(0.0, std::min(time - count * cycles, 2 * above_empty));
  }
  /// Whether it was so short that the cost cannot be right.
  bool contradicts(uint64_t raw, uint64_t records) const {
    const double least = empty_cycles > 0 ? std::min(empty_cycles, cycles) : cycles;
    return 2 * static_cast<double>(raw) < static_cast<double>(records) * least;
  }
};

}  // namespace proton::device_buffer
