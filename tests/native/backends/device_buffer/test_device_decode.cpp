// From a warp's bytes to events: widened clocks, values, overwritten and drained rings.
#include "kernel_buffer.h"

using namespace kernel_buffer;

namespace {

struct Decoded {
  std::vector<Event> events;
  WarpRecords records;
  Losses losses;
};

Decoded decode_one(const Warp& warp, uint32_t ring_bytes, uint32_t region_count = 8,
                   std::span<const std::byte> drained = {}, uint32_t clock_bits = kShortClockBits,
                   uint32_t value_bits = 0) {
  const std::vector<Region> regions(region_count, {.value_bits = value_bits});
  Buffer buffer({1, 1, ring_bytes});
  buffer.put(0, warp);
  Decoded decoded;
  const std::optional<Header> header =
      read_header(buffer.bytes(), buffer.geometry(), 0, decoded.losses);
  CHECK(header.has_value());
  if (!header) return decoded;
  const std::span<const std::byte> ring = std::span(buffer.bytes()).first(ring_bytes);
  decoded.records =
      decode_warp({*header, ring, drained}, {regions, clock_bits}, decoded.events, decoded.losses);
  return decoded;
}

/// Cycles since the warp's start.
std::vector<uint64_t> cycles_of(const Decoded& decoded) {
  std::vector<uint64_t> cycles;
  for (const Event& event : decoded.events) cycles.push_back(event.clock - kStartClock);
  return cycles;
}

std::vector<std::byte> bytes_of(const std::vector<Record>& records, size_t count) {
  std::vector<std::byte> bytes(count * kRecordBytes);
  std::memcpy(bytes.data(), records.data(), bytes.size());
  return bytes;
}

using Cycles = std::vector<uint64_t>;

}  // namespace

TEST(clocks_are_widened_forward_from_the_start) {
  Warp warp;
  warp.lived(0, 0, 9'000'000'000, 13'000'000'000);
  warp.start(0, 10).mark(1, 4'000'000'000).mark(1, 8'000'000'000).end(0, 12'000'000'000);
  const Decoded decoded = decode_one(warp, 64);
  CHECK(cycles_of(decoded) == Cycles{10, 4'000'000'000, 8'000'000'000, 12'000'000'000});
  CHECK_EQ(decoded.events[0].kind == RecordKind::kStart, true);
  CHECK_EQ(decoded.events[3].kind == RecordKind::kEnd, true);
  CHECK_EQ(decoded.events[3].number, 3);
  CHECK_EQ(all_losses(decoded.losses), 0);
}

TEST(what_is_left_of_an_overwritten_ring_is_widened_backward_from_the_end) {
  Warp warp;
  warp.lived(0, 0, 9'000'000'000, 13'000'000'000);
  for (uint64_t i = 0; i < 13; ++i) warp.mark(i % 8, i * 1'000'000'000);
  const Decoded decoded = decode_one(warp, 32);
  CHECK(cycles_of(decoded) ==
        Cycles{9'000'000'000, 10'000'000'000, 11'000'000'000, 12'000'000'000});
  CHECK_EQ(decoded.events[0].number, 9);
  CHECK_EQ(decoded.events[0].region, 1);
  CHECK_EQ(decoded.losses.overwritten_records, 9);
  CHECK_EQ(decoded.records.record_count, 13);
  CHECK_EQ(decoded.records.overwritten, 9);
}

TEST(a_slot_without_a_header_is_missing_and_a_wrong_one_damaged) {
  const Geometry geometry{1, 6, 64};
  Buffer buffer(geometry);
  for (uint64_t slot = 1; slot < 6; ++slot) buffer.put(slot, Warp{}.mark(0, 1));
  const auto change = [&](uint64_t slot, size_t offset, uint32_t word) {
    buffer.write(geometry.header_offset(slot) + offset, word);
  };
  change(1, offsetof(Header, magic), 0xdeadbeef);
  change(2, offsetof(Header, ring_bytes), 128);
  change(3, offsetof(Header, written_bytes), 13);
  const DecodedBuffer decoded = buffer.decode(nested(1));
  CHECK_EQ(decoded.losses.missing_warps, 1);
  CHECK_EQ(decoded.losses.damaged_headers, 3);
  CHECK_EQ(decoded.warps.size(), 2);
  CHECK_EQ(decoded.record_count, 2);
}

TEST(values_of_32_bits_keep_their_sign_and_those_of_64_their_high_word) {
  const int64_t address = 0x7f12'3456'789a'bcd0;
  Warp warp;
  warp.value32(1, 5, -7).value64(2, 6, address).value64(2, 7, -3).mark(0, 8);
  const Decoded decoded = decode_one(warp, 64);
  CHECK_EQ(decoded.events.size(), 4);
  CHECK_EQ(decoded.events[0].value, -7);
  CHECK_EQ(decoded.events[1].value, address);
  CHECK_EQ(decoded.events[2].value, -3);
  CHECK_EQ(decoded.events[3].number, 6);
  CHECK(cycles_of(decoded) == Cycles{5, 6, 7, 8});
}

TEST(a_value_without_its_second_half_is_damaged) {
  Warp warp;
  warp.mark(0, 1).record(RecordKind::kValue, 1, 2);
  const Decoded decoded = decode_one(warp, 64);
  CHECK_EQ(decoded.events.size(), 1);
  CHECK_EQ(decoded.losses.damaged_records, 1);
}

TEST(half_a_value_at_the_edge_of_an_overwritten_ring_is_left_out) {
  Warp warp;
  warp.mark(0, 100);
  for (uint64_t i = 0; i < 8; ++i) warp.value32(1, 1000 + 100 * i, 42);
  warp.mark(0, 2000);  // 18 records, of which the last 8 stay: the first is a second half
  const Decoded decoded = decode_one(warp, 64);
  CHECK_EQ(decoded.events.size(), 4);
  for (size_t i = 0; i < 3; ++i) CHECK_EQ(decoded.events[i].value, 42);
  CHECK(cycles_of(decoded) == Cycles{1500, 1600, 1700, 2000});
  CHECK_EQ(decoded.losses.overwritten_records, 11);
  CHECK_EQ(decoded.losses.clock_anomalies, 0);
}

TEST(ids_that_the_record_map_does_not_have_are_damaged_records) {
  const Decoded decoded = decode_one(Warp{}.mark(3, 1).mark(4, 2).mark(16383, 3), 64, 4);
  CHECK_EQ(decoded.events.size(), 1);
  CHECK_EQ(decoded.losses.damaged_records, 2);
}

TEST(a_clock_that_runs_backwards_is_counted_and_disturbs_no_other) {
  const Decoded decoded = decode_one(Warp{}.mark(0, 500).mark(0, 400).mark(0, 600), 64);
  CHECK(cycles_of(decoded) == Cycles{500, 400, 600});
  CHECK_EQ(decoded.losses.clock_anomalies, 1);
}

TEST(a_clock_outside_the_warps_life_is_put_to_its_edge) {
  Warp warp;
  warp.mark(0, 500).mark(0, ~uint64_t{0} - 999).mark(0, 600);
  const Decoded decoded = decode_one(warp, 64);
  CHECK(cycles_of(decoded) == Cycles{500, 0, 600});
  CHECK_EQ(decoded.losses.clock_anomalies, 1);
}

TEST(without_a_good_end_clocks_still_count_forward) {
  Warp warp;
  warp.header.end_clock = 0;
  const Decoded decoded = decode_one(warp.mark(0, 500).mark(0, 400).mark(0, 600), 64);
  CHECK(cycles_of(decoded) == Cycles{500, 400, 600});
  CHECK_EQ(decoded.losses.clock_anomalies, 1);
}

TEST(a_warp_silent_for_longer_than_its_clock_has_bits_is_counted) {
  Warp warp;
  warp.lived(0, 0, 9'000'000'000, 13'000'000'000);
  CHECK_EQ(decode_one(warp.mark(0, 1), 64).losses.long_gaps, 1);
}

TEST(drained_records_come_before_those_in_the_ring) {
  Warp warp;
  for (uint64_t i = 0; i < 10; ++i) warp.mark(i % 8, 100 * i);
  const std::vector<std::byte> drained = bytes_of(warp.records, 8);
  const Decoded decoded = decode_one(warp, 32, 8, drained);
  CHECK_EQ(decoded.events.size(), 10);
  CHECK_EQ(cycles_of(decoded).back(), 900);
  CHECK_EQ(decoded.events[9].region, 1);
  CHECK_EQ(all_losses(decoded.losses), 0);
}

TEST(records_lost_between_drained_ones_and_the_ring_are_counted) {
  Warp warp;
  warp.lived(0, 0, 60'000'000'000, 90'000'000'000);
  for (uint64_t i = 0; i < 20; ++i) warp.mark(i % 8, 4'000'000'000 * i);
  const std::vector<std::byte> drained = bytes_of(warp.records, 4);
  warp.header.end_clock = kStartClock + 77'000'000'000;
  const Decoded decoded = decode_one(warp, 32, 8, drained);
  CHECK_EQ(decoded.events.size(), 8);
  CHECK_EQ(cycles_of(decoded)[3], 12'000'000'000);
  CHECK_EQ(cycles_of(decoded)[4], 64'000'000'000);
  CHECK_EQ(cycles_of(decoded)[7], 76'000'000'000);
  CHECK_EQ(decoded.losses.overwritten_records, 12);
}

TEST(drained_bytes_beyond_what_was_written_are_not_read) {
  Warp warp;
  warp.mark(0, 1).mark(0, 2);
  const std::vector<std::byte> drained = bytes_of({{0, 0}, {0, 0}, {0, 0}, {0, 0}}, 4);
  const Decoded decoded = decode_one(warp, 32, 8, drained);
  CHECK_EQ(decoded.events.size(), 2);
}

TEST(a_value_may_stand_half_in_what_was_drained) {
  Warp warp;
  warp.mark(0, 1).value32(1, 2, 42).mark(0, 3);
  const std::vector<std::byte> drained = bytes_of(warp.records, 2);
  const Decoded decoded = decode_one(warp, 16, 8, drained);
  CHECK_EQ(decoded.events.size(), 3);
  CHECK_EQ(decoded.events[1].value, 42);
  CHECK_EQ(all_losses(decoded.losses), 0);
}

TEST(clocks_of_48_bits_bridge_long_silence) {
  Warp warp;
  warp.lived(0, 0, 60'000'000'000, 90'000'000'000);
  for (const uint64_t cycles : {uint64_t{5}, uint64_t{80'000'000'000}}) {
    const uint64_t clock = kStartClock + cycles;
    warp.records.push_back(
        {pack_tag(RecordKind::kMark, 0, clock >> 32 & 0xffff), static_cast<uint32_t>(clock)});
  }
  const Decoded decoded = decode_one(warp, 64, 1, {}, kLongClockBits);
  CHECK(cycles_of(decoded) == Cycles{5, 80'000'000'000});
  CHECK_EQ(all_losses(decoded.losses), 0);
}

TEST(values_beside_clocks_of_48_bits_repeat_the_tag_without_payload) {
  Warp warp;
  warp.records = {{pack_tag(RecordKind::kValue, 1, kStartClock >> 32), 705'032'710},
                  {pack_tag(RecordKind::kValue, 1), static_cast<uint32_t>(-7)}};
  const Decoded decoded = decode_one(warp, 64, 2, {}, kLongClockBits);
  CHECK_EQ(decoded.events[0].value, -7);
  CHECK_EQ(decoded.events[0].clock, 5'000'000'006);
}

TEST(the_record_map_tells_the_width_of_values_where_it_can) {
  // 64 bits whose high word looks like the tag
  Warp warp;
  warp.value64(1, 5, static_cast<int64_t>(uint64_t{pack_tag(RecordKind::kValue, 1)} << 32 | 9));
  CHECK_EQ(decode_one(warp, 64, 2).events[0].value, 9);
  CHECK(decode_one(warp, 64, 2, {}, kShortClockBits, 64).events[0].value < 0);
}
