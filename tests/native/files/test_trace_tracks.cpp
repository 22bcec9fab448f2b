/// Spans of a lane on tracks where they nest.
#include "files/trace_layout.h"

#include "check.h"
#include "trees.h"

using proton::LaneKind;
using proton::nest_spans;
using proton::SpanKind;
using proton::TraceLog;
using namespace proton::test;

using Order = std::vector<uint32_t>;

TEST(spans_that_nest_share_a_track_in_the_order_of_nesting) {
  const auto tracks =
      nest_spans(log_of(SpanKind::kKernel, {{20, 30}, {10, 20}, {10, 40}, {40, 40}, {40, 50}}));
  CHECK_EQ(tracks.size(), size_t{1});
  CHECK(tracks[0].is_first_of_lane);
  CHECK(tracks[0].spans == (Order{2, 1, 0, 4, 3}));
}

TEST(spans_that_overlap_get_another_track) {
  const auto tracks =
      nest_spans(log_of(SpanKind::kKernel, {{10, 30}, {20, 40}, {25, 30}, {35, 50}, {45, 46}}));
  CHECK_EQ(tracks.size(), size_t{2});
  CHECK(!tracks[1].is_first_of_lane);
  CHECK(tracks[0].spans == (Order{0, 2, 3, 4}));
  CHECK(tracks[1].spans == (Order{1}));
}

TEST(a_lane_has_a_bounded_number_of_tracks) {
  std::vector<SpanTimes> spans;
  for (int64_t i = 0; i < 1000; ++i) spans.push_back({i, 5000 + i});
  const auto tracks = nest_spans(log_of(SpanKind::kKernel, spans));
  CHECK_EQ(tracks.size(), proton::kMaxTracksOfLane);
  CHECK_EQ(tracks.back().spans.size(), 1000 - proton::kMaxTracksOfLane + 1);
}

TEST(a_lane_without_spans_has_no_track) {
  TraceLog log = log_of(SpanKind::kKernel, {{1, 2}});
  add_lane(log, LaneKind::kHost, 3);
  CHECK_EQ(nest_spans(log).size(), size_t{1});
}
