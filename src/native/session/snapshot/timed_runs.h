/// The runs of kernels that a backend timed, for launches that recorded about themselves: their own
/// clock is known to some microseconds only, so they are moved into the run they must be of.
/// Private to session/.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <unordered_map>
#include <vector>

#include "base/key_index.h"
#include "session/booking/phase.h"

namespace proton {

class TimedRuns {
 public:
  explicit TimedRuns(const Phase& phase) : phase_(phase) {}

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

  const Phase& phase_;
  std::unordered_map<uint64_t, std::vector<int64_t>> middles_;  // by (place, kernel)
};

}  // namespace proton
