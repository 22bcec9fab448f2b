#include "backends/common/active_times.h"

#include <algorithm>

namespace proton {

size_t ActiveTimes::find(uint64_t position) const {
  const auto next =
      std::partition_point(intervals_.begin(), intervals_.end(),
                           [&](const Interval& interval) { return interval.after < position; });
  if (next == intervals_.begin() || position > (next - 1)->until) return kNone;
  return static_cast<size_t>(next - intervals_.begin()) - 1;
}

bool ActiveTimes::has_moment(int64_t time_ns) const {
  const auto next =
      std::partition_point(intervals_.begin(), intervals_.end(),
                           [&](const Interval& interval) { return interval.from_ns <= time_ns; });
  return next != intervals_.begin() && time_ns < (next - 1)->to_ns;
}

void ActiveTimes::trim(uint64_t reach,
                       const std::function<void(std::function<void(uint64_t)>)>& visit) {
  std::vector<bool> is_needed(intervals_.size());
  visit([&](uint64_t position) {
    if (const size_t index = find(position); index != kNone) is_needed[index] = true;
  });
  size_t kept = 0;
  for (size_t i = 0; i < intervals_.size(); ++i) {
    if (intervals_[i].until > reach || is_needed[i]) intervals_[kept++] = intervals_[i];
  }
  intervals_.resize(kept);
  limit_ = std::max(kFewest, 2 * kept);  // so that the time spent on it stays small
}

}  // namespace proton
