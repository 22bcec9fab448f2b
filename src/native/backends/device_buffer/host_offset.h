/// What launches tell about the distance between a device's global time and the host's clock.
/// A kernel's warps ran between the start and the end that the host saw: each launch bounds the
/// distance from both sides, and many launches bound it closely, also for one of which only a few
/// warps were recorded. Any thread may use it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>

namespace proton::device_buffer {

class HostOffset {
 public:
  struct Bounds {
    int64_t low_ns, high_ns;
  };

  /// A launch that ended at `host_ns` says low to high, in this order; what earlier ones said is
  /// believed less with time, as clocks drift. Returns the middle of what both allow; a launch that
  /// contradicts the earlier ones stands alone.
  int64_t narrow(Bounds launch, int64_t host_ns) {
    std::lock_guard lock(mutex_);
    if (known_) {
      const int64_t drift_ns = std::abs(host_ns - seen_at_ns_) / kDriftDivisor;
      const Bounds both{std::max(known_->low_ns - drift_ns, launch.low_ns),
                        std::min(known_->high_ns + drift_ns, launch.high_ns)};
      if (both.low_ns <= both.high_ns) launch = both;
    }
    known_ = launch;
    seen_at_ns_ = host_ns;
    return middle();
  }

  /// Host time less device time, if any launch has told; at most half of `uncertainty_ns` off.
  std::optional<int64_t> offset_ns() const {
    std::lock_guard lock(mutex_);
    return known_ ? std::optional(middle()) : std::nullopt;
  }
  int64_t uncertainty_ns() const {
    std::lock_guard lock(mutex_);
    return known_ ? known_->high_ns - known_->low_ns : 0;
  }

 private:
  static constexpr int64_t kDriftDivisor = 20'000;  // 50 parts in a million

  int64_t middle() const { return known_->low_ns + (known_->high_ns - known_->low_ns) / 2; }

  mutable std::mutex mutex_;
  std::optional<Bounds> known_;
  int64_t seen_at_ns_ = 0;
};

}  // namespace proton::device_buffer
