/// What instrumented kernels recorded, in trees and traces.
#include <algorithm>
#include <bit>
#include <limits>
#include <string>

#include "check.h"
#include "host.h"
#include "model/losses.h"
#include "session/snapshot/trace_builder.h"

using namespace proton;

namespace {

/// Two CTAs of two warps; `outer` holds `inner`, `copy` is asynchronous.
RecordedLaunch launch(double cycles = 800) {
  RecordedLaunch made;
  made.kernel = "k";
  made.context = kRootPath;
  made.device_type = "FAKE";
  made.clock_ghz = 1.5;
  made.regions = {{"outer", "mm.py:3", kNoRegion, false, cycles, 500},
                  {"inner", "", 0, false, cycles / 4, 125},
                  {"copy", "", 0, true, 5 * cycles, 2500}};
  made.warps = {{0, 0, 7, true, 1000, 2000},
                {0, 1, 7, true, 1100, 2100},
                {1, 0, 3, false, 0, 0},
                {1, 1, 3, true, 1500, 2500}};
  return made;
}

RecordedSpan passage(uint32_t region, uint32_t warp, int64_t start_ns, int64_t end_ns) {
  return {region, warp, warp, false, start_ns, end_ns, 0};
}

const TraceSpan& span_named(const TraceLog& log, const std::string& name, size_t skip = 0) {
  for (const TraceSpan& span : log.spans) {
    if (*log.paths[span.path].name == name && skip-- == 0) return span;
  }
  throw std::runtime_error("no span " + name);
}

}  // namespace

TEST(regions_stand_below_their_kernel_without_what_lies_in_them) {
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.host.activate();
  session.device.add_regions(launch());
  session.device.add_regions(launch());
  const CallTree tree = host::save(session);
  const uint32_t outer = host::row_of(tree, "k/outer");
  CHECK_EQ(std::get<int64_t>(host::metric(tree, outer, "cycles")), 1200);
  CHECK_EQ(std::get<double>(host::metric(tree, outer, "normalized_cycles")), 300.0);
  CHECK_EQ(std::get<double>(host::metric(tree, outer, "nanoseconds (ns)")), 750.0);
  CHECK_EQ(std::get<std::string>(host::metric(tree, outer, "device_type")), "FAKE");
  const uint32_t inner = host::row_of(tree, "k/outer/inner");
  CHECK_EQ(std::get<int64_t>(host::metric(tree, inner, "cycles")), 400);
  CHECK_EQ(std::get<int64_t>(host::metric(tree, 0, "cycles")), 0);
  // An asynchronous operation outlasts the region it began in: it is no part of it.
  CHECK_EQ(std::get<int64_t>(host::metric(tree, host::row_of(tree, "k/copy"), "cycles")), 8000);
  // Nobody timed the kernel itself.
  CHECK_EQ(std::get<int64_t>(host::metric(tree, host::row_of(tree, "k"), "time (ns)")), -1);
}

TEST(fractions_of_cycles_add_up_over_launches) {
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.host.activate();
  for (int turn = 0; turn < 10; ++turn) {
    RecordedLaunch recorded = launch();
    for (RecordedRegion& region : recorded.regions) region.cycles = 0;
    recorded.regions[0].cycles = 0.4;
    session.device.add_regions(std::move(recorded));
  }
  const CallTree tree = host::save(session);
  CHECK_EQ(std::get<int64_t>(host::metric(tree, host::row_of(tree, "k/outer"), "cycles")), 4);
}

TEST(a_timed_kernel_and_its_regions_share_a_row) {
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.host.activate();
  session.device.add_regions(launch());
  const KernelEvent event = host::kernel(kRootPath, 5);
  session.device.on_events({&event, 1});
  const CallTree tree = host::save(session);
  CHECK_EQ(std::get<int64_t>(host::metric(tree, host::row_of(tree, "k"), "count")), 1);
  CHECK(host::row_of(tree, "k/outer/inner") != 0);
  CHECK_EQ(tree.nodes[0].children.size(), 1);
}

TEST(regions_whose_parents_make_no_sense_stand_below_the_kernel) {
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.host.activate();
  RecordedLaunch odd = launch();
  odd.regions[0].parent = 1;  // later ones
  odd.regions[1].parent = 99;
  session.device.add_regions(odd);
  const CallTree tree = host::save(session);
  CHECK(host::row_of(tree, "k/outer") != 0);
  CHECK(host::row_of(tree, "k/inner") != 0);
}

TEST(a_launch_is_booked_in_its_phase_and_one_of_a_cleared_phase_is_late) {
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.host.activate();
  session.advance_phase();
  RecordedLaunch early = launch();
  early.phase = 0;
  session.device.add_regions(early);
  CHECK(host::row_of(host::tree(session, 0, {}), "k/outer") != 0);
  CHECK_EQ(host::row_of(host::tree(session, 1, {}), "k/outer"), 0);
  CHECK(!session.is_empty());
  session.clear_phase(0);
  session.device.add_regions(early);
  CHECK_EQ(session.count_losses().at(losses::kLate), 1);
  CHECK(host::row_of(host::tree(session, 1, {}), "k/outer") != 0);
}

TEST(ctas_are_spans_of_their_multiprocessors) {
  Session session(0, ContextKind::kShadow, DataKind::kTrace);
  session.host.activate();
  CHECK(session.is_empty());
  session.device.add_regions(launch());
  CHECK(!session.is_empty());
  const TraceLog log = build_trace(session, 0, {});
  CHECK_EQ(log.spans.size(), 2);
  const TraceSpan& first = span_named(log, "CTA 0");
  CHECK(first.kind == SpanKind::kCta);
  CHECK(log.lanes[first.lane].kind == LaneKind::kSm);
  CHECK_EQ(log.lanes[first.lane].number, 7);
  CHECK_EQ(first.start_ns, 1000);
  CHECK_EQ(first.end_ns, 2100);
  CHECK_EQ(span_named(log, "CTA 1").start_ns, 1500);  // one of its warps has no times
}

TEST(a_cta_without_times_is_on_no_lane) {
  Session session(0, ContextKind::kShadow, DataKind::kTrace);
  session.host.activate();
  RecordedLaunch made = launch();
  made.warps = {{0, 0, 7, false, 0, 0}};
  session.device.add_regions(made);
  CHECK(build_trace(session, 0, {}).spans.empty());
}

TEST(regions_are_spans_of_their_warps_and_what_overlaps_gets_lines_of_its_own) {
  Session session(0, ContextKind::kShadow, DataKind::kTrace);
  session.host.activate();
  RecordedLaunch made = launch();
  made.spans = {passage(1, 1, 1300, 1400), passage(0, 1, 1200, 1900), passage(2, 1, 1310, 2000),
                passage(2, 1, 1350, 2050), passage(2, 1, 2000, 2060)};
  made.spans[2].end_warp = 0;
  made.spans.push_back({1, 0, 0, true, 1500, 1500, -4});
  session.device.add_regions(made);
  const TraceLog log = build_trace(session, 0, {});
  CHECK_EQ(log.spans.size(), 9);
  const TraceSpan& outer = span_named(log, "outer");
  const TraceLane& lane = log.lanes[outer.lane];
  CHECK(lane.kind == LaneKind::kWarp);
  CHECK_EQ(lane.number, 1);
  CHECK_EQ(lane.inside.kernel, "k");
  CHECK_EQ(lane.inside.sm, 7);
  CHECK_EQ(lane.inside.line, 0);
  CHECK_EQ(span_named(log, "inner", 1).lane, outer.lane);
  CHECK_EQ(log.lanes[span_named(log, "copy", 0).lane].inside.line, 1);
  CHECK_EQ(log.lanes[span_named(log, "copy", 2).lane].inside.line, 2);
  CHECK_EQ(log.lanes[span_named(log, "copy", 3).lane].inside.line, 1);
  const auto& elsewhere = log.attributes[span_named(log, "copy").attributes];
  CHECK_EQ(elsewhere.back().first, "ended in");
  CHECK_EQ(std::get<std::string>(elsewhere.back().second.data), "warp 0");
  const TraceSpan& arrival = span_named(log, "copy", 1);
  CHECK_EQ(log.lanes[arrival.lane].number, 0);
  CHECK_EQ(arrival.start_ns, span_named(log, "copy").end_ns);
  CHECK_EQ(arrival.end_ns, arrival.start_ns);
  CHECK_EQ(arrival.flow_id, span_named(log, "copy").flow_id);
  CHECK(span_named(log, "copy").is_flow_source && !arrival.is_flow_source);
  const auto& from = log.attributes[arrival.attributes];
  CHECK_EQ(from.back().first, "began in");
  CHECK_EQ(std::get<std::string>(from.back().second.data), "warp 1");
  const auto& valued = log.attributes[span_named(log, "inner").attributes];
  CHECK_EQ(std::get<int64_t>(valued.back().second.data), -4);
  const auto& plain = log.attributes[outer.attributes];
  CHECK_EQ(std::get<double>(plain.front().second.data), 1500.0);
  const auto at = [&](const char* key) {
    return std::ranges::find(plain, key, [](const auto& pair) { return pair.first; });
  };
  CHECK_EQ(std::get<std::string>(at("source")->second.data), "mm.py:3");
  CHECK_EQ(std::get<int64_t>(at("Init Time (ns)")->second.data), 100);
  CHECK_EQ(std::get<int64_t>(at("Post Final Time (ns)")->second.data), 1100);
}

TEST(floats_stand_in_a_trace_as_they_were_recorded_and_what_is_not_finite_as_a_word) {
  Session session(0, ContextKind::kShadow, DataKind::kTrace);
  session.host.activate();
  RecordedLaunch made = launch();
  made.regions[1].has_floats = true;
  const double none = std::numeric_limits<double>::quiet_NaN();
  const double endless = std::numeric_limits<double>::infinity();
  int64_t at_ns = 1300;
  for (const double value : {-0.1, none, endless, -endless}) {
    made.spans.push_back({1, 0, 0, true, at_ns, at_ns, std::bit_cast<int64_t>(value)});
    ++at_ns;
  }
  session.device.add_regions(made);
  const TraceLog log = build_trace(session, 0, {});
  const auto value_of = [&](size_t number) {
    return log.attributes[span_named(log, "inner", number).attributes].back().second.data;
  };
  CHECK_EQ(std::get<double>(value_of(0)), -0.1);
  CHECK_EQ(std::get<std::string>(value_of(1)), "nan");
  CHECK_EQ(std::get<std::string>(value_of(2)), "inf");
  CHECK_EQ(std::get<std::string>(value_of(3)), "-inf");
}

TEST(spans_of_regions_and_warps_that_are_not_there_are_left_out) {
  Session session(0, ContextKind::kShadow, DataKind::kTrace);
  session.host.activate();
  RecordedLaunch made = launch();
  made.spans = {passage(9, 0, 1, 2), passage(0, 9, 1, 2)};
  session.device.add_regions(made);
  CHECK_EQ(build_trace(session, 0, {}).spans.size(), 2);  // the CTAs
}

TEST(very_many_events_at_once_share_the_last_line) {
  Session session(0, ContextKind::kShadow, DataKind::kTrace);
  session.host.activate();
  RecordedLaunch made = launch();
  for (int i = 0; i < 40; ++i) made.spans.push_back(passage(2, 0, 1000 + i, 2000 + i));
  session.device.add_regions(made);
  const TraceLog log = build_trace(session, 0, {});
  CHECK_EQ(log.spans.size(), 42);
  uint32_t last_line = 0;
  for (const TraceLane& lane : log.lanes) last_line = std::max(last_line, lane.inside.line);
  CHECK_EQ(last_line, 15);
}

TEST(a_journal_gets_each_launch_once_and_keeps_the_lanes) {
  Session session(0, ContextKind::kShadow, DataKind::kTrace);
  session.host.activate();
  RecordedLaunch made = launch();
  made.spans = {passage(0, 0, 1200, 1900)};
  TraceCursor cursor;
  for (int i = 0; i < 3; ++i) session.device.add_regions(made);
  const TraceLog first = build_new_trace(session, 0, {}, cursor, 3);
  CHECK_EQ(first.spans.size(), 6);  // two launches: the second begins below the limit
  CHECK(!cursor.is_at_end);
  const TraceLog second = build_new_trace(session, 0, {}, cursor, 3);
  CHECK_EQ(second.spans.size(), 3);
  CHECK(cursor.is_at_end);
  CHECK_EQ(second.lanes.size(), first.lanes.size());
  CHECK(build_new_trace(session, 0, {}, cursor, 3).spans.empty());
}
