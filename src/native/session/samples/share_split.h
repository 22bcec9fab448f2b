/// Divides counts over shares in whole numbers: every count is divided exactly, and what rounding
/// took from a share in one count it gets back in the next, so that sums are right as well.
#pragma once

#include <cstdint>
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

}  // namespace proton
