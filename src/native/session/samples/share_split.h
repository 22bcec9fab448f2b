/// Divides counts over shares in whole numbers: every count is divided exactly, and what rounding
/// took from a share in one count it gets back in the next, so that sums are right as well.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace proton {

class ShareSplit {
 public:
  /// At least one weight, none negative. Where all are 0, shares are equal.
  explicit ShareSplit(std::span<const int64_t> weights);

  /// Sets `parts`, one for each share; they add up to `count`.
  void split(uint64_t count, std::span<uint64_t> parts);

  size_t size() const { return shares_.size(); }

 private:
  void round(uint64_t count, uint64_t given, std::span<uint64_t> parts);

  std::vector<double> shares_;
  std::vector<uint64_t> given_;  // so far, by share
  uint64_t total_ = 0;
  std::vector<double> rests_;  // reused: what is due beyond the part
  std::vector<uint32_t> order_;
};

inline ShareSplit::ShareSplit(std::span<const int64_t> weights)
    : given_(weights.size()), rests_(weights.size()), order_(weights.size()) {
  double sum = 0;
  for (const int64_t weight : weights) sum += static_cast<double>(weight);
  for (const int64_t weight : weights) {
    shares_.push_back(sum > 0 ? static_cast<double>(weight) / sum
                              : 1.0 / static_cast<double>(weights.size()));
  }
}

inline void ShareSplit::split(uint64_t count, std::span<uint64_t> parts) {
  if (shares_.size() == 1) {
    parts[0] = count;
    return;
  }
  total_ += count;
  uint64_t given = 0;
  for (size_t i = 0; i < shares_.size(); ++i) {
    const double due = shares_[i] * static_cast<double>(total_) - static_cast<double>(given_[i]);
    parts[i] = due > 0 ? static_cast<uint64_t>(due) : 0;
    rests_[i] = due - static_cast<double>(parts[i]);
    given += parts[i];
  }
  if (given != count) round(count, given, parts);
  for (size_t i = 0; i < parts.size(); ++i) given_[i] += parts[i];
}

/// One more for those that are owed most, or one less for those that are owed least.
inline void ShareSplit::round(uint64_t count, uint64_t given, std::span<uint64_t> parts) {
  std::iota(order_.begin(), order_.end(), 0u);
  if (given < count && count - given < order_.size()) {
    const auto most = [this](uint32_t a, uint32_t b) { return rests_[a] > rests_[b]; };
    std::nth_element(order_.begin(), order_.begin() + static_cast<ptrdiff_t>(count - given),
                     order_.end(), most);
  } else if (given > count) {
    std::ranges::sort(order_, [this](uint32_t a, uint32_t b) { return rests_[a] < rests_[b]; });
  }
  for (size_t at = 0; given < count; at = (at + 1) % order_.size(), ++given) ++parts[order_[at]];
  for (size_t at = 0; given > count; at = (at + 1) % order_.size()) {
    if (parts[order_[at]] == 0) continue;
    --parts[order_[at]];
    --given;
  }
}

}  // namespace proton
