/// When a sink was active, told by the order of launches: a record may come long after its launch,
/// and belongs to the sinks that were active then. Not safe for threads: the hub's decode lock is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace proton::cupti {

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
  /// From the launch after `newest` on.
  void begin(uint64_t newest) { intervals_.push_back({newest}); }
  /// Up to `newest`; after a `begin`.
  void end(uint64_t newest) { intervals_.back().until = newest; }

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

  /// Whether there are so many that it is worth the time to look for some to forget.
  bool is_large() const { return intervals_.size() >= limit_; }
  /// Forgets what ended at `reach` or before, but for intervals with one of the launches that
  /// `visit` visits.
  void trim(uint64_t reach, const std::function<void(std::function<void(uint64_t)>)>& visit);
  size_t size() const { return intervals_.size(); }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  static constexpr size_t kFewest = 4096;  // 64 KiB
  struct Interval {
    uint64_t after;  // 0: from the first one on
    uint64_t until = UINT64_MAX;
  };
  size_t find(uint64_t position) const;  ///< kNone: in none

  std::vector<Interval> intervals_;  // in order, none overlaps another
  size_t limit_ = kFewest;
};

}  // namespace proton::cupti
