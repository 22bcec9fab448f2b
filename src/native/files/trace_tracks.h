/// The spans of a log as tracks on which they nest, for formats that write begins and ends.
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace_log.h"

namespace proton {

/// Spans of one lane, by start and the longer first. No span outlasts one it started in; but on the
/// last of a lane's kMaxTracksOfLane tracks, which takes what fits nowhere.
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

}  // namespace proton
