/// Makes whole clocks of the part of them that records hold. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "backends/device_buffer/decode.h"

namespace proton::device_buffer {

/// For the records of one warp.
class ClockWidener {
 public:
  ClockWidener(const Header& header, uint32_t clock_bits)
      : start_(header.start_clock), end_(header.end_clock), wrap_(uint64_t{1} << clock_bits) {}

  uint64_t start() const { return start_; }
  uint64_t wrap() const { return wrap_; }
  bool has_end() const { return start_ <= end_; }
  uint64_t life() const { return end_ - start_; }

  /// The distance from one clock to a later one.
  uint64_t step(uint64_t from, uint64_t to) const { return (to - from) & (wrap_ - 1); }

  /// A clock from `latest` on, which becomes the latest. One that would lie behind the warp's end
  /// ran backwards: the record gets the nearest time that fits.
  uint64_t forward(uint64_t part, uint64_t& latest, uint64_t& anomalies) const {
    const uint64_t ahead = step(latest, part);
    const bool is_backward = has_end() ? ahead > end_ - latest : ahead >= wrap_ / 2;
    if (!is_backward) [[likely]] {
      return latest += ahead;
    }
    ++anomalies;
    return latest - std::min(wrap_ - ahead, latest - start_);
  }

  /// Clocks from the start on; returns the latest.
  uint64_t widen_forward(std::span<Event> events, Losses& losses) const {
    uint64_t clock = start_;
    for (Event& event : events) {
      event.clock = forward(event.clock, clock, losses.clock_anomalies);
    }
    return clock;
  }

  /// The same from the warp's end back, never before its start.
  void widen_backward(std::span<Event> events, Losses& losses) const {
    uint64_t clock = end_;
    for (size_t i = events.size(); i-- > 0;) {
      Event& event = events[i];
      const uint64_t back = step(event.clock, clock);
      if (back <= clock - start_) [[likely]] {
        event.clock = clock -= back;
        continue;
      }
      ++losses.clock_anomalies;
      event.clock = clock + std::min(wrap_ - back, end_ - clock);
    }
  }

 private:
  uint64_t start_, end_, wrap_;
};

}  // namespace proton::device_buffer
