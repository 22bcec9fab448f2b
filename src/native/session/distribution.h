/// How durations spread, in little room: counts in logarithmic buckets, eight to a factor of two,
/// kept only for the range that was seen. Quantiles are within a tenth.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace proton {

class Distribution {
 public:
  void add(int64_t value, uint32_t count = 1) { cell(bucket_of(value)) += count; }

  void merge(const Distribution& other) {
    for (size_t i = 0; i < other.counts_.size(); ++i) {
      if (other.counts_[i] != 0) cell(other.first_ + i) += other.counts_[i];
    }
  }

  /// The value that a share (0 to 1) of all values does not exceed; 0 when there are none.
  int64_t quantile(double share) const {
    uint64_t total = 0;
    for (const uint32_t count : counts_) total += count;
    if (total == 0) return 0;
    const double wanted = share * static_cast<double>(total - 1);
    uint64_t below = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      if (static_cast<double>(below + counts_[i]) > wanted) return middle_of(first_ + i);
      below += counts_[i];
    }
    return middle_of(first_ + counts_.size() - 1);
  }

 private:
  static constexpr int kSubBits = 3;

  static size_t bucket_of(int64_t value) {
    const auto number = static_cast<uint64_t>(std::max<int64_t>(value, 0));
    if (number < 1u << kSubBits) return number;
    const int shift = std::bit_width(number) - kSubBits - 1;
    return static_cast<size_t>(shift + 1) << kSubBits |
           ((number >> shift) & ((1u << kSubBits) - 1));
  }

  static int64_t middle_of(size_t bucket) {
    if (bucket < 1u << kSubBits) return static_cast<int64_t>(bucket);
    const size_t shift = (bucket >> kSubBits) - 1;
    const int64_t low = static_cast<int64_t>((bucket & 7u) | 8u) << shift;
    return low + (int64_t{1} << shift) / 2;
  }

  uint32_t& cell(size_t bucket) {
    if (counts_.empty()) first_ = bucket;
    if (bucket < first_) {
      counts_.insert(counts_.begin(), first_ - bucket, 0);
      first_ = bucket;
    }
    if (bucket >= first_ + counts_.size()) counts_.resize(bucket - first_ + 1);
    return counts_[bucket - first_];
  }

  size_t first_ = 0;
  std::vector<uint32_t> counts_;
};

}  // namespace proton
