/// GPU time by step of the program: what was launched in a step counts for it, whenever it runs.
/// Guarded by the lock of the booking on devices.
///
/// Nothing is looked up before the first mark: what was booked by then is all of the first step.
/// Intervals between marks are kept for as long as the phase that names them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include "model/ids.h"
#include "session/booking/phase_boundaries.h"
#include "session/scopes/marked_steps.h"

namespace proton {

class StepTimes {
 public:
  /// Whether every event is to be told.
  bool is_on() const { return is_on_; }
  /// Whether a first step is under way, of which no event needs to be told yet.
  bool is_first() const { return !is_on_ && !intervals_.empty(); }
  /// From now on every event is to be told. `booked_ns`: the time of those until now.
  void switch_on(int64_t booked_ns) {
    intervals_.front().time_ns = booked_ns;
    is_on_ = true;
  }

  /// A step begins at `time_ns`, after launch `newest`; nothing: launches are not counted. The one
  /// before it is kept, or what was launched in it is of no step.
  StepId begin(int64_t time_ns, std::optional<CorrelationId> newest, bool is_kept) {
    if (!intervals_.empty() && !is_kept) drop_last();
    intervals_.push_back({after(newest), time_ns});
    found_ = kNone;
    return first_ + intervals_.size() - 2;
  }

  /// An event. Without an id it is of the step in which it began.
  void add(CorrelationId correlation, int64_t start_ns, int64_t time_ns) {
    if (correlation == 0) {
      const size_t at = last_where([&](const Interval& each) { return each.start_ns <= start_ns; });
      if (at != kNone) intervals_[at].time_ns += time_ns;
      return;
    }
    const int64_t id = ids_.widen(correlation);
    if (found_ == kNone || id <= found_after_ || id > found_until_) find(id, correlation);
    if (found_ != kNone) intervals_[found_].time_ns += time_ns;
  }

  /// 0 where its phase was cleared meanwhile.
  int64_t time_of(StepId step) const {
    return step < first_ ? 0 : intervals_[step - first_].time_ns;
  }

  /// The phase of these steps was cleared.
  void forget(const std::vector<MarkedStep>& steps) {
    for (const MarkedStep& step : steps) intervals_[step.id - first_].is_dropped = true;
    while (!intervals_.empty() && intervals_.front().is_dropped) {
      intervals_.pop_front();
      ++first_;
    }
    found_ = kNone;
  }

 private:
  struct Interval {
    int64_t after;  // launches with larger ids
    int64_t start_ns;
    int64_t time_ns = 0;
    bool is_dropped = false;
  };
  static constexpr size_t kNone = SIZE_MAX;

  /// Gaps that follow each other are one.
  void drop_last() {
    intervals_.back().is_dropped = true;
    if (intervals_.size() > 1 && intervals_[intervals_.size() - 2].is_dropped) {
      intervals_.pop_back();
    }
  }

  int64_t after(std::optional<CorrelationId> newest) {
    if (intervals_.empty() || !newest.has_value()) {
      return intervals_.empty() ? std::numeric_limits<int64_t>::min() : intervals_.back().after;
    }
    if (!has_ids_) {
      has_ids_ = true;
      return ids_.begin(*newest);
    }
    ids_.follow(*newest);
    return std::max(intervals_.back().after, ids_.widen(*newest));
  }

  template <typename IsBegun>
  size_t last_where(IsBegun is_begun) const {
    const auto next = std::partition_point(intervals_.begin(), intervals_.end(), is_begun);
    return next == intervals_.begin() ? kNone : static_cast<size_t>(next - intervals_.begin()) - 1;
  }

  [[gnu::noinline]] void find(int64_t id, CorrelationId correlation) {
    ids_.follow(correlation);
    found_ = last_where([&](const Interval& each) { return each.after < id; });
    if (found_ == kNone) return;
    found_after_ = intervals_[found_].after;
    found_until_ = found_ + 1 < intervals_.size() ? intervals_[found_ + 1].after
                                                  : std::numeric_limits<int64_t>::max();
  }

  std::deque<Interval> intervals_;  // the last one is under way
  StepId first_ = 0;                // of the first interval
  WideIds ids_;
  bool has_ids_ = false;
  bool is_on_ = false;
  // Of the event before: the next one is mostly of the same step.
  size_t found_ = kNone;
  int64_t found_after_ = 0;
  int64_t found_until_ = 0;
};

}  // namespace proton
