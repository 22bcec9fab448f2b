/// What the launches of recording kernels add up to, for one session: by phase, kernel and context
/// of the launch. Memory grows with these and their regions, never with launches. Any thread.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "backends/device_buffer/decoded_buffer.h"
#include "base/key_index.h"
#include "model/ids.h"

namespace proton::device_buffer {

/// How cycles are spread, over any number of warps and launches, in bounded memory: counts and sums
/// in buckets of less than 1 % of their values. Sketches can be added up. Not locked.
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

/// A region in the regions around it, over all launches.
struct RegionSum {
  uint32_t region = 0;
  uint32_t parent = kNoContext;  // an earlier one
  uint64_t count = 0;
  uint64_t warp_count = 0;  // of all launches
  double cycles = 0;
  double time_ns = 0;
  double min_cycles = 0;
  double max_cycles = 0;
  CycleSketch passages;  // of a passage, the mean of each warp of each launch
  ValueSum values;

  void add(const RegionSummary& summary, const DecodedBuffer& decoded);
};

/// When and where a CTA ran, as its recorded warps saw it.
struct CtaTime {
  uint32_t cta = 0;
  uint32_t sm = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

/// The CTAs of one launch.
std::vector<CtaTime> cta_times(const DecodedBuffer& decoded);

/// Which sum a launch belongs to.
struct SumKey {
  int phase = 0;
  uint32_t kernel = 0;
  ContextId context = kUnknownContext;
  bool is_captured = false;  // into a graph, in this context
  uint32_t device_id = 0;

  auto operator<=>(const SumKey&) const = default;
};

struct KernelSum {
  SumKey key;
  uint64_t stamp = 0;  // in order of first launch
  uint64_t launches = 0;
  uint64_t dropped = 0;  // launches whose buffer was not read
  uint64_t replays = 0;  // of launches in graphs, read or not
  uint64_t recorded_warps = 0;
  double cycles_per_ns = 0;  // the median of the first launches
  double record_cycles = 0;
  std::vector<RegionSum> regions;  // parents first
  std::vector<CtaTime> ctas;       // of the last launch
  Losses losses;

  void add(const DecodedBuffer& decoded);

 private:
  void add_clock(double cycles_per_ns);

  std::vector<double> clocks_;
  KeyIndex children_;  // (parent, region) -> regions
};

class KernelBook {
 public:
  void add(const SumKey& key, double record_cycles, const DecodedBuffer& decoded);
  void drop(const SumKey& key);  // a launch that was not read
  /// A launch in a graph was replayed so often; the last replay is told by `add` or `drop`.
  void add_replays(const SumKey& key, uint64_t replays);
  /// Copies of the sums of a phase, in order of their first launch.
  std::vector<KernelSum> sums(int phase) const;
  void forget_phase(int phase);

 private:
  KernelSum& find(const SumKey& key);

  mutable std::mutex mutex_;
  std::map<SumKey, KernelSum> sums_;
  uint64_t next_stamp_ = 0;
};

}  // namespace proton::device_buffer
