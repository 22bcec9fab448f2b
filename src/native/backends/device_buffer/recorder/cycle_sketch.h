/// How cycles are spread, over any number of warps and launches, in bounded memory: counts and sums
/// in buckets of less than 1 % of their values. Sketches can be added up. Not locked.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace proton::device_buffer {

class CycleSketch {
 public:
  void add(double cycles) {
    Bucket& bucket = at(index_of(cycles));
    ++bucket.count;
    bucket.sum += cycles;
    ++count_;
  }

  void add(const CycleSketch& other) {
    for (size_t i = 0; i < other.buckets_.size(); ++i) {
      if (other.buckets_[i].count == 0) continue;
      Bucket& bucket = at(other.first_ + i);
      bucket.count += other.buckets_[i].count;
      bucket.sum += other.buckets_[i].sum;
    }
    count_ += other.count_;
  }

  uint64_t count() const { return count_; }

  /// What this share does not exceed, by nearest rank: the mean of its bucket, so at most 1 % off
  /// (below one cycle: one cycle), and right where values are few or whole and small. 0: nothing.
  double quantile(double share) const {
    auto left = static_cast<uint64_t>(std::ceil(share * static_cast<double>(count_)));
    left = std::clamp<uint64_t>(left, 1, std::max<uint64_t>(count_, 1));
    for (const Bucket& bucket : buckets_) {
      if (bucket.count >= left) return bucket.sum / static_cast<double>(bucket.count);
      left -= bucket.count;
    }
    return 0;
  }

 private:
  struct Bucket {
    uint64_t count = 0;
    double sum = 0;
  };
  static constexpr uint32_t kShift = 52 - 7;  // 128 buckets from a power of two to the next
  static constexpr double kMost = 0x1p63;     // of a clock: there are 8066 buckets at most

  /// Bits of a double rise with it, and the upper ones are its logarithm, roughly.
  static size_t index_of(double cycles) {
    if (!(cycles >= 1)) return 0;
    constexpr uint64_t kOne = std::bit_cast<uint64_t>(1.0) >> kShift;
    return (std::bit_cast<uint64_t>(std::min(cycles, kMost)) >> kShift) - kOne + 1;
  }

  Bucket& at(size_t index) {
    if (index - first_ >= buckets_.size()) [[unlikely]] {
      cover(index);
    }
    return buckets_[index - first_];
  }

  void cover(size_t index) {
    if (buckets_.empty()) first_ = index;
    if (index < first_) {
      buckets_.insert(buckets_.begin(), first_ - index, Bucket{});
      first_ = index;
    }
    buckets_.resize(std::max(buckets_.size(), index - first_ + 1));
  }

  std::vector<Bucket> buckets_;
  size_t first_ = 0;  // index of the first bucket
  uint64_t count_ = 0;
};

}  // namespace proton::device_buffer
