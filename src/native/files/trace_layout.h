/// How a log of spans is laid out, whatever the format of the trace: words for spans, flows with
/// both ends, a row for each lane, tracks on which spans nest, metrics as counters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace_log.h"

namespace proton {

/// LaneKind and SpanKind as traces say them; of spans that are called the same, the first kind is
/// the one that was meant.
inline constexpr std::string_view kLaneKinds[] = {"host", "graph", "device", "sm", "warp"};
inline constexpr std::string_view kSpanKinds[] = {"scope",  "kernel", "metric", "copy",  "graph",
                                                  "launch", "cta",    "scope",  "scope", "other"};

inline std::string_view category_of(SpanKind kind) { return kSpanKinds[static_cast<size_t>(kind)]; }

/// The flows of a log that have both ends: one may be missing where events were dropped or phases
/// cut.
class PairedFlows {
 public:
  explicit PairedFlows(const TraceLog& log);

  bool contains(const TraceSpan& span) const;

 private:
  std::vector<uint64_t> sources_;  // sorted
  std::vector<uint64_t> targets_;  // sorted
  bool is_all_paired_;             // the usual case, which needs no search
};

/// A row of its own for each of the log's lanes, in the order of the lanes; the log's own rows
/// where it has some. The first device's ids are those that readers know; other devices' never
/// coincide with them.
std::vector<LaneRow> assign_lane_rows(const TraceLog& log);

/// Spans of one lane, by start and the longer first. No span outlasts one it started in; but on the
/// last of a lane's kMaxTracksOfLane tracks, which takes what fits nowhere while recording.
struct Track {
  uint32_t lane;
  bool is_first_of_lane;
  std::vector<uint32_t> spans;  // indices into TraceLog::spans
};

inline constexpr size_t kMaxTracksOfLane = 64;

/// Tracks lane by lane. Most lanes need one: kernels that overlap and interleaved tasks need more.
std::vector<Track> nest_spans(const TraceLog& log);

/// Where the span ends: never before its start.
inline int64_t end_of(const TraceSpan& span) {
  return span.end_ns < span.start_ns ? span.start_ns : span.end_ns;
}

/// Puts indices of spans into the order of nesting: by start, of spans that start together the
/// longer first, and of equal ones the first.
void sort_for_nesting(const TraceLog& log, std::vector<uint32_t>& indices);

struct CounterSample {
  int64_t time_ns;    // host clock: when the span that carried the metric ended
  MetricValue total;  // a number: the sum up to now; of a property the value itself
};

/// `number`, which is no list and no label.
double as_double(const MetricValue& number);

struct Counter {
  const std::string* name;
  std::vector<CounterSample> samples;  // by time
};

/// One counter a metric, in the order in which they first appear. Lists, labels and numbers that
/// are not finite are left out, and metrics with a single sample: there is nothing to draw.
std::vector<Counter> count_metrics(const TraceLog& log);

}  // namespace proton
