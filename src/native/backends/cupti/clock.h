/// From CUPTI's clock to the host's. Where the library lets us, CUPTI stamps records with the host
/// clock itself; either way pairs of readings tell what is left between the two, and how it
/// drifts. Not locked: used under the hub's decode lock.
#pragma once

#include <cstdint>

namespace proton::cupti {

/// One moment on both clocks.
struct ClockPair {
  int64_t cupti_ns = 0;
  int64_t host_ns = 0;

  int64_t offset_ns() const { return host_ns - cupti_ns; }
};

class ClockMap {
 public:
  /// A new recording starts here.
  void start(const ClockPair& pair);
  /// A later reading: the drift since the start becomes known.
  void update(const ClockPair& pair);

  int64_t to_host(uint64_t cupti_ns) const {
    const auto time_ns = static_cast<int64_t>(cupti_ns);
    if (is_same_) [[likely]] {
      return time_ns;
    }
    const auto since = static_cast<double>(time_ns - first_.cupti_ns);
    return time_ns + first_.offset_ns() + static_cast<int64_t>(since * drift_);
  }

  int64_t offset_ns() const { return last_.offset_ns(); }
  /// The largest step between where a reading was expected and where it was.
  int64_t residual_ns() const { return residual_ns_; }

 private:
  /// Clocks this near are one clock, read at two moments.
  static constexpr int64_t kSameNs = 2000;

  /// A reading is off by up to a microsecond: a shorter span could not tell drift from that.
  static constexpr int64_t kShortestNs = 100'000'000;

  bool is_same() const;

  ClockPair first_;
  ClockPair last_;
  double drift_ = 0;  // host nanoseconds gained per CUPTI nanosecond
  int64_t residual_ns_ = 0;
  bool is_same_ = true;  // what `is_same` said of the pairs of now
};

}  // namespace proton::cupti
