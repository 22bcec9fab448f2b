/// What could not be read from a kernel's buffer, or not be trusted: counts, never guesses.
#pragma once

#include <cstdint>
#include <iterator>

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
  uint64_t over_corrected = 0;      // records that followed another sooner than they should cost
  uint64_t unplaced_spans = 0;      // spans of warps without usable clocks
  uint64_t host_misfits = 0;        // buffers that ran longer than the host says their kernel did
  uint64_t unread_replays = 0;      // of a graph: a later one has overwritten their records

  void add(const Losses& other);
};

struct LossField {
  const char* name;
  uint64_t Losses::* count;
};
inline constexpr LossField kLossFields[] = {
    {"missing_warps", &Losses::missing_warps},
    {"damaged_headers", &Losses::damaged_headers},
    {"overwritten_records", &Losses::overwritten_records},
    {"damaged_records", &Losses::damaged_records},
    {"unmatched_starts", &Losses::unmatched_starts},
    {"unmatched_ends", &Losses::unmatched_ends},
    {"overwritten_starts", &Losses::overwritten_starts},
    {"crossed_regions", &Losses::crossed_regions},
    {"too_deep", &Losses::too_deep},
    {"clock_anomalies", &Losses::clock_anomalies},
    {"long_gaps", &Losses::long_gaps},
    {"bad_clock_pairs", &Losses::bad_clock_pairs},
    {"clock_outliers", &Losses::clock_outliers},
    {"over_corrected", &Losses::over_corrected},
    {"unplaced_spans", &Losses::unplaced_spans},
    {"host_misfits", &Losses::host_misfits},
    {"unread_replays", &Losses::unread_replays},
};
static_assert(std::size(kLossFields) * sizeof(uint64_t) == sizeof(Losses));

inline void Losses::add(const Losses& other) {
  for (const auto& [name, count] : kLossFields) this->*count += other.*count;
}

/// Calls `visit(name, count)` for each, in the order above.
template <typename Visit>
void visit_losses(const Losses& losses, Visit&& visit) {
  for (const auto& [name, count] : kLossFields) visit(name, losses.*count);
}

}  // namespace proton::device_buffer
