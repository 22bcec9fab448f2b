/// From the clock of an SM to the device's global time, and from there to the host's clock.
/// SM clocks start at different moments and run at the real frequency; every warp read both clocks
/// twice, global time in steps of its own. Medians, so that a few wrong warps change nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "backends/device_buffer/decode.h"
#include "backends/device_buffer/layout.h"
#include "base/key_index.h"

namespace proton::device_buffer {

/// What launches tell about the distance between a device's global time and the host's clock.
/// A kernel's warps ran between the start and the end that the host saw: each launch bounds the
/// distance from both sides, and many launches bound it closely, also for one of which only a few
/// warps were recorded. Any thread may use it.
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

/// The line of one SM: time_ns = time_at + (clock - clock_at) / cycles_per_ns.
struct SmClock {
  uint32_t sm = 0;
  uint32_t warp_count = 0;
  uint64_t clock_at = 0;
  double time_at_ns = 0;  // since ClockMap::origin_ns
  double cycles_per_ns = 0;
  double residual_ns = 0;  // median distance of the warps' readings from the line
};

inline double signed_distance(uint64_t from, uint64_t to) {
  return to >= from ? static_cast<double>(to - from) : -static_cast<double>(from - to);
}

/// A line for the clocks of one warp.
struct WarpClock {
  uint64_t clock_at = 0;
  double time_at_ns = 0;  // since `shift_ns`
  double ns_per_cycle = 0;
  int64_t shift_ns = 0;

  double since_shift_ns(uint64_t clock) const {
    constexpr double kMostNs = 0x1p58;  // what is beyond comes from damaged headers
    return std::clamp(time_at_ns + signed_distance(clock_at, clock) * ns_per_cycle, -kMostNs,
                      kMostNs);
  }
  int64_t time_ns(uint64_t clock) const {
    const double since_ns = since_shift_ns(clock);
    const auto whole = static_cast<int64_t>(since_ns);  // llround, without the call
    const double rest = since_ns - static_cast<double>(whole);
    return shift_ns + whole + (rest >= 0.5) - (rest <= -0.5);
  }
};

class ClockMap {
 public:
  /// Lines for the SMs of these headers. Warps that contradict themselves or their SM are counted.
  /// `nominal_cycles_per_ns` serves where the kernel was too short to measure it (0: unknown).
  static ClockMap fit(std::span<const Header> headers, double nominal_cycles_per_ns,
                      Losses& losses);

  /// The same in a tenth of the time: one frequency, that of a few warps, and every warp is placed
  /// by its own readings, a step of global time off.
  static ClockMap fit_roughly(std::span<const Header> headers, double nominal_cycles_per_ns,
                              Losses& losses);

  /// The median over SMs, in cycles per nanosecond; 0: not known, and there are no times.
  double cycles_per_ns() const { return cycles_per_ns_; }
  int64_t step_ns() const { return step_ns_; }  // of global time
  std::span<const SmClock> sms() const { return sms_; }

  /// From now on times are the host's. The kernel, as its warps saw it, lies in the middle of what
  /// the host saw of it, or where `offset` puts it, which learns from this launch. Counts a misfit
  /// where the warps ran longer than that.
  void place(int64_t host_start_ns, int64_t host_end_ns, HostOffset* offset, Losses& losses);
  /// The same by what earlier launches told.
  void place(int64_t offset_ns);
  bool is_host_time() const { return is_host_time_; }

  /// How clocks of this warp become times: by its SM's line; outliers go by their own readings.
  /// Nothing where its readings are of no use.
  std::optional<WarpClock> warp_clock(const Header& header) const {
    if (!is_rough_) return fitted_clock(header);
    if (!has_good_clocks(header)) return std::nullopt;
    return WarpClock{header.start_clock, signed_distance(origin_ns_, header.start_time_ns),
                     ns_per_cycle_, shift_ns_};
  }

 private:
  std::optional<WarpClock> fitted_clock(const Header& header) const;
  const SmClock* find(uint32_t sm) const;
  bool is_outlier(const SmClock& sm, const Header& header) const;
  void find_bounds(std::span<const Header> headers, Losses& losses);

  std::vector<SmClock> sms_;
  KeyIndex by_sm_;
  double cycles_per_ns_ = 0;
  double ns_per_cycle_ = 0;
  int64_t step_ns_ = 0;
  uint64_t origin_ns_ = 0;  // a reading in the middle: doubles hold the distance exactly enough
  int64_t shift_ns_ = 0;    // from origin to the time we tell
  double first_ns_ = 0;     // the kernel as its warps saw it, since origin
  double last_ns_ = 0;
  bool is_host_time_ = false;
  bool is_rough_ = false;  // no SM has a line
};

}  // namespace proton::device_buffer
