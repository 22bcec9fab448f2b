// A buffer all the way: sums over warps, spread, times, and calls that make no sense.
#include <limits>
#include <random>
#include <tuple>

#include "backends/device_buffer/recorder/kernel_book.h"
#include "base/error.h"
#include "kernel_buffer.h"

using namespace kernel_buffer;
using proton::Error;

namespace {

/// 10 CTAs of 2 warps; warp n (from 1) spends 10 n cycles in region 0, in two passages.
Buffer spread_buffer(uint32_t left_out_bytes = 0) {
  Buffer buffer({10, 2, 64, left_out_bytes});
  for (uint32_t slot = 0; slot < 20; ++slot) {
    const uint64_t cycles = 10 * (slot + 1);
    Warp warp;
    warp.on(slot / 2, slot % 2 * 4, slot / 4).start(0, 0).end(0, cycles / 2);
    buffer.put(slot, warp.start(0, 1000).end(0, 1000 + cycles / 2));
  }
  return buffer;
}

std::string refusal(const Buffer& buffer, const DecodeOptions& options, size_t regions = 1) {
  try {
    buffer.decode(nested(regions), options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// 12 CTAs of 3 warps that mostly do the same, warp by warp: nested passages, some of them left
/// open, crossed, asynchronous, with values, or behind overwritten records.
Buffer mixed_buffer(uint64_t seed) {
  std::mt19937_64 random(seed);
  Buffer buffer({12, 3, 128});
  for (uint32_t slot = 0; slot < 36; ++slot) {
    Warp warp;
    warp.on(slot / 3, slot % 3, slot / 6);
    const uint64_t kind = random() % 12;
    uint64_t at = 0;
    const auto later = [&] {
      return at += kind == 0 && random() % 5 == 0 ? -5 : 1 + random() % 90;
    };
    for (uint32_t turn = 0; turn < (kind == 1 ? 7u : 2u); ++turn) {
      warp.start(0, later()).start(1 + slot % 3, later()).end(1 + slot % 3, later());
      if (kind == 2) warp.value32(2, later(), -7);
      if (kind == 3) warp.start(3, later());
      if (kind == 4) warp.start(4, later());
      if (kind == 5) warp.mark(1, later());
      warp.end(0, later());
      if (kind == 3) warp.end(3, later());
      if (kind == 4) warp.end(4, later());
      if (kind == 6) warp.end(2, later());
    }
    buffer.put(slot, warp);
  }
  return buffer;
}

bool is_same(const DecodedBuffer& a, const DecodedBuffer& b) {
  bool is_same = a.regions.size() == b.regions.size() && a.record_count == b.record_count &&
                 a.warps.size() == b.warps.size() && a.cycles_per_ns == b.cycles_per_ns &&
                 a.warp_passages == b.warp_passages;
  for (size_t i = 0; is_same && i < a.regions.size(); ++i) {
    const RegionSummary &one = a.regions[i], &other = b.regions[i];
    const auto all = [](const RegionSummary& x) {
      return std::tuple(x.region, x.parent, x.depth, x.count, x.warp_count, x.raw_cycles, x.cycles,
                        x.min_cycles, x.max_cycles, x.first_passage, x.values.count, x.values.sum);
    };
    is_same = all(one) == all(other);
  }
  for (const auto& [name, count] : kLossFields)
    is_same = is_same && a.losses.*count == b.losses.*count;
  return is_same;
}

}  // namespace

TEST(a_copy_without_what_no_warp_wrote_says_the_same) {
  const DecodedBuffer whole = spread_buffer().decode(nested(1));
  const DecodedBuffer copy = spread_buffer(32).decode(nested(1));
  CHECK_EQ(whole.regions[0].count, 40u);
  CHECK_EQ(copy.regions[0].count, 40u);
  CHECK_EQ(copy.regions[0].cycles, whole.regions[0].cycles);
  CHECK(copy.warp_passages == whole.warp_passages);
  CHECK_EQ(all_losses(copy.losses), 0u);
}

TEST(a_copy_that_lacks_what_was_written_is_not_read_past_its_rings) {
  Buffer buffer({10, 2, 64, 40});
  const Header header = spread_buffer().header(3);
  buffer.write(buffer.geometry().header_offset(3), header);
  CHECK_EQ(buffer.decode(nested(1)).losses.damaged_headers, 1u);
  for (const uint32_t left_out : {12u, 72u}) {
    CHECK(!Geometry({10, 2, 64, left_out}).problem().empty());
  }
}

TEST(warps_that_repeat_others_count_as_if_each_had_been_matched) {
  std::vector<Region> regions = nested(5);
  regions[4].matching = Matching::kQueued;
  Decoder decoder;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Buffer buffer = mixed_buffer(seed);
    DecodeOptions options{.cost = {seed % 2 == 0 ? 0.0 : 7.0, 18}, .keeps_spans = true};
    const DecodedBuffer matched = buffer.decode(regions, options);
    CHECK(!matched.spans.empty());
    options.keeps_spans = false;
    CHECK(is_same(buffer.decode(regions, options), matched));
    // what was decoded before leaves nothing behind
    CHECK(is_same(decoder.decode(buffer.bytes(), buffer.geometry(), regions, options), matched));
  }
}

TEST(clocks_are_fitted_roughly_only_where_global_time_has_fine_steps) {
  for (const uint64_t step : {uint64_t{32}, uint64_t{1024}}) {
    Buffer buffer({8, 1, 64});
    for (uint32_t slot = 0; slot < 8; ++slot) {
      const uint64_t start = step * (3 * slot + 1), end = start + step * (40 + slot % 3);
      buffer.put(slot, Warp{}
                           .on(slot, 0, slot % 2)
                           .lived(start, static_cast<int64_t>(2 * start), end,
                                  static_cast<int64_t>(2 * end)));
    }
    const DecodedBuffer decoded = buffer.decode({}, {.fit = ClockFit::kQuick});
    CHECK_EQ(decoded.time_step_ns, static_cast<int64_t>(step));
    CHECK_EQ(decoded.sms.empty(), step == 32);  // no SM has a line of its own
    CHECK_EQ(decoded.cycles_per_ns, 2);
    CHECK_EQ(buffer.decode({}, {.fit = ClockFit::kRough}).sms.size(), 0);
  }
}

TEST(cycles_are_summed_and_spread_over_warps) {
  const DecodedBuffer decoded = spread_buffer().decode(nested(1));
  CHECK_EQ(decoded.regions.size(), 1);
  const RegionSummary& region = decoded.regions[0];
  CHECK_EQ(region.count, 40);
  CHECK_EQ(region.cycles, 2100);
  CHECK_EQ(region.warp_count, 20);
  CHECK_EQ(region.min_cycles, 5);
  CHECK_EQ(region.max_cycles, 100);
  KernelBook book;
  book.add({}, 0, decoded);
  const CycleSketch passages = book.sums(0)[0].regions[0].passages;  // two of each warp
  CHECK_EQ(passages.quantile(0.1), 10);
  CHECK_EQ(passages.quantile(0.5), 50);
  CHECK_EQ(passages.quantile(0.9), 90);
  CHECK(std::abs(region.time_ns - 1400) < 1);  // at 1.5 GHz
  CHECK_EQ(decoded.record_count, 80);
}

TEST(a_region_of_some_warps_tells_how_many_of_all_came_there) {
  Buffer buffer({2, 2, 64});
  for (uint32_t slot = 0; slot < 4; ++slot) buffer.put(slot, Warp{}.on(slot / 2, slot % 2, 0));
  buffer.put(1, Warp{}.on(0, 1, 0).start(0, 0).end(0, 400));
  const DecodedBuffer decoded = buffer.decode(nested(1));
  CHECK_EQ(decoded.regions[0].cycles, 400);
  CHECK_EQ(decoded.warps.size(), 4);
  CHECK_EQ(decoded.regions[0].warp_count, 1);
}

TEST(warps_tell_where_and_when_they_ran) {
  const DecodedBuffer decoded = spread_buffer().decode(nested(1));
  const WarpSummary& warp = decoded.warps[7];
  CHECK_EQ(warp.cta, 3);
  CHECK_EQ(warp.warp, 4);
  CHECK_EQ(warp.sm, 1);
  CHECK_EQ(warp.cycles, 96'000);
  CHECK_EQ(warp.record_count, 4);
  CHECK(warp.has_times);
  CHECK_EQ(warp.start_ns, static_cast<int64_t>(kStartTime));
  CHECK_EQ(warp.end_ns, static_cast<int64_t>(kStartTime) + 64'000);
}

TEST(a_buffer_of_headers_alone_tells_of_its_warps) {
  Buffer buffer({3, 1, 0});
  for (uint32_t slot = 0; slot < 3; ++slot) buffer.put(slot, Warp{}.on(slot, 0, slot));
  const DecodedBuffer decoded = buffer.decode({});
  CHECK_EQ(decoded.warps.size(), 3);
  CHECK_EQ(decoded.regions.size(), 0);
  CHECK_EQ(all_losses(decoded.losses), 0);
}

TEST(spans_are_on_the_hosts_clock_where_the_kernel_is_known) {
  Buffer buffer({1, 1, 64});
  buffer.put(0, Warp{}.start(0, 3000).mark(1, 4500).value32(2, 4500, 11).end(0, 6000));
  DecodeOptions options{.keeps_spans = true};
  options.kernel = {1'000'000, 1'066'000};
  const DecodedBuffer decoded = buffer.decode(nested(3), options);
  CHECK(decoded.is_host_time);
  CHECK_EQ(decoded.spans.size(), 3);
  CHECK_EQ(decoded.spans[0].start_ns, 1'004'000);
  CHECK_EQ(decoded.spans[0].end_ns, 1'004'000);
  CHECK_EQ(decoded.spans[1].value, 11);
  CHECK_EQ(decoded.spans[2].start_ns, 1'003'000);
  CHECK_EQ(decoded.spans[2].end_ns, 1'005'000);
}

TEST(spans_without_a_clock_are_counted_and_their_cycles_kept) {
  Buffer buffer({1, 1, 64});
  Warp warp;
  warp.header.end_time_ns = 0;
  buffer.put(0, warp.start(0, 0).end(0, 50));
  const DecodedBuffer decoded = buffer.decode(nested(1), {.keeps_spans = true});
  CHECK_EQ(decoded.regions[0].raw_cycles, 50);
  CHECK_EQ(decoded.spans.size(), 0);
  CHECK_EQ(decoded.losses.unplaced_spans, 1);
  CHECK_EQ(decoded.losses.bad_clock_pairs, 1);
}

TEST(slots_that_were_not_to_be_written_are_not_missing) {
  Buffer buffer({4, 1, 64});
  buffer.put(0, Warp{});
  buffer.put(2, Warp{});
  CHECK_EQ(buffer.decode({}).losses.missing_warps, 2);
  CHECK_EQ(buffer.decode({}, {.expected_warps = 2}).losses.missing_warps, 0);
  CHECK_EQ(buffer.decode({}, {.expected_warps = 3}).losses.missing_warps, 1);
}

TEST(a_buffer_that_cannot_have_the_geometry_is_refused) {
  const Buffer buffer({4, 2, 64});
  Buffer small = buffer;
  small.bytes().pop_back();
  CHECK_HAS(refusal(small, {}), "the buffer has 1023 bytes, its geometry needs 1024");
  const auto problem = [](Geometry geometry) { return geometry.problem(); };
  CHECK_HAS(problem({0, 4, 64}), "holds nothing");
  CHECK_HAS(problem({4, 4, 24}), "a ring of 24 bytes cannot be");
  CHECK_HAS(problem({4, 4, 8}), "a power of two from 16 on");
  CHECK_HAS(problem({~0u, ~0u, 1u << 31}), "larger than any memory");
  CHECK_EQ(problem({1, 1, 0}), "");
}

TEST(options_that_make_no_sense_are_refused) {
  const Buffer buffer({1, 1, 64});
  CHECK_HAS(refusal(buffer, {.cost = {-1}}), "the cost of a record");
  CHECK_HAS(refusal(buffer, {.cost = {std::numeric_limits<double>::quiet_NaN()}}),
            "must be a number of cycles");
  CHECK_HAS(refusal(buffer, {.cost = {8, -1}}), "the cost of a record");
  CHECK_HAS(refusal(buffer, {}, kRegionLimit + 1), "there are ids for 16384");
  CHECK_HAS(refusal(buffer, {.clock_bits = 40}), "cannot hold 40 bits of a clock; choose 32 or 48");
  DecodeOptions options;
  options.kernel = {20, 10};
  CHECK_HAS(refusal(buffer, options), "a kernel cannot run from 20 to 10 ns");
  options.kernel = {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  CHECK_HAS(refusal(buffer, options), "a kernel cannot run");
  const std::vector<std::span<const std::byte>> drained(3);
  CHECK_THROWS(buffer.decode(nested(1), {}, drained), Error);
}

TEST(quantiles_are_of_all_warps_of_all_launches_and_of_one_passage) {
  KernelBook book;
  const auto launch = [&](uint32_t warps, uint64_t cycles) {
    Buffer buffer({warps, 1, 64});
    for (uint32_t slot = 0; slot < warps; ++slot) {
      buffer.put(
          slot,
          Warp{}.on(slot, 0, 0).start(0, 0).end(0, cycles).start(0, 2000).end(0, 2000 + cycles));
    }
    book.add({}, 0, buffer.decode(nested(1)));
  };
  launch(6, 100);
  launch(3, 1000);
  launch(1, 200);
  const std::vector<KernelSum> sums = book.sums(0);
  CHECK_EQ(sums.size(), 1);
  const RegionSum& region = sums[0].regions[0];
  CHECK_EQ(region.passages.count(), 10);
  CHECK_EQ(region.passages.quantile(0.5), 100);
  CHECK_EQ(region.passages.quantile(0.7), 200);
  CHECK_EQ(region.passages.quantile(0.9), 1000);
}
