/// Where phases begin in the order of launches: from a correlation id to the phase of its launch.
///
/// One boundary a phase in memory, and one a gap that cleared phases left, so that events of those
/// are told apart from events of their neighbours. Nothing else forgets a boundary: records may
/// come as late as they like.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <limits>
#include <optional>

#include "model/ids.h"

namespace proton {

/// Correlation ids in 64 bits, as they wrap after 2^32 launches. They are told apart over 2^31.
class WideIds {
 public:
  static constexpr int64_t kFirst = int64_t{1} << 32;  // id 0

  /// Counting begins here: the wide form of this id.
  int64_t begin(CorrelationId newest) { return newest_ = kFirst + newest; }
  int64_t widen(CorrelationId id) const {
    return newest_ + static_cast<int32_t>(id - static_cast<CorrelationId>(newest_));
  }
  /// This id was seen; once in a while will do.
  void follow(CorrelationId id) {
    if (id != 0) newest_ = std::max(newest_, widen(id));
  }

 private:
  int64_t newest_ = 0;
};

class PhaseBoundaries {
 public:
  /// Launches after the first id, up to the second.
  struct Launches {
    CorrelationId after;
    CorrelationId until;
  };

  /// A phase begins, the latest of all; `newest` is the id of the newest launch, 0: there is none.
  void add(CorrelationId newest, int phase) {
    if (newest == 0 && boundaries_.empty()) return;  // whatever comes is of a later phase
    latest_ = boundaries_.empty() ? ids_.begin(newest) : std::max(latest_, ids_.widen(newest));
    ids_.follow(newest);
    boundaries_.push_back({latest_, phase});
  }

  /// Whether a launch belongs to the latest phase: the usual case, and no search.
  bool is_latest(CorrelationId correlation) const { return ids_.widen(correlation) > latest_; }

  /// The phase of a launch; there is at least one boundary.
  int phase_of(CorrelationId correlation) const {
    const int64_t id = ids_.widen(correlation);
    const auto next =
        std::partition_point(boundaries_.begin(), boundaries_.end(),
                             [&](const Boundary& boundary) { return boundary.after < id; });
    return next == boundaries_.begin() ? next->phase - 1 : std::prev(next)->phase;
  }

  /// An event of this launch came. Once a batch will do.
  void follow(CorrelationId correlation) { ids_.follow(correlation); }

  /// The launches of a phase that was left; nothing: it has none.
  std::optional<Launches> launches_of(int phase) const {
    const auto next = after_phase(phase);
    if (next == boundaries_.end()) return std::nullopt;
    const int64_t after = next == boundaries_.begin()
                              ? std::max(WideIds::kFirst, next->after - kReach)
                              : std::prev(next)->after;
    if (after == next->after) return std::nullopt;
    return Launches{static_cast<CorrelationId>(after), static_cast<CorrelationId>(next->after)};
  }

  /// A phase was cleared: neighbours that are cleared as well become one gap with it.
  template <typename IsCleared>
  void drop(int phase, IsCleared is_cleared) {
    const auto next = static_cast<size_t>(after_phase(phase) - boundaries_.begin());
    for (size_t i = next + 1; i-- > (next == 0 ? 0 : next - 1);) {
      if (i >= boundaries_.size() || !is_cleared(boundaries_[i].phase)) continue;
      const int before = i == 0 ? boundaries_[i].phase - 1 : boundaries_[i - 1].phase;
      if (is_cleared(before)) boundaries_.erase(boundaries_.begin() + static_cast<ptrdiff_t>(i));
    }
  }

  size_t size() const { return boundaries_.size(); }

 private:
  struct Boundary {
    int64_t after;
    int phase;
  };
  static constexpr int64_t kReach = int64_t{1} << 31;

  /// The first boundary of a later phase.
  std::deque<Boundary>::const_iterator after_phase(int phase) const {
    return std::partition_point(boundaries_.begin(), boundaries_.end(),
                                [&](const Boundary& boundary) { return boundary.phase <= phase; });
  }

  WideIds ids_;
  int64_t latest_ = std::numeric_limits<int64_t>::min();  // where the latest phase begins
  std::deque<Boundary> boundaries_;                       // oldest first; cleared from there
};

}  // namespace proton
