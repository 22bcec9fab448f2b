/// What a kernel leaves in its buffer: the one definition of record, tag, header and where they
/// stand. Bindings export the numbers, `proton.inkernel.ir.layout` names them for the passes.
/// A buffer is all rings, then all headers; a slot (a recorded warp of a CTA) has one of each.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/text.h"

namespace proton::device_buffer {

enum class RecordKind : uint32_t { kStart = 0, kEnd = 1, kMark = 2, kValue = 3 };

constexpr uint32_t kKindShift = 30;
constexpr uint32_t kRegionShift = 16;
constexpr uint32_t kRegionBits = 14;
constexpr uint32_t kRegionLimit = 1u << kRegionBits;  // ids are below
constexpr uint32_t kPayloadBits = 16;

/// Word 0 of a record: kind, region id, payload.
constexpr uint32_t pack_tag(RecordKind kind, uint32_t region, uint32_t payload = 0) {
  return static_cast<uint32_t>(kind) << kKindShift | (region & (kRegionLimit - 1)) << kRegionShift |
         (payload & ((1u << kPayloadBits) - 1));
}
constexpr uint32_t kShortClockBits = 32;
constexpr uint32_t kLongClockBits = kShortClockBits + kPayloadBits;
constexpr RecordKind kind_of(uint32_t tag) { return static_cast<RecordKind>(tag >> kKindShift); }
constexpr uint32_t region_of(uint32_t tag) { return (tag >> kRegionShift) & (kRegionLimit - 1); }

/// A moment. The payload is 0, or bits 32 to 47 of the clock. A value takes two records: in the
/// second, `tag` is the high word of 64 bits, or the first's tag with no payload when the value has
/// 32, and `clock` is the low word.
struct Record {
  uint32_t tag;
  uint32_t clock;  // low word of the SM's clock
};
constexpr uint32_t kRecordBytes = 8;
static_assert(sizeof(Record) == kRecordBytes);

/// What of the clock a record holds, `clock_bits` (one of the two above) of it.
constexpr uint64_t clock_of(const Record& record, uint32_t clock_bits) {
  const uint64_t payload = record.tag & ((1u << kPayloadBits) - 1);
  return clock_bits == kLongClockBits ? payload << kShortClockBits | record.clock : record.clock;
}

/// What a warp says about itself. Zeroed before a launch: a slot whose warp never closed its
/// buffer has no magic.
struct Header {
  uint32_t magic;
  uint32_t cta;
  uint32_t warp;  // the real one, also where only some warps are recorded
  uint32_t sm;
  uint32_t written_bytes;  // by records since the start, wrapped around the ring or not
  uint32_t ring_bytes;
  uint64_t start_time_ns;  // the device's global time, read with start_clock
  uint64_t start_clock;
  uint64_t end_time_ns;
  uint64_t end_clock;
  uint32_t mailbox_written_bytes;  // device to host, when the ring is full
  uint32_t mailbox_drained_bytes;  // host to device
};
constexpr uint32_t kHeaderBytes = 64;
constexpr uint32_t kMagic = 0x50524F54;
constexpr uint32_t kHostIsDead = ~0u;  // drained bytes: the host is waited for no more
static_assert(sizeof(Header) == kHeaderBytes);
static_assert(offsetof(Header, start_time_ns) == 24 && offsetof(Header, end_time_ns) == 40 &&
              offsetof(Header, mailbox_written_bytes) == 56);
static_assert(std::endian::native == std::endian::little, "records are as GPUs write them");

/// How a buffer is divided.
struct Geometry {
  uint32_t cta_count = 0;
  uint32_t warp_count = 0;      // recorded warps of a CTA
  uint32_t ring_bytes = 0;      // of a warp: a power of two, or 0 where only headers are written
  uint32_t left_out_bytes = 0;  // at the end of each ring, in a copy of what was written

  uint64_t slot_count() const { return uint64_t{cta_count} * warp_count; }
  uint32_t kept_bytes() const { return ring_bytes - left_out_bytes; }  // of a ring
  uint64_t ring_offset(uint64_t slot) const { return slot * kept_bytes(); }
  uint64_t header_offset(uint64_t slot) const {
    return slot_count() * kept_bytes() + slot * kHeaderBytes;
  }
  /// Right where `problem` is empty.
  uint64_t size_bytes() const { return header_offset(slot_count()); }

  /// What is wrong with these numbers; empty: nothing.
  std::string problem() const {
    if (cta_count == 0 || warp_count == 0) {
      return concat("a buffer of ", cta_count, " CTAs with ", warp_count,
                    " warps holds nothing; both must be at least 1");
    }
    if (ring_bytes != 0 && (!std::has_single_bit(ring_bytes) || ring_bytes < 2 * kRecordBytes)) {
      return concat("a ring of ", ring_bytes,
                    " bytes cannot be; give 0 or a power of two from 16 on");
    }
    if (left_out_bytes > ring_bytes || left_out_bytes % kRecordBytes != 0) {
      return concat("rings of ", ring_bytes, " bytes cannot lack ", left_out_bytes, " of them");
    }
    if (slot_count() > kMostBytes / (uint64_t{ring_bytes} + kHeaderBytes)) {
      return concat("a buffer of ", cta_count, " CTAs, ", warp_count, " warps and rings of ",
                    ring_bytes, " bytes is larger than any memory");
    }
    return {};
  }

 private:
  static constexpr uint64_t kMostBytes = uint64_t{1} << 48;
};

}  // namespace proton::device_buffer
