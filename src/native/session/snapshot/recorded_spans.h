/// What instrumented kernels recorded, as lanes and spans of a TraceLog: a lane for each
/// multiprocessor with its CTAs, and lanes for each warp with its regions. Private to session/.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "model/recorded_launch.h"
#include "model/trace_log.h"

namespace proton {

/// (device, kernel, multiprocessor, CTA, warp, line) -> lane.
using WarpLanes =
    std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>, uint32_t>;

class RecordedSpans {
 public:
  /// What it needs to know of the log under construction.
  struct Around {
    std::function<uint32_t(uint32_t parent, std::string name)> child;  // path
    std::function<uint32_t(uint32_t device, uint32_t sm)> sm_lane;
  };

  /// A launch, by its numbers in the session and the path of the kernel.
  struct Launch {
    const RecordedLaunch& recorded;
    uint32_t device;
    uint32_t kernel;
    uint32_t path;
    const std::string& name;
    int64_t shift_ns = 0;  // that its times are moved by
  };

  RecordedSpans(TraceLog& log, WarpLanes& lanes, Around around)
      : log_(log), lanes_(lanes), around_(std::move(around)) {}

  void add(const Launch& launch);

 private:
  static constexpr uint32_t kMostLines = 16;  // of a warp, for what overlaps in it

  void add_ctas(const Launch& launch);
  void add_regions(const Launch& launch);
  uint32_t attributes_of(const RecordedLaunch& launch, const RecordedRegion* region);
  uint32_t attributes_of_span(const RecordedLaunch& launch, const RecordedSpan& span,
                              uint32_t shared);
  uint32_t warp_lane(const Launch& launch, const RecordedWarp& warp, uint32_t line);

  TraceLog& log_;
  WarpLanes& lanes_;
  const Around around_;
};

}  // namespace proton
