/// What the launches of recording kernels add up to, for one session: by phase, kernel and context
/// of the launch. Memory grows with these and their regions, never with launches. Any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "backends/device_buffer/decoded_buffer.h"
#include "backends/device_buffer/recorder/cycle_sketch.h"
#include "base/key_index.h"
#include "model/ids.h"

namespace proton::device_buffer {

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
  bool empty() const;

 private:
  KernelSum& find(const SumKey& key);

  mutable std::mutex mutex_;
  std::map<SumKey, KernelSum> sums_;
  uint64_t next_stamp_ = 0;
};

}  // namespace proton::device_buffer
