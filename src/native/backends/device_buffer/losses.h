/// What could not be read from a kernel's buffer, or not be trusted: counts, never guesses.
#pragma once

#include <cstdint>

namespace proton::device_buffer {

struct Losses {
  uint64_t missing_warps = 0;        // slots without a header: the warp never closed its buffer
  uint64_t damaged_headers = 0;      // slots whose header is no header, or of another geometry
  uint64_t overwritten_records = 0;  // the ring went round and nobody had drained it
  uint64_t damaged_records = 0;      // ids out of range, values without their second half
  uint64_t unmatched_starts = 0;
  uint64_t unmatched_ends = 0;
  uint64_t overwritten_starts = 0;  // ends whose start may be among the overwritten records
  uint64_t crossed_regions = 0;     // matched, though an outer region had ended before
  uint64_t too_deep = 0;            // starts nested deeper, or in more contexts, than are kept
  uint64_t clock_anomalies = 0;     // records whose clock ran backwards
  uint64_t long_gaps = 0;           // warps silent for longer than 2^32 cycles
  uint64_t bad_clock_pairs = 0;     // warps whose own times and clocks contradict each other
  uint64_t clock_outliers = 0;      // warps whose clocks disagree with the rest of their SM
  uint64_t over_corrected = 0;      // regions shorter than the records in them should have cost
  uint64_t unplaced_spans = 0;      // spans of warps without usable clocks
  uint64_t host_misfits = 0;        // buffers that ran longer than the host says their kernel did
};

/// Calls `visit(name, count)` for each, in the order above.
template <typename Visit>
void visit_losses(const Losses& losses, Visit&& visit) {
  visit("missing_warps", losses.missing_warps);
  visit("damaged_headers", losses.damaged_headers);
  visit("overwritten_records", losses.overwritten_records);
  visit("damaged_records", losses.damaged_records);
  visit("unmatched_starts", losses.unmatched_starts);
  visit("unmatched_ends", losses.unmatched_ends);
  visit("overwritten_starts", losses.overwritten_starts);
  visit("crossed_regions", losses.crossed_regions);
  visit("too_deep", losses.too_deep);
  visit("clock_anomalies", losses.clock_anomalies);
  visit("long_gaps", losses.long_gaps);
  visit("bad_clock_pairs", losses.bad_clock_pairs);
  visit("clock_outliers", losses.clock_outliers);
  visit("over_corrected", losses.over_corrected);
  visit("unplaced_spans", losses.unplaced_spans);
  visit("host_misfits", losses.host_misfits);
}

}  // namespace proton::device_buffer
