/// Which event of a warp ends what another one starts, for regions that may overlap: there, what
/// lies around a region is known only when its end is. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backends/device_buffer/decode.h"

namespace proton::device_buffer {

class RegionEnds {
 public:
  static constexpr size_t kNone = ~size_t{0};

  /// Reads the events of a warp: an end belongs to the last start of its region that has none.
  void find(std::span<const Event> events, std::span<const Region> regions);
  /// The event that ends what event `start` starts; kNone: none does. Of no use for asynchronous
  /// ones.
  size_t of(size_t start) const { return ends_[start]; }

 private:
  std::vector<size_t> ends_;                // by event
  std::vector<std::vector<size_t>> begun_;  // by region: starts without an end yet
};

}  // namespace proton::device_buffer
