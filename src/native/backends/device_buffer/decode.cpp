#include "backends/device_buffer/decode.h"

#include <algorithm>
#include <bit>

namespace proton::device_buffer {
namespace {

/// The records of a warp by their numbers: drained ones from 0 on, then those still in the ring.
class RecordSource {
 public:
  explicit RecordSource(const WarpBytes& warp)
      : ring_(warp.ring.data()),
        drained_(warp.drained.data()),
        mask_(warp.ring.empty() ? 0 : std::bit_ceil(warp.ring.size()) / kRecordBytes - 1),
        total_(warp.header.written_bytes / kRecordBytes),
        drained_count_(std::min<uint64_t>(warp.drained.size() / kRecordBytes, total_)),
        first_kept_(total_ -
                    std::min<uint64_t>(total_ - drained_count_, warp.ring.size() / kRecordBytes)) {}

  uint64_t total() const { return total_; }
  uint64_t drained_count() const { return drained_count_; }
  uint64_t first_kept() const { return first_kept_; }  // the ring's first number
  uint64_t overwritten() const { return first_kept_ - drained_count_; }

  /// `number` is below drained_count, or from first_kept on and below total.
  Record at(uint64_t number) const {
    const std::byte* place = number < drained_count_ ? drained_ + number * kRecordBytes
                                                     : ring_ + (number & mask_) * kRecordBytes;
    Record record;
    std::memcpy(&record, place, sizeof record);
    return record;
  }

 private:
  const std::byte* ring_;
  const std::byte* drained_;
  uint64_t mask_;
  uint64_t total_;
  uint64_t drained_count_;
  uint64_t first_kept_;
};

int64_t value_of(const Record& first, const Record& second, Region region) {
  constexpr uint32_t kNoPayload = ~0u << kPayloadBits;
  const bool is_short = region.value_bits == 0
                            ? second.tag == (first.tag & kNoPayload) || second.tag == first.tag
                            : region.value_bits == 32;
  if (is_short && region.has_floats) {
    return std::bit_cast<int64_t>(static_cast<double>(std::bit_cast<float>(second.clock)));
  }
  return is_short ? int64_t{static_cast<int32_t>(second.clock)}
                  : static_cast<int64_t>(uint64_t{second.tag} << 32 | second.clock);
}

/// Appends the events of records `number` to `end`; their clocks are not yet widened.
void parse_records(const RecordSource& source, uint64_t number, uint64_t end,
                   const RecordFormat& format, std::vector<Event>& events, Losses& losses) {
  while (number < end) {
    const uint64_t at = number++;
    const Record record = source.at(at);
    const RecordKind kind = kind_of(record.tag);
    const uint32_t region = region_of(record.tag);
    const bool is_known = region < format.regions.size();
    int64_t value = 0;
    if (kind == RecordKind::kValue) [[unlikely]] {
      if (number == end) {
        ++losses.damaged_records;
        return;
      }
      value = value_of(record, source.at(number++), is_known ? format.regions[region] : Region{});
    }
    if (!is_known) [[unlikely]] {
      ++losses.damaged_records;
      continue;
    }
    events.push_back({clock_of(record, format.clock_bits), at, value, kind, region});
  }
}

/// How little sense the records from `number` on make, lower is better: ids that are none, clocks
/// outside the warp's life or not later than the one before. Clocks tell nothing of warps that
/// lived so long that any may be right.
uint32_t doubt(const RecordSource& source, uint64_t number, const RecordFormat& format,
               const ClockWidener& clocks) {
  constexpr uint64_t kLook = 64;
  const bool is_telling = clocks.has_end() && clocks.life() < clocks.wrap() / 2;
  uint64_t before = 0;
  uint32_t doubts = 0;
  for (const uint64_t end = std::min(source.total(), number + kLook); number < end;) {
    const Record record = source.at(number++);
    if (kind_of(record.tag) == RecordKind::kValue) ++number;
    doubts += region_of(record.tag) >= format.regions.size();
    const uint64_t now = clocks.step(clocks.start(), clock_of(record, format.clock_bits));
    doubts += is_telling && (now > clocks.life() || now <= before);
    before = now;
  }
  return doubts;
}

/// Where to begin behind overwritten records: the first one kept may be the second half of a value.
uint64_t first_whole(const RecordSource& source, const RecordFormat& format,
                     const ClockWidener& clocks) {
  const uint64_t first = source.first_kept();
  if (first + 1 >= source.total()) return first;
  return first + (doubt(source, first + 1, format, clocks) < doubt(source, first, format, clocks));
}

}  // namespace

std::optional<Header> read_header(std::span<const std::byte> buffer, const Geometry& geometry,
                                  uint64_t slot, Losses& losses) {
  Header header;
  std::memcpy(&header, buffer.data() + geometry.header_offset(slot), sizeof header);
  if (header.magic == 0) {
    ++losses.missing_warps;
    return std::nullopt;
  }
  if (!is_header(header, geometry)) {
    ++losses.damaged_headers;
    return std::nullopt;
  }
  return header;
}

WarpRecords decode_warp(const WarpBytes& warp, const RecordFormat& format,
                        std::vector<Event>& events, Losses& losses) {
  const ClockWidener clocks(warp.header, format.clock_bits);
  const RecordSource source(warp);
  const size_t first = events.size();
  const auto since = [&](size_t at) { return std::span(events).subspan(at); };
  if (source.overwritten() == 0) {
    parse_records(source, 0, source.total(), format, events, losses);
    const uint64_t last = clocks.widen_forward(since(first), losses);
    const bool is_silent =
        events.size() > first && clocks.has_end() && warp.header.end_clock - last >= clocks.wrap();
    losses.long_gaps += is_silent;
    return {source.total(), 0};
  }
  parse_records(source, 0, source.drained_count(), format, events, losses);
  const size_t middle = events.size();
  const uint64_t kept = first_whole(source, format, clocks);
  parse_records(source, kept, source.total(), format, events, losses);
  if (clocks.has_end()) {
    clocks.widen_forward(since(first).first(middle - first), losses);
    clocks.widen_backward(since(middle), losses);
  } else {
    clocks.widen_forward(since(first), losses);
  }
  const uint64_t overwritten = kept - source.drained_count();
  losses.overwritten_records += overwritten;
  return {source.total(), overwritten};
}

}  // namespace proton::device_buffer
