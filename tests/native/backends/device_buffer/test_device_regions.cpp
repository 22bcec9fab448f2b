// Starts matched with ends: nesting, recursion, what is left over, asynchronous pairs, correction.
#include "kernel_buffer.h"

using namespace kernel_buffer;

namespace {

/// One CTA with these warps, all regions nested but those listed.
DecodedBuffer regions_of(const std::vector<Warp>& warps, const std::vector<uint32_t>& queued = {},
                         RecordCost cost = {}, uint32_t ring_bytes = 1024) {
  Buffer buffer({1, static_cast<uint32_t>(warps.size()), ring_bytes});
  for (size_t slot = 0; slot < warps.size(); ++slot) buffer.put(slot, warps[slot]);
  std::vector<Region> regions = nested(8);
  for (const uint32_t region : queued) regions[region].matching = Matching::kQueued;
  return buffer.decode(regions, {.cost = cost, .keeps_spans = true});
}

/// CTAs with these warps, of whose regions the first two may overlap.
DecodedBuffer overlapping(const std::vector<Warp>& warps, uint32_t ctas = 1,
                          bool keeps_spans = true) {
  const auto count = static_cast<uint32_t>(warps.size());
  Buffer buffer({ctas, count, 1024});
  for (uint32_t slot = 0; slot < ctas * count; ++slot) buffer.put(slot, warps[slot % count]);
  std::vector<Region> regions = nested(8);
  regions[0].may_overlap = regions[1].may_overlap = true;
  return buffer.decode(regions, {.keeps_spans = keeps_spans});
}

/// The summary of a region below a parent's region; null: there is none.
const RegionSummary* find_region(const DecodedBuffer& decoded, uint32_t region,
                                 std::optional<uint32_t> parent = {}) {
  for (const RegionSummary& one : decoded.regions) {
    const bool has_parent = one.parent != kNoContext;
    const bool fits =
        parent ? has_parent && decoded.regions[one.parent].region == *parent : !has_parent;
    if (one.region == region && fits) return &one;
  }
  CHECK(false);
  static const RegionSummary none;
  return &none;
}

}  // namespace

TEST(nested_regions_are_children_of_what_they_are_recorded_in) {
  Warp warp;
  warp.start(0, 0).start(1, 10).end(1, 30).start(1, 40).end(1, 45).end(0, 100);
  const DecodedBuffer decoded = regions_of({warp});
  CHECK_EQ(decoded.regions.size(), 2);
  CHECK_EQ(find_region(decoded, 0)->raw_cycles, 100);
  const RegionSummary& inner = *find_region(decoded, 1, 0);
  CHECK_EQ(inner.count, 2);
  CHECK_EQ(inner.raw_cycles, 25);
  CHECK_EQ(inner.min_cycles, 5);
  CHECK_EQ(inner.max_cycles, 20);
  CHECK_EQ(inner.depth, 1);
  CHECK_EQ(all_losses(decoded.losses), 0);
}

TEST(a_region_below_two_others_has_a_summary_below_each) {
  Warp warp;
  warp.start(0, 0).start(2, 1).end(2, 3).end(0, 4).start(1, 5).start(2, 6).end(2, 10).end(1, 11);
  const DecodedBuffer decoded = regions_of({warp});
  CHECK_EQ(find_region(decoded, 2, 0)->raw_cycles, 2);
  CHECK_EQ(find_region(decoded, 2, 1)->raw_cycles, 4);
}

TEST(a_region_within_itself_is_matched_from_the_inside) {
  const DecodedBuffer decoded =
      regions_of({Warp{}.start(3, 0).start(3, 10).end(3, 20).end(3, 100)});
  CHECK_EQ(find_region(decoded, 3)->raw_cycles, 100);
  CHECK_EQ(find_region(decoded, 3, 3)->raw_cycles, 10);
}

TEST(ends_without_a_start_and_starts_without_an_end_are_counted) {
  const DecodedBuffer decoded = regions_of({Warp{}.end(0, 1).start(1, 2).start(2, 3).end(2, 5)});
  CHECK_EQ(decoded.losses.unmatched_ends, 1);
  CHECK_EQ(decoded.losses.unmatched_starts, 1);
  CHECK_EQ(find_region(decoded, 2, 1)->raw_cycles, 2);
}

TEST(ends_whose_start_was_overwritten_are_told_apart) {
  Warp warp;
  warp.start(0, 0);
  for (uint64_t i = 1; i < 8; ++i) warp.mark(1, i);
  warp.end(0, 9).start(2, 10).end(2, 12);
  const DecodedBuffer decoded = regions_of({warp}, {}, {}, 64);
  CHECK_EQ(decoded.losses.overwritten_starts, 1);
  CHECK_EQ(decoded.losses.unmatched_ends, 0);
  CHECK_EQ(decoded.losses.overwritten_records, 3);
  CHECK_EQ(find_region(decoded, 2)->raw_cycles, 2);
}

TEST(regions_that_cross_are_both_matched_and_counted) {
  Warp warp;
  warp.start(0, 0).start(1, 10).end(0, 20).start(2, 22).end(2, 25).end(1, 30);
  const DecodedBuffer decoded = regions_of({warp});
  CHECK_EQ(find_region(decoded, 0)->raw_cycles, 20);
  CHECK_EQ(find_region(decoded, 1, 0)->raw_cycles, 20);
  CHECK_EQ(find_region(decoded, 2)->raw_cycles, 3);  // not within what crossed
  CHECK_EQ(decoded.losses.crossed_regions, 1);
  CHECK_EQ(decoded.losses.unmatched_starts, 0);
}

TEST(regions_that_may_overlap_stand_beside_each_other) {
  Warp warp;
  warp.start(3, 0).start(0, 5).start(1, 10).start(2, 12).end(2, 15).mark(4, 16);
  warp.end(0, 20).start(2, 22).end(2, 25).end(1, 30).end(3, 90);
  const DecodedBuffer decoded = overlapping({warp});
  CHECK_EQ(find_region(decoded, 3)->raw_cycles, 90);
  CHECK_EQ(find_region(decoded, 0, 3)->raw_cycles, 15);
  CHECK_EQ(find_region(decoded, 1, 3)->raw_cycles, 20);
  CHECK_EQ(find_region(decoded, 2, 1)->raw_cycles, 6);  // within both, then within one: the later
  CHECK_EQ(find_region(decoded, 4, 1)->count, 1);
  CHECK_EQ(decoded.regions.size(), 5);
  CHECK_EQ(all_losses(decoded.losses), 0);
}

TEST(regions_that_may_overlap_and_do_not_are_nested) {
  const DecodedBuffer decoded = overlapping({Warp{}.start(0, 0).start(1, 5).end(1, 9).end(0, 20)});
  CHECK_EQ(find_region(decoded, 1, 0)->raw_cycles, 4);
  CHECK_EQ(all_losses(decoded.losses), 0);
}

TEST(overlapping_regions_of_warps_alike_add_up) {
  const Warp warp = Warp{}.start(0, 0).start(1, 10).end(0, 20).end(1, 30);
  for (const bool keeps_spans : {true, false}) {
    const DecodedBuffer decoded = overlapping({warp, warp, warp}, 2, keeps_spans);
    CHECK_EQ(find_region(decoded, 0)->raw_cycles, 2 * 3 * 20);
    CHECK_EQ(find_region(decoded, 1)->raw_cycles, 2 * 3 * 20);
    CHECK_EQ(decoded.regions.size(), 2);
    CHECK_EQ(all_losses(decoded.losses), 0);
  }
}

TEST(a_start_that_never_ends_is_around_nothing_where_regions_may_overlap) {
  const DecodedBuffer decoded = overlapping({Warp{}.start(0, 0).start(1, 5).end(1, 9).end(2, 20)});
  CHECK_EQ(find_region(decoded, 1)->raw_cycles, 4);
  CHECK_EQ(decoded.losses.unmatched_starts, 1);
  CHECK_EQ(decoded.losses.unmatched_ends, 1);
}

TEST(a_region_left_open_in_every_iteration_disturbs_nothing) {
  Warp warp;
  for (uint64_t i = 0; i < 10; ++i)
    warp.start(0, 100 * i).start(1, 100 * i + 1).end(0, 100 * i + 50);
  const DecodedBuffer decoded = regions_of({warp});
  CHECK_EQ(find_region(decoded, 0)->count, 10);
  CHECK_EQ(find_region(decoded, 0)->raw_cycles, 500);
  CHECK_EQ(decoded.losses.unmatched_starts, 10);
}

TEST(asynchronous_pairs_are_matched_oldest_first) {
  Warp warp;
  warp.start(5, 0).start(5, 10).end(5, 100).end(5, 130);
  const DecodedBuffer decoded = regions_of({warp}, {5});
  const RegionSummary& copies = *find_region(decoded, 5);
  CHECK_EQ(copies.count, 2);
  CHECK_EQ(copies.min_cycles, 100);
  CHECK_EQ(copies.max_cycles, 120);
  CHECK_EQ(all_losses(decoded.losses), 0);
}

TEST(asynchronous_pairs_may_end_in_another_warp_of_the_cta) {
  Warp producer, consumer;
  producer.on(0, 0, 0).start(5, 0).start(5, 10).start(5, 20);
  consumer.on(0, 4, 0).end(5, 100).end(5, 130);
  const DecodedBuffer decoded = regions_of({producer, consumer}, {5});
  CHECK_EQ(find_region(decoded, 5)->raw_cycles, 220);
  CHECK_EQ(find_region(decoded, 5)->warp_count, 1);  // the one that began them
  CHECK_EQ(decoded.warp_passages[find_region(decoded, 5)->first_passage], 110);
  CHECK_EQ(decoded.losses.unmatched_starts, 1);
  CHECK_EQ(decoded.spans.size(), 2);
  CHECK_EQ(decoded.spans[0].warp, 0);
  CHECK_EQ(decoded.spans[0].end_warp, 1);
}

TEST(what_one_warp_begins_ends_in_each_of_the_warps_that_wait_for_it) {
  Warp producer, first, second;
  producer.start(5, 0).start(5, 10).start(5, 200);  // two ahead of those that wait
  first.end(5, 100).end(5, 150).end(5, 300);
  second.end(5, 104).end(5, 158).end(5, 310);
  for (const bool is_first : {true, false}) {
    const DecodedBuffer decoded = is_first ? regions_of({producer, first, second}, {5})
                                           : regions_of({first, second, producer}, {5});
    const RegionSummary& tiles = *find_region(decoded, 5);
    CHECK_EQ(tiles.count, 6);
    CHECK_EQ(tiles.raw_cycles, 100 + 104 + 140 + 148 + 100 + 110);
    CHECK_EQ(tiles.max_cycles, 148);
    CHECK_EQ(tiles.warp_count, 1);
    CHECK_EQ(all_losses(decoded.losses), 0);
    CHECK_EQ(decoded.spans.size(), 6);
  }
}

TEST(what_nobody_waits_for_leaves_a_group_its_passages) {
  Warp producer, first, second;
  producer.start(5, 0).start(5, 10).start(5, 200).start(5, 250);  // the last one runs ahead
  first.end(5, 100).end(5, 150).end(5, 300);
  second.end(5, 104).end(5, 158).end(5, 310);
  const DecodedBuffer decoded = regions_of({producer, first, second}, {5});
  CHECK_EQ(find_region(decoded, 5)->count, 6);
  CHECK_EQ(find_region(decoded, 5)->raw_cycles, 100 + 104 + 140 + 148 + 100 + 110);
  CHECK_EQ(decoded.losses.unmatched_starts, 2);  // of each warp that might have waited
  CHECK_EQ(decoded.losses.unmatched_ends, 0);
}

TEST(what_a_group_of_warps_begins_may_end_in_one) {
  Warp first, second, waiting;
  first.start(5, 0).start(5, 200);
  second.start(5, 6).start(5, 208);
  waiting.end(5, 100).end(5, 300);
  const DecodedBuffer decoded = regions_of({first, second, waiting}, {5});
  CHECK_EQ(find_region(decoded, 5)->count, 4);
  CHECK_EQ(find_region(decoded, 5)->raw_cycles, 100 + 94 + 100 + 92);
  CHECK_EQ(find_region(decoded, 5)->warp_count, 2);
  CHECK_EQ(all_losses(decoded.losses), 0);
}

TEST(the_newest_ends_belong_to_the_newest_starts_where_rings_lost_the_oldest) {
  // Rings of 16 records: the producer's has all, a consumer's the last five tiles, a late end
  // first.
  Warp producer, first, second;
  for (uint64_t tile = 0; tile < 12; ++tile) {
    const uint64_t clock = 1000 * tile;
    producer.start(5, clock);
    first.start(1, clock + 40).end(1, clock + 45).end(5, clock + 50);
    second.start(1, clock + 44).end(1, clock + 49).end(5, clock + 54);
  }
  const DecodedBuffer pair = regions_of({producer, first}, {5}, {}, 128);
  CHECK_EQ(find_region(pair, 5)->count, 6);
  CHECK_EQ(find_region(pair, 5)->max_cycles, 50);
  const DecodedBuffer group = regions_of({producer, first, second}, {5}, {}, 128);
  CHECK_EQ(find_region(group, 5)->count, 12);
  CHECK_EQ(find_region(group, 5)->min_cycles, 50);
  CHECK_EQ(find_region(group, 5)->max_cycles, 54);
  CHECK(group.losses.overwritten_records > 0);
}

TEST(ends_of_one_warp_without_a_start_are_unmatched_however_many) {
  Warp producer, consumer;
  producer.start(5, 0);
  consumer.end(5, 50).end(5, 60);
  const DecodedBuffer decoded = regions_of({producer, consumer}, {5});
  CHECK_EQ(find_region(decoded, 5)->count, 1);
  CHECK_EQ(decoded.losses.unmatched_ends, 1);
}

TEST(an_asynchronous_end_before_every_start_is_unmatched) {
  Warp first, second;
  first.end(5, 10);
  second.start(5, 50);
  const DecodedBuffer decoded = regions_of({first, second}, {5});
  CHECK_EQ(decoded.losses.unmatched_ends, 1);
  CHECK_EQ(decoded.losses.unmatched_starts, 1);
  CHECK_EQ(decoded.spans.size(), 0);
}

TEST(the_cost_of_a_record_is_taken_off_for_each_record_in_a_region) {
  Warp warp;
  warp.start(0, 0).start(1, 50).end(1, 70).mark(2, 90).end(0, 200);
  const DecodedBuffer decoded = regions_of({warp}, {}, {20});
  CHECK_EQ(find_region(decoded, 1, 0)->cycles, 0);        // one record long: empty
  CHECK_EQ(find_region(decoded, 0)->cycles, 200 - 80.0);  // three inside, and its own
  CHECK_EQ(find_region(decoded, 0)->raw_cycles, 200);
  CHECK_EQ(decoded.losses.over_corrected, 0);
}

TEST(a_cost_that_cannot_be_is_counted_and_nothing_gets_negative) {
  const DecodedBuffer decoded = regions_of({Warp{}.start(0, 0).end(0, 10)}, {}, {20});
  CHECK_EQ(find_region(decoded, 0)->cycles, 0);
  CHECK_EQ(decoded.losses.over_corrected, 0);  // a record may take half of what it mostly does
  const DecodedBuffer worse =
      regions_of({Warp{}.start(0, 0).mark(1, 1).mark(1, 2).end(0, 3)}, {}, {20});
  CHECK_EQ(find_region(worse, 0)->cycles, 0);
  CHECK_EQ(worse.losses.over_corrected, 3);
}

TEST(a_record_right_behind_another_costs_more_than_one_behind_work) {
  const RecordCost cost{8, 20};
  const auto cycles_of = [&](uint64_t raw) {
    return find_region(regions_of({Warp{}.start(0, 0).end(0, raw)}, {}, cost), 0)->cycles;
  };
  CHECK_EQ(cycles_of(20), 0);  // an empty region
  CHECK_EQ(cycles_of(15), 0);
  CHECK_EQ(cycles_of(26), 12);  // neither empty nor long enough to hide the wait
  CHECK_EQ(cycles_of(32), 24);
  CHECK_EQ(cycles_of(1000), 992);
}

TEST(what_encloses_regions_is_their_sum_and_what_lies_between_them) {
  Warp warp;
  warp.start(0, 0);
  for (uint64_t i = 0; i < 10; ++i) warp.start(1, 200 * i + 20).end(1, 200 * i + 120);
  warp.end(0, 2000);
  const DecodedBuffer decoded = regions_of({warp}, {}, {8, 20});
  CHECK_EQ(find_region(decoded, 1, 0)->cycles, 10 * 92.0);
  CHECK_EQ(find_region(decoded, 0)->cycles, 0 + 10 * 92.0 + 9 * 92.0 + 72);
  CHECK_EQ(decoded.losses.over_corrected, 0);
}

TEST(a_value_costs_two_records) {
  Warp warp;
  warp.start(0, 0).value32(2, 100, 7).end(0, 300);
  CHECK_EQ(find_region(regions_of({warp}, {}, {8, 20}), 0)->cycles, 300 - 3 * 8.0);
}

TEST(records_under_an_asynchronous_pair_cost_it_nothing) {
  Warp warp;
  warp.start(5, 0).mark(0, 10).mark(0, 40).end(5, 100);
  CHECK_EQ(find_region(regions_of({warp}, {5}, {20}), 5)->cycles, 80);
}

TEST(spans_are_placed_without_what_records_cost_if_asked) {
  Warp warp;
  warp.start(0, 0).start(1, 300).end(1, 900).mark(2, 1200);
  warp.start(5, 1500).end(5, 1800).end(0, 3000);
  const DecodedBuffer raw = regions_of({warp}, {5}, {9, 21});
  const DecodedBuffer shifted = regions_of({warp}, {5}, {9, 21, true});
  CHECK_EQ(shifted.spans.size(), 4);
  const auto length_of = [](const DecodedBuffer& decoded, size_t at) {
    return decoded.spans[at].end_ns - decoded.spans[at].start_ns;
  };
  const auto moved = [&](size_t at) { return raw.spans[at].start_ns - shifted.spans[at].start_ns; };
  // three cycles are two nanoseconds; spans come by their ends: 1, the mark 2, 5, 0
  CHECK_EQ(length_of(raw, 0), 400);
  CHECK_EQ(length_of(shifted, 0), 400 - 6);
  CHECK_EQ(moved(0), 6);
  CHECK_EQ(moved(1), 3 * 6);
  CHECK_EQ(moved(2), 4 * 6);
  CHECK_EQ(length_of(shifted, 2), 200 - 6);
  CHECK_EQ(moved(3), 0);  // from the first record on
  CHECK_EQ(length_of(shifted, 3), 2000 - 6 * 6);
  CHECK_EQ(find_region(raw, 0)->cycles, find_region(shifted, 0)->cycles);
  CHECK_EQ(length_of(regions_of({warp}, {5}, {0, 0, true}), 3), 2000);  // the cost is not known
}

TEST(nesting_deeper_than_is_kept_is_counted_and_the_rest_stays_right) {
  Warp warp;
  for (uint64_t i = 0; i < 300; ++i) warp.start(0, i);
  for (uint64_t i = 0; i < 300; ++i) warp.end(0, 1000 + i);
  warp.start(1, 2000).end(1, 2007);
  const DecodedBuffer decoded = regions_of({warp}, {}, {}, 8192);
  CHECK_EQ(decoded.losses.too_deep, 44);
  CHECK_EQ(find_region(decoded, 0)->raw_cycles, 1299);  // the outermost
  CHECK_EQ(find_region(decoded, 1)->raw_cycles, 7);
  CHECK_EQ(decoded.losses.unmatched_ends, 0);
}

TEST(marks_and_values_stand_in_the_region_around_them) {
  Warp warp;
  warp.start(0, 0).value32(1, 5, 3).value32(1, 6, -9).mark(2, 7).end(0, 10).mark(2, 12);
  const DecodedBuffer decoded = regions_of({warp});
  const ValueSum& values = find_region(decoded, 1, 0)->values;
  CHECK_EQ(values.count, 2);
  CHECK_EQ(values.sum, -6);
  CHECK_EQ(values.integers.min, -9);
  CHECK_EQ(values.integers.max, 3);
  CHECK_EQ(find_region(decoded, 2, 0)->count, 1);
  CHECK_EQ(find_region(decoded, 2)->count, 1);
}

namespace {

/// Region 1 are turns of loop 0, the first `most_turns` of a run; 0: all.
DecodedBuffer turns_of(const std::vector<Warp>& warps, uint32_t most_turns = 0,
                       DecodeOptions options = {.keeps_spans = true}, uint32_t ring_bytes = 1024) {
  Buffer buffer({1, static_cast<uint32_t>(warps.size()), ring_bytes});
  for (size_t slot = 0; slot < warps.size(); ++slot) buffer.put(slot, warps[slot]);
  std::vector<Region> regions = nested(8);
  regions[1].loop = 0;
  regions[1].most_turns = most_turns;
  return buffer.decode(regions, options);
}

/// Turns of 100 cycles whose end is recorded after 10, and what comes behind them until 1000.
Warp loop_of(uint64_t turns) {
  Warp warp;
  warp.start(0, 0);
  for (uint64_t i = 0; i < turns; ++i) warp.start(1, 100 * i).end(1, 100 * i + 10);
  return warp.end(0, 1000);
}

}  // namespace

TEST(a_turn_of_a_loop_lasts_until_the_next_one_starts_or_the_loop_ends) {
  const DecodedBuffer decoded = turns_of({loop_of(4)});
  const RegionSummary& turns = *find_region(decoded, 1, 0);
  CHECK_EQ(turns.count, 4);
  CHECK_EQ(turns.raw_cycles, 1000);
  CHECK_EQ(turns.min_cycles, 100);
  CHECK_EQ(turns.max_cycles, 700);
  CHECK_EQ(decoded.spans.size(), 5);
  for (size_t at = 0; at + 2 < decoded.spans.size(); ++at) {
    CHECK_EQ(decoded.spans[at].end_ns, decoded.spans[at + 1].start_ns);
  }
  CHECK_EQ(decoded.spans[3].end_ns, decoded.spans[4].end_ns);  // the last turn's and the loop's
  CHECK_EQ(all_losses(decoded.losses), 0);
}

TEST(the_last_turn_that_is_recorded_ends_by_itself_where_others_may_follow) {
  CHECK_EQ(find_region(turns_of({loop_of(4)}, 4), 1, 0)->raw_cycles, 310);
  CHECK_EQ(find_region(turns_of({loop_of(4)}, 5), 1, 0)->raw_cycles, 1000);
  Warp warp = loop_of(4);  // a second run counts its own turns
  warp.start(0, 2000).start(1, 2000).end(1, 2010).end(0, 2900);
  CHECK_EQ(find_region(turns_of({warp}, 4), 1, 0)->raw_cycles, 310 + 900);
}

TEST(a_turn_ends_by_itself_before_any_other_record_but_marks_and_values) {
  Warp warp;
  warp.start(0, 0).start(1, 0).end(1, 10).mark(2, 20).value32(3, 30, 7).start(1, 50).end(1, 60);
  warp.start(4, 80).end(4, 90).end(0, 200);
  CHECK_EQ(find_region(turns_of({warp}), 1, 0)->raw_cycles, 50 + 10);
  const DecodedBuffer last = turns_of({Warp{}.start(1, 0).end(1, 10)});
  CHECK_EQ(find_region(last, 1)->raw_cycles, 10);  // nothing comes behind it
  CHECK_EQ(find_region(turns_of({Warp{}.start(1, 0).end(1, 10).end(0, 90)}), 1)->raw_cycles, 10);
}

TEST(turns_whose_loop_was_overwritten_still_last_until_the_next_starts) {
  const DecodedBuffer decoded = turns_of({loop_of(6)}, 0, {}, 64);  // the last 8 records
  CHECK_EQ(find_region(decoded, 1)->count, 3);
  CHECK_EQ(find_region(decoded, 1)->raw_cycles, 100 + 100 + 10);
  CHECK_EQ(decoded.losses.overwritten_starts, 2);
}

TEST(records_around_the_end_of_a_turn_cost_it_nothing) {
  const DecodedBuffer decoded = turns_of({loop_of(4)}, 0, {.cost = {8, 8}});
  CHECK_EQ(find_region(decoded, 1, 0)->cycles, 1000 - 8 * 8.0);
  CHECK_EQ(find_region(decoded, 0)->cycles, 1000 - 8 * 8.0);  // its first start is at 0, too
}

TEST(warps_that_repeat_turns_count_as_if_each_had_been_matched) {
  const std::vector<Warp> warps(6, loop_of(4));
  const DecodedBuffer decoded = turns_of(warps, 0, {.cost = {8, 8}});
  CHECK_EQ(find_region(decoded, 1, 0)->count, 24);
  CHECK_EQ(find_region(decoded, 1, 0)->raw_cycles, 6000);
  CHECK_EQ(find_region(decoded, 1, 0)->cycles, 6 * (1000 - 8 * 8.0));
}
