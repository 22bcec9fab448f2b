/// What instrumented kernels recorded, as lanes and spans of a TraceLog: a lane for each
/// multiprocessor with its CTAs, and lanes for each warp with its regions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/key_index.h"
#include "model/recorded_launch.h"
#include "model/trace_log.h"
#include "session/booking/phase.h"
#include "session/snapshot/trace_paths.h"

namespace proton {

/// The runs of kernels that a backend timed, for launches that recorded about themselves: their own
/// clock is known to some microseconds only, so they are moved into the run they must be of.
class TimedRuns {
 public:
  explicit TimedRuns(const DevicePhase& phase) : phase_(phase) {}

  /// How far the times of a launch are to be moved: into the middle of the nearest run of the same
  /// kernel in the same place; 0 where there is none, or none is near.
  int64_t shift_of(const RecordedKernel& recorded) {
    int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;
    for (const RecordedWarp& warp : recorded.launch.warps) {
      if (!warp.has_times) continue;
      start_ns = std::min(start_ns, warp.start_ns);
      end_ns = std::max(end_ns, warp.end_ns);
    }
    if (end_ns < start_ns) return 0;
    const int64_t middle_ns = start_ns + (end_ns - start_ns) / 2;
    const std::vector<int64_t>& middles = middles_of(recorded);
    auto next = std::ranges::lower_bound(middles, middle_ns);
    int64_t best = kFarthestNs;
    if (next != middles.end()) best = *next - middle_ns;
    if (next != middles.begin() && middle_ns - *--next < std::abs(best)) best = *next - middle_ns;
    return std::abs(best) < kFarthestNs ? best : 0;
  }

 private:
  static constexpr int64_t kFarthestNs = 5'000'000;

  /// Of all runs of the kernel there, in order.
  const std::vector<int64_t>& middles_of(const RecordedKernel& recorded) {
    if (middles_.empty()) {
      for (const KernelSpan& span : phase_.kernel_spans) {
        const int64_t middle_ns = span.start_ns + (span.end_ns - span.start_ns) / 2;
        middles_[pair_key(span.place, span.kernel)].push_back(middle_ns);
      }
      for (auto& [key, middles] : middles_) std::ranges::sort(middles);
    }
    return middles_[pair_key(recorded.place, recorded.kernel)];
  }

  const DevicePhase& phase_;
  std::unordered_map<uint64_t, std::vector<int64_t>> middles_;  // by (place, kernel)
};

class RecordedSpans {
 public:
  /// A launch, by its numbers in the session and the path of the kernel.
  struct Launch {
    const RecordedLaunch& recorded;
    uint32_t device;
    const SeenDevice& seen;
    uint32_t kernel;
    uint32_t path;
    const std::string& name;
    int64_t shift_ns = 0;  // that its times are moved by
  };

  /// `last_flow_id` is of the last arrow of the log.
  RecordedSpans(TraceLog& log, TraceLanes& lanes, TraceTexts& texts, TracePaths& paths,
                uint64_t& last_flow_id)
      : log_(log), lanes_(lanes), texts_(texts), paths_(paths), last_flow_id_(last_flow_id) {}

  void add(const Launch& launch);

 private:
  static constexpr uint32_t kMostLines = 16;  // of a warp, for what overlaps in it

  void add_ctas(const Launch& launch);
  void add_regions(const Launch& launch);
  uint32_t attributes_of(const RecordedLaunch& launch, const RecordedRegion* region);
  /// An arrow from a span, the last one, to where it ended in another warp.
  void add_arrow(const Launch& launch, const RecordedSpan& from, uint32_t shared);
  /// The shared ones, with when the warp began and ended.
  uint32_t with_warp_times(uint32_t shared, const RecordedWarp& warp, int64_t first_ns);
  uint32_t attributes_of_span(const RecordedLaunch& launch, const RecordedSpan& span,
                              uint32_t shared);
  uint32_t child(uint32_t parent, std::string name) {
    return paths_.child(parent, texts_.intern(std::move(name)));
  }

  TraceLog& log_;
  TraceLanes& lanes_;
  TraceTexts& texts_;
  TracePaths& paths_;
  uint64_t& last_flow_id_;
};

}  // namespace proton
