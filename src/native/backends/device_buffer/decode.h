/// From the bytes of one warp to its events with 64-bit clocks. Trusts nothing: what does not make
/// sense is counted and left out. One thread; calls nobody.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backends/device_buffer/layout.h"
#include "backends/device_buffer/losses.h"

namespace proton::device_buffer {

/// How starts and ends of a region belong together.
enum class Matching : uint8_t {
  kNested,  // within a warp, the innermost first
  kQueued,  // asynchronous: the oldest first, in the warp or else across the CTA's warps
};

constexpr uint32_t kNoRegion = ~0u;

/// What the record map says about a region.
struct Region {
  Matching matching = Matching::kNested;
  uint32_t value_bits = 0;    // of its values: 32 or 64; 0: told from the records
  bool has_floats = false;    // its values are IEEE floats, else integers with a sign
  uint32_t loop = kNoRegion;  // its passages are turns of that loop, one right behind the other
  uint32_t most_turns = 0;    // recorded of each run of the loop; 0: all
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

}  // namespace proton::device_buffer
