#include "backends/device_buffer/recorder/kernel_book.h"

#include <algorithm>

namespace proton::device_buffer {
namespace {

constexpr size_t kClocks = 129;

}  // namespace

void RegionSum::add(const RegionSummary& summary, const DecodedBuffer& decoded) {
  if (summary.count > 0) {
    min_cycles = count == 0 ? summary.min_cycles : std::min(min_cycles, summary.min_cycles);
    max_cycles = count == 0 ? summary.max_cycles : std::max(max_cycles, summary.max_cycles);
  }
  count += summary.count;
  warp_count += summary.warp_count;
  cycles += summary.cycles;
  time_ns += summary.time_ns;
  const std::span all(decoded.warp_passages);
  for (const double each : all.subspan(summary.first_passage, summary.warp_count)) {
    passages.add(each);
  }
  values.add(summary.values);
}

std::vector<CtaTime> cta_times(const DecodedBuffer& decoded) {
  std::vector<CtaTime> times;
  for (const WarpSummary& warp : decoded.warps) {
    if (!warp.has_times) continue;
    if (!times.empty() && times.back().cta == warp.cta) {
      times.back().start_ns = std::min(times.back().start_ns, warp.start_ns);
      times.back().end_ns = std::max(times.back().end_ns, warp.end_ns);
    } else {
      times.push_back({warp.cta, warp.sm, warp.start_ns, warp.end_ns});
    }
  }
  return times;
}

void KernelSum::add(const DecodedBuffer& decoded) {
  ++launches;
  recorded_warps += decoded.warps.size();
  if (decoded.cycles_per_ns > 0) add_clock(decoded.cycles_per_ns);
  std::vector<uint32_t> placed;
  placed.reserve(decoded.regions.size());
  for (const RegionSummary& summary : decoded.regions) {
    const uint32_t parent = summary.parent == kNoContext ? kNoContext : placed[summary.parent];
    bool is_new;
    uint32_t* at = children_.find_or_add(pair_key(parent, summary.region), is_new);
    if (is_new) {
      *at = static_cast<uint32_t>(regions.size());
      RegionSum& sum = regions.emplace_back();
      sum.region = summary.region;
      sum.parent = parent;
    }
    placed.push_back(*at);
    regions[*at].add(summary, decoded);
  }
  if (auto times = cta_times(decoded); !times.empty()) ctas = std::move(times);
  losses.add(decoded.losses);
}

void KernelSum::add_clock(double cycles_per_ns_now) {
  if (clocks_.size() >= kClocks) return;
  clocks_.push_back(cycles_per_ns_now);
  std::vector<double> sorted = clocks_;
  const auto middle = sorted.begin() + static_cast<ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  cycles_per_ns = *middle;
}

KernelSum& KernelBook::find(const SumKey& key) {
  auto [found, is_new] = sums_.try_emplace(key);
  if (is_new) {
    found->second.key = key;
    found->second.stamp = next_stamp_++;
  }
  return found->second;
}

void KernelBook::add(const SumKey& key, double record_cycles, const DecodedBuffer& decoded) {
  std::lock_guard lock(mutex_);
  KernelSum& sum = find(key);
  sum.record_cycles = record_cycles;
  sum.add(decoded);
}

void KernelBook::drop(const SumKey& key) {
  std::lock_guard lock(mutex_);
  ++find(key).dropped;
}

void KernelBook::add_replays(const SumKey& key, uint64_t replays) {
  std::lock_guard lock(mutex_);
  KernelSum& sum = find(key);
  sum.replays += replays;
  sum.losses.unread_replays += replays - 1;
}

std::vector<KernelSum> KernelBook::sums(int phase) const {
  std::lock_guard lock(mutex_);
  std::vector<KernelSum> found;
  for (const auto& [key, sum] : sums_) {
    if (key.phase == phase) found.push_back(sum);
  }
  std::ranges::sort(found, {}, &KernelSum::stamp);
  return found;
}

void KernelBook::forget_phase(int phase) {
  std::lock_guard lock(mutex_);
  std::erase_if(sums_, [&](const auto& each) { return each.first.phase == phase; });
}

}  // namespace proton::device_buffer
