#include "backends/device_buffer/decode.h"

#include <algorithm>

namespace proton::device_buffer {
namespace {

constexpr uint64_t kWrap = uint64_t{1} << 32;
constexpr uint64_t kMostTime = uint64_t{1} << 62;  // later than any clock shows

/// The records of a warp by their numbers: drained ones from 0 on, then those still in the ring.
class RecordSource {
 public:
  explicit RecordSource(const WarpBytes& warp)
      : ring_(warp.ring.data()),
        drained_(warp.drained.data()),
        mask_(warp.ring.empty() ? 0 : warp.ring.size() / kRecordBytes - 1),
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

/// Appends the events of records `number` to `end`; their clocks still have 32 bits.
void parse_records(const RecordSource& source, uint64_t number, uint64_t end, uint32_t region_count,
                   std::vector<Event>& events, Losses& losses) {
  while (number < end) {
    const uint64_t at = number++;
    const Record record = source.at(at);
    const RecordKind kind = kind_of(record.tag);
    int64_t value = 0;
    if (kind == RecordKind::kValue) [[unlikely]] {
      if (number == end) {
        ++losses.damaged_records;
        return;
      }
      const Record second = source.at(number++);
      value = second.tag == record.tag
                  ? int64_t{static_cast<int32_t>(second.clock)}
                  : static_cast<int64_t>(uint64_t{second.tag} << 32 | second.clock);
    }
    const uint32_t region = region_of(record.tag);
    if (region >= region_count) [[unlikely]] {
      ++losses.damaged_records;
      continue;
    }
    events.push_back({record.clock, at, value, kind, region});
  }
}

/// How little sense the records from `number` on make, lower is better: ids that are none, clocks
/// outside the warp's life or not later than the one before. Clocks tell nothing of warps that
/// lived so long that any may be right.
uint32_t doubt(const RecordSource& source, uint64_t number, uint32_t region_count,
               const Header& header) {
  constexpr uint64_t kLook = 64;
  const uint64_t life = header.end_clock - header.start_clock;
  const bool is_telling = header.start_clock <= header.end_clock && life < kWrap / 2;
  const auto start = static_cast<uint32_t>(header.start_clock);
  uint64_t before = 0;
  uint32_t doubts = 0;
  for (const uint64_t end = std::min(source.total(), number + kLook); number < end;) {
    const Record record = source.at(number++);
    if (kind_of(record.tag) == RecordKind::kValue) ++number;
    doubts += region_of(record.tag) >= region_count;
    const uint64_t now = record.clock - start;
    doubts += is_telling && (now > life || now <= before);
    before = now;
  }
  return doubts;
}

/// Where to begin behind overwritten records: the first one kept may be the second half of a value.
uint64_t first_whole(const RecordSource& source, uint32_t region_count, const Header& header) {
  const uint64_t first = source.first_kept();
  if (first + 1 >= source.total()) return first;
  const bool is_half =
      doubt(source, first + 1, region_count, header) < doubt(source, first, region_count, header);
  return first + is_half;
}

/// Clocks from `clock` on; `limit` is the warp's last one, where it is known. A clock that would
/// lie behind the limit ran backwards: the record gets the nearest time that fits.
void widen_forward(std::span<Event> events, uint64_t clock, std::optional<uint64_t> limit,
                   Losses& losses) {
  const uint64_t start = clock;
  for (Event& event : events) {
    const uint64_t step = static_cast<uint32_t>(event.clock - clock);
    const bool is_backward = limit ? step > *limit - clock : step >= kWrap / 2;
    if (!is_backward) [[likely]] {
      event.clock = clock += step;
      continue;
    }
    ++losses.clock_anomalies;
    const uint64_t back = kWrap - step;
    event.clock = clock - std::min(back, clock - start);
  }
}

/// The same from the warp's end to the first record that is left, never before `start`.
void widen_backward(std::span<Event> events, uint64_t start, uint64_t clock, Losses& losses) {
  const uint64_t end = clock;
  for (size_t i = events.size(); i-- > 0;) {
    Event& event = events[i];
    const uint64_t step = static_cast<uint32_t>(clock - event.clock);
    if (step <= clock - start) [[likely]] {
      event.clock = clock -= step;
      continue;
    }
    ++losses.clock_anomalies;
    const uint64_t ahead = kWrap - step;
    event.clock = clock + std::min(ahead, end - clock);
  }
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
  if (header.magic != kMagic || header.ring_bytes != geometry.ring_bytes ||
      header.written_bytes % kRecordBytes != 0 ||
      (geometry.ring_bytes == 0 && header.written_bytes != 0)) {
    ++losses.damaged_headers;
    return std::nullopt;
  }
  return header;
}

bool has_good_clocks(const Header& header) {
  return header.start_clock < header.end_clock && header.end_clock < kMostTime &&
         header.start_time_ns != 0 && header.start_time_ns <= header.end_time_ns &&
         header.end_time_ns < kMostTime;
}

WarpRecords decode_warp(const WarpBytes& warp, uint32_t region_count, std::vector<Event>& events,
                        Losses& losses) {
  const RecordSource source(warp);
  const uint64_t start = warp.header.start_clock;
  const uint64_t end = warp.header.end_clock;
  const std::optional<uint64_t> limit = start <= end ? std::optional(end) : std::nullopt;
  const size_t first = events.size();
  if (source.overwritten() == 0) {
    parse_records(source, 0, source.total(), region_count, events, losses);
    const std::span<Event> all = std::span(events).subspan(first);
    widen_forward(all, start, limit, losses);
    const uint64_t last = all.empty() ? start : all.back().clock;
    if (limit && last <= end && end - last >= kWrap && !all.empty()) ++losses.long_gaps;
    return {source.total(), 0};
  }
  parse_records(source, 0, source.drained_count(), region_count, events, losses);
  const size_t middle = events.size();
  const uint64_t whole = first_whole(source, region_count, warp.header);
  parse_records(source, whole, source.total(), region_count, events, losses);
  const std::span<Event> all = std::span(events).subspan(first);
  const uint64_t overwritten = source.overwritten() + (whole - source.first_kept());
  losses.overwritten_records += overwritten;
  if (limit) {
    widen_forward(all.first(middle - first), start, limit, losses);
    widen_backward(all.subspan(middle - first), start, end, losses);
  } else {
    widen_forward(all, start, limit, losses);
  }
  return {source.total(), overwritten};
}

}  // namespace proton::device_buffer
