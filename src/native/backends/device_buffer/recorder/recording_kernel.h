/// A kernel that records, as its compiler described it: how to read its buffers, and what its
/// regions are called. Never changes once the recorder knows it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/device_buffer/decode.h"
#include "backends/device_buffer/layout.h"
#include "backends/device_buffer/record_cost.h"

namespace proton::device_buffer {

struct RecordingKernel {
  std::string name;
  std::vector<Region> regions;              // as the decoder needs them
  std::vector<std::string> region_names;    // the same, by id
  std::vector<std::string> region_sources;  // "mm.py:22", or empty
  uint32_t clock_bits = kShortClockBits;
  uint32_t ring_bytes = 0;     // of a stream of records
  uint32_t stream_count = 1;   // streams of a CTA
  uint32_t scratch_bytes = 0;  // of the buffer, for every CTA of the grid
  uint32_t cta_every = 1;      // one CTA of so many records
  std::vector<uint32_t> ctas;  // those that record; empty: see `cta_every`
  bool has_mailbox = false;    // it tells the host when a ring is full, and waits a little
  bool keeps_bytes = false;    // its buffers are handed over whole, besides
  RecordCost cost{};           // of its records

  /// How the buffer of a grid of so many CTAs is divided.
  Geometry geometry(uint64_t grid_ctas) const {
    const uint64_t every = std::max<uint32_t>(cta_every, 1);
    const uint64_t recorded = ctas.empty() ? (grid_ctas + every - 1) / every : ctas.size();
    return {static_cast<uint32_t>(recorded), stream_count, ring_bytes};
  }

  /// Streams that a grid of so many CTAs can fill.
  uint64_t expected_warps(uint64_t grid_ctas) const {
    if (ctas.empty()) return geometry(grid_ctas).slot_count();
    const auto there = std::count_if(ctas.begin(), ctas.end(),
                                     [&](uint32_t cta) { return uint64_t{cta} < grid_ctas; });
    return static_cast<uint64_t>(there) * stream_count;
  }
};

}  // namespace proton::device_buffer
