/// What one launch of an instrumented kernel recorded about itself, ready for a session: plain
/// data, whichever backend decoded it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/event.h"
#include "model/ids.h"

namespace proton {

inline constexpr uint32_t kNoRegion = UINT32_MAX;

/// A region in the context it was recorded in, over all warps of the launch.
struct RecordedRegion {
  std::string name;
  std::string source;           // "mm.py:22"; empty: not known
  uint32_t parent = kNoRegion;  // an earlier one
  bool is_event = false;        // its passages may overlap others of their warp
  double cycles = 0;            // of all passages, with what lies in them
  double time_ns = 0;           // the same; 0: not known
  bool has_floats = false;      // values of its spans are the bits of a double
};

struct RecordedWarp {
  uint32_t cta = 0, warp = 0, sm = 0;
  bool has_times = false;
  int64_t start_ns = 0, end_ns = 0;  // host clock

  /// As long as `other`, too, ran.
  void widen(const RecordedWarp& other) {
    if (!other.has_times) return;
    start_ns = has_times ? std::min(start_ns, other.start_ns) : other.start_ns;
    end_ns = has_times ? std::max(end_ns, other.end_ns) : other.end_ns;
    has_times = true;
  }
};

/// A passage, or a moment with or without a value. Times are nanoseconds of the host clock.
struct RecordedSpan {
  uint32_t region;    // of RecordedLaunch::regions
  uint32_t warp;      // of RecordedLaunch::warps
  uint32_t end_warp;  // another one where it ended there
  bool has_value;
  int64_t start_ns, end_ns;
  int64_t value;
};

struct RecordedLaunch {
  std::string kernel;
  ContextId context = kUnknownContext;
  bool is_captured = false;       // into a graph, in that context; else launched there
  std::optional<int> phase = {};  // in which it was launched; none: the current one
  std::string device_type;
  uint32_t device_id = 0;
  uint64_t lane = 0;     // the stream
  double clock_ghz = 0;  // of the multiprocessors; 0: not known
  std::vector<RecordedRegion> regions;
  std::vector<RecordedWarp> warps;
  uint64_t more_warps = 0;  // that were recorded; in a tree, the first stands for all
  std::vector<RecordedSpan> spans;

  /// An event that has no times yet lasts as long as the warps ran; false: that is not known.
  bool set_times(KernelEvent& event) const {
    for (const RecordedWarp& warp : warps) {
      if (!warp.has_times) continue;
      event.start_ns = event.end_ns == 0 ? warp.start_ns : std::min(event.start_ns, warp.start_ns);
      event.end_ns = std::max(event.end_ns, warp.end_ns);
    }
    return event.end_ns > event.start_ns;
  }
};

}  // namespace proton
