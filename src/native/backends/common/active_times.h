/// When a sink was active, told by the order of launches: a record may come long after its launch,
/// and belongs to the sinks that were active then. For records that name no launch, told by the
/// host's clock. Not safe for threads: callers hold the lock of the sink table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace proton {

/// Correlation ids wrap around after 2^32 launches; positions count on. Right as long as an id is
/// fewer than 2^31 launches away from the newest that was noted.
class LaunchOrder {
 public:
  /// Ids may begin anew.
  void reset() { newest_ = first_ = 0; }
  /// Notes an id, of whatever time; 0 is none.
  void note(uint32_t id) {
    if (id == 0) return;
    const uint64_t position = position_of(id);
    if (first_ == 0) first_ = position;
    if (position > newest_) newest_ = position;
  }
  /// Never 0.
  uint64_t position_of(uint32_t id) const {
    if (newest_ == 0) return kFirst + id;
    return newest_ + static_cast<uint64_t>(
                         int64_t{static_cast<int32_t>(id - static_cast<uint32_t>(newest_))});
  }
  uint64_t newest() const { return newest_; }  ///< 0: none was noted
  uint64_t count() const { return newest_ - first_; }

 private:
  static constexpr uint64_t kFirst = uint64_t{1} << 32;  // there is room below
  uint64_t newest_ = 0;
  uint64_t first_ = 0;
};

class ActiveTimes {
 public:
  static constexpr int64_t kEver = INT64_MIN;
  static constexpr int64_t kNever = INT64_MAX;

  /// From the launch after `newest` on, and from this moment.
  void begin(uint64_t newest, int64_t from_ns) { intervals_.push_back({newest, from_ns}); }
  /// Up to `newest`, and to this moment; after a `begin`.
  void end(uint64_t newest, int64_t to_ns) {
    intervals_.back().until = newest;
    intervals_.back().to_ns = to_ns;
  }
  /// Where the end has no moment yet: it is this one.
  void end_moments(int64_t to_ns) {
    if (!intervals_.empty() && intervals_.back().to_ns == kNever) intervals_.back().to_ns = to_ns;
  }

  /// Whether the launch at this position was made in one of them. Takes as long for one interval
  /// as for the newest of many, and twenty steps for any of a million.
  bool has(uint64_t position) const {
    if (intervals_.empty()) return false;
    const Interval& last = intervals_.back();
    if (position > last.after) [[likely]] {
      return position <= last.until;
    }
    return find(position) != kNone;
  }

  bool has_moment(int64_t time_ns) const;

  /// Whether there are so many that it is worth the time to look for some to forget.
  bool is_large() const { return intervals_.size() >= limit_; }
  /// Forgets what ended at `reach` or before, but for intervals with one of the launches that
  /// `visit` visits.
  void trim(uint64_t reach, const std::function<void(std::function<void(uint64_t)>)>& visit);
  size_t size() const { return intervals_.size(); }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  static constexpr size_t kFewest = 4096;  // 128 KiB
  struct Interval {
    uint64_t after;  // 0: from the first one on
    int64_t from_ns;
    uint64_t until = UINT64_MAX;
    int64_t to_ns = kNever;
  };
  size_t find(uint64_t position) const;  ///< kNone: in none

  std::vector<Interval> intervals_;  // in order, none overlaps another
  size_t limit_ = kFewest;
};

}  // namespace proton
