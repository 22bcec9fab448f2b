/// From the bytes of one warp to its events with 64-bit clocks. Trusts nothing: what does not make
/// sense is counted and left out. One thread; calls nobody.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "backends/device_buffer/layout.h"
#include "model/recorded_launch.h"

namespace proton::device_buffer {

/// What could not be read from a kernel's buffer, or not be trusted: counts, never guesses.
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

/// What records cost, and what that leaves of the time between two of them.
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

/// How starts and ends of a region belong together.
enum class Matching : uint8_t {
  kNested,  // within a warp, the innermost first
  kQueued,  // asynchronous: the oldest first, in the warp or else across the CTA's warps
};

/// What the record map says about a region.
struct Region {
  Matching matching = Matching::kNested;
  uint32_t value_bits = 0;    // of its values: 32 or 64; 0: told from the records
  bool has_floats = false;    // its values are IEEE floats, else integers with a sign
  uint32_t loop = kNoRegion;  // its passages are turns of that loop, one right behind the other
  uint32_t most_turns = 0;    // recorded of each run of the loop; 0: all
  bool may_overlap = false;   // with others of its kernel, which are then beside it, not in it
};

/// How the records of a kernel are to be read.
struct RecordFormat {
  std::span<const Region> regions;
  uint32_t clock_bits = kShortClockBits;
};

/// A record with its clock widened.
struct Event {
  uint64_t clock;
  uint64_t number;  // of its record among all that the warp wrote, overwritten ones included
  int64_t value;    // of a kValue, of floats the bits as a double; else 0
  RecordKind kind;
  uint32_t region;  // below the number of regions
};

/// One slot of a buffer. `ring` is the whole of it, or no less than was written. `drained` is what
/// the host took out of the ring while the kernel ran, in order and from the start; the ring has
/// the rest.
struct WarpBytes {
  Header header;
  std::span<const std::byte> ring;
  std::span<const std::byte> drained;
};

/// What `decode_warp` found besides events.
struct WarpRecords {
  uint64_t record_count = 0;  // written by the warp
  uint64_t overwritten = 0;
};

/// Whether it is one of such a buffer.
inline bool is_header(const Header& header, const Geometry& geometry) {
  return header.magic == kMagic && header.ring_bytes == geometry.ring_bytes &&
         header.written_bytes % kRecordBytes == 0 &&
         (geometry.ring_bytes != 0 || header.written_bytes == 0) &&
         (geometry.left_out_bytes == 0 || header.written_bytes <= geometry.kept_bytes());
}

/// The header of a slot; nothing (and a loss) where there is none.
std::optional<Header> read_header(std::span<const std::byte> buffer, const Geometry& geometry,
                                  uint64_t slot, Losses& losses);

/// Whether both pairs of the header can be used.
inline bool has_good_clocks(const Header& header) {
  constexpr uint64_t kMostTime = uint64_t{1} << 62;  // later than any clock shows
  return header.start_clock < header.end_clock && header.end_clock < kMostTime &&
         header.start_time_ns != 0 && header.start_time_ns <= header.end_time_ns &&
         header.end_time_ns < kMostTime;
}

/// Appends the events of a warp to `events`, in the order they were recorded. Clocks count forward
/// from the header's start, and behind overwritten records backward from its end.
WarpRecords decode_warp(const WarpBytes& warp, const RecordFormat& format,
                        std::vector<Event>& events, Losses& losses);

/// Makes whole clocks of the part of them that the records of one warp hold.
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
