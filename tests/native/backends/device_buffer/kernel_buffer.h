/// Buffers as kernels leave them, written record by record.
#pragma once

#include <cstring>
#include <vector>

#include "backends/device_buffer/decoded_buffer.h"
#include "check.h"

namespace kernel_buffer {

using namespace proton::device_buffer;

constexpr uint64_t kStartTime = 1'800'000'000'000'000'000;  // global time is like a calendar's
constexpr uint64_t kStartClock = 5'000'000'000;             // past 32 bits

/// A warp and all it recorded, in order.
struct Warp {
  Header header{.magic = kMagic,
                .cta = 0,
                .warp = 0,
                .sm = 0,
                .written_bytes = 0,
                .ring_bytes = 0,
                .start_time_ns = kStartTime,
                .start_clock = kStartClock,
                .end_time_ns = kStartTime + 64'000,
                .end_clock = kStartClock + 96'000,
                .mailbox_written_bytes = 0,
                .mailbox_drained_bytes = 0};
  std::vector<Record> records{};

  /// At `cycles` after the warp's start.
  Warp& record(RecordKind kind, uint32_t region, uint64_t cycles) {
    records.push_back({pack_tag(kind, region), static_cast<uint32_t>(header.start_clock + cycles)});
    return *this;
  }
  Warp& start(uint32_t region, uint64_t cycles) {
    return record(RecordKind::kStart, region, cycles);
  }
  Warp& end(uint32_t region, uint64_t cycles) { return record(RecordKind::kEnd, region, cycles); }
  Warp& mark(uint32_t region, uint64_t cycles) { return record(RecordKind::kMark, region, cycles); }
  Warp& value32(uint32_t region, uint64_t cycles, int32_t value) {
    record(RecordKind::kValue, region, cycles);
    records.push_back({records.back().tag, static_cast<uint32_t>(value)});
    return *this;
  }
  Warp& value64(uint32_t region, uint64_t cycles, int64_t value) {
    record(RecordKind::kValue, region, cycles);
    const auto bits = static_cast<uint64_t>(value);
    records.push_back({static_cast<uint32_t>(bits >> 32), static_cast<uint32_t>(bits)});
    return *this;
  }
  Warp& on(uint32_t cta, uint32_t warp, uint32_t sm) {
    header.cta = cta;
    header.warp = warp;
    header.sm = sm;
    return *this;
  }
  /// Both clocks at both ends: times in ns since kStartTime, clocks since kStartClock.
  Warp& lived(uint64_t start_ns, int64_t start_clock, uint64_t end_ns, int64_t end_clock) {
    header.start_time_ns = kStartTime + start_ns;
    header.start_clock = kStartClock + static_cast<uint64_t>(start_clock);
    header.end_time_ns = kStartTime + end_ns;
    header.end_clock = kStartClock + static_cast<uint64_t>(end_clock);
    return *this;
  }
};

class Buffer {
 public:
  explicit Buffer(Geometry geometry) : geometry_(geometry), bytes_(geometry.size_bytes()) {}

  /// As the kernel does it: later records overwrite earlier ones.
  void put(uint64_t slot, Warp warp) {
    warp.header.ring_bytes = geometry_.ring_bytes;
    warp.header.written_bytes = static_cast<uint32_t>(warp.records.size() * kRecordBytes);
    for (size_t i = 0; i < warp.records.size(); ++i) {
      const uint64_t in_ring = (i * kRecordBytes) & (geometry_.ring_bytes - 1);
      write(geometry_.ring_offset(slot) + in_ring, warp.records[i]);
    }
    write(geometry_.header_offset(slot), warp.header);
  }
  Header header(uint64_t slot) const {
    Header header;
    std::memcpy(&header, bytes_.data() + geometry_.header_offset(slot), sizeof header);
    return header;
  }
  template <typename T>
  void write(uint64_t offset, const T& value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
  }

  const Geometry& geometry() const { return geometry_; }
  std::vector<std::byte>& bytes() { return bytes_; }
  const std::vector<std::byte>& bytes() const { return bytes_; }

  DecodedBuffer decode(const std::vector<Region>& regions, const DecodeOptions& options = {},
                       Drained drained = {}) const {
    return decode_buffer(bytes_, geometry_, regions, options, drained);
  }

 private:
  Geometry geometry_;
  std::vector<std::byte> bytes_;
};

/// `count` regions that nest.
inline std::vector<Region> nested(size_t count) { return std::vector<Region>(count); }

inline uint64_t all_losses(const Losses& losses) {
  uint64_t sum = 0;
  visit_losses(losses, [&](const char*, uint64_t count) { sum += count; });
  return sum;
}

}  // namespace kernel_buffer
