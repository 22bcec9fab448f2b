#include "backends/device_buffer/region_contexts.h"

#include <utility>

namespace proton::device_buffer {
namespace {

constexpr size_t kMostContexts = 1u << 16;
constexpr size_t kMostSpare = 64;

/// One entry a slot, in order.
void merge_slots(std::vector<WarpCycles>& warps) {
  std::stable_sort(warps.begin(), warps.end(),
                   [](const WarpCycles& a, const WarpCycles& b) { return a.slot < b.slot; });
  size_t kept = 0;
  for (size_t at = 1; at < warps.size(); ++at) {
    if (warps[at].slot == warps[kept].slot) {
      warps[kept].cycles += warps[at].cycles;
      warps[kept].passages += warps[at].passages;
    } else {
      warps[++kept] = warps[at];
    }
  }
  warps.resize(std::min(warps.size(), kept + 1));
}

}  // namespace

void RegionContexts::begin(bool keeps_spans) {
  keeps_spans_ = keeps_spans;
  for (RegionContext& context : contexts_) {
    if (spare_.size() >= kMostSpare) break;
    context.warps.clear();
    spare_.push_back(std::move(context.warps));
  }
  contexts_.clear();
  spans_.clear();
  children_.clear();
  last_key_ = 0;
}

uint32_t RegionContexts::enter_other(uint64_t key, uint32_t parent, uint32_t region) {
  if (contexts_.size() >= kMostContexts) [[unlikely]] {
    const uint32_t* known = children_.find(key);
    return known == nullptr ? kNoContext : *known;
  }
  bool is_new;
  uint32_t* const at = children_.find_or_add(key, is_new);
  if (is_new) [[unlikely]] {
    *at = static_cast<uint32_t>(contexts_.size());
    RegionContext context;
    context.region = region;
    context.parent = parent;
    context.depth = parent == kNoContext ? 0 : contexts_[parent].depth + 1;
    if (!spare_.empty()) {
      context.warps = std::move(spare_.back());
      spare_.pop_back();
    }
    contexts_.push_back(std::move(context));
  }
  last_key_ = key;
  last_context_ = *at;
  return *at;
}

void RegionContexts::book(uint32_t at, const PassageSide& start, const PassageSide& end,
                          double cycles, uint64_t slot) {
  const uint64_t raw = end.clock > start.clock ? end.clock - start.clock : 0;
  if (start.slot == slot && end.slot == slot) {
    touch(at).add(raw, cycles);
  } else {
    RegionContext& context = contexts_[at];
    context.add_elsewhere(raw, cycles);
    context.warps.push_back({start.slot, cycles, 1});
    context.is_in_order = false;
  }
  add_span({start.slot, end.slot, start.placed, std::max(start.placed, end.placed), 0, at,
            RecordKind::kStart});
}

void RegionContexts::finish_warp(uint64_t slot) {
  for (const uint32_t at : touched_) contexts_[at].finish_warp(slot);
  touched_.clear();
}

std::span<RegionContext> RegionContexts::in_order() {
  for (RegionContext& context : contexts_) {
    if (!context.is_in_order) merge_slots(context.warps);
    context.is_in_order = true;
  }
  return contexts_;
}

}  // namespace proton::device_buffer
