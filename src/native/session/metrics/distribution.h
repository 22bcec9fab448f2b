/// How durations spread, in little room: the values themselves while they are few, then counts in
/// logarithmic buckets, eight to a factor of two, kept only for the range that was seen. Quantiles
/// are exact at first and later within a tenth.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace proton {

class Distribution {
 public:
  void add(int64_t value) {
    value = std::max<int64_t>(value, 0);
    ++total_;
    if (counts_.empty()) {
      if (few_.size() < kFew) return few_.push_back(value);
      count_few();
    }
    ++cell(bucket_of(value));
  }

  void merge(const Distribution& other) {
    if (other.counts_.empty()) {
      for (const int64_t value : other.few_) add(value);
      return;
    }
    if (counts_.empty()) count_few();
    total_ += other.total_;
    for (size_t i = 0; i < other.counts_.size(); ++i) {
      if (other.counts_[i] != 0) cell(other.first_ + i) += other.counts_[i];
    }
  }

  /// The smallest value that a share (0 to 1) of all values does not exceed (nearest rank); 0 when
  /// there are none.
  int64_t quantile(double share) const {
    if (total_ == 0) return 0;
    const auto wanted = static_cast<uint64_t>(std::ceil(share * static_cast<double>(total_)));
    const uint64_t rank = std::clamp<uint64_t>(wanted, 1, total_);
    if (counts_.empty()) {
      std::vector<int64_t> sorted = few_;
      std::nth_element(sorted.begin(), sorted.begin() + static_cast<ptrdiff_t>(rank - 1),
                       sorted.end());
      return sorted[rank - 1];
    }
    uint64_t below = 0;
    size_t at = 0;
    for (; at + 1 < counts_.size(); ++at) {
      below += counts_[at];
      if (below >= rank) break;
    }
    return middle_of(first_ + at);
  }

 private:
  static constexpr size_t kFew = 16;
  static constexpr int kSubBits = 3;

  static size_t bucket_of(int64_t value) {
    const auto number = static_cast<uint64_t>(value);
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

  /// From now on values are counted.
  void count_few() {
    for (const int64_t value : few_) ++cell(bucket_of(value));
    few_ = {};
  }

  uint64_t& cell(size_t bucket) {
    if (counts_.empty()) first_ = bucket;
    if (bucket < first_) {
      counts_.insert(counts_.begin(), first_ - bucket, 0);
      first_ = bucket;
    }
    if (bucket >= first_ + counts_.size()) counts_.resize(bucket - first_ + 1);
    return counts_[bucket - first_];
  }

  uint64_t total_ = 0;
  std::vector<int64_t> few_;
  size_t first_ = 0;
  std::vector<uint64_t> counts_;
};

}  // namespace proton
