#include "session/snapshot/kernel_details.h"

#include <algorithm>

namespace proton {
namespace {

Value to_value(const std::array<int32_t, 3>& numbers) {
  Value::List list;
  for (const int32_t number : numbers) list.push_back({int64_t{number}});
  return {std::move(list)};
}

void add_occupancy(Value::Map& map, const LaunchShape& shape, const SmLimits* limits) {
  if (limits == nullptr) return;
  if (const auto share = occupancy_of(*limits, shape)) {
    map.emplace_back("occupancy", Value{*share});
  }
}

/// Launch attributes, as far as they are the same in every run.
Value::Map attributes_of(const std::vector<const KernelRow*>& kernels, const SmLimits* limits) {
  const KernelRow& first = *kernels.front();
  const auto all = [&](auto is_same) {
    return std::all_of(kernels.begin(), kernels.end(),
                       [&](const KernelRow* other) { return is_same(*other); });
  };
  Value::Map map;
  if (first.shape.grid[0] != 0) {
    if (all([&](const KernelRow& row) {
          return row.is_one_grid && row.shape.grid == first.shape.grid;
        })) {
      map.emplace_back("grid", to_value(first.shape.grid));
    }
    const bool is_one_block = all([&](const KernelRow& row) {
      return row.is_one_block && row.shape.block == first.shape.block;
    });
    const bool is_one_binary = all([&](const KernelRow& row) {
      return row.is_one_binary && row.shape.registers == first.shape.registers &&
             row.shape.static_shared_bytes == first.shape.static_shared_bytes;
    });
    const bool is_one_dynamic_shared = all([&](const KernelRow& row) {
      return row.is_one_dynamic_shared &&
             row.shape.dynamic_shared_bytes == first.shape.dynamic_shared_bytes;
    });
    if (is_one_block) map.emplace_back("block", to_value(first.shape.block));
    if (is_one_binary) {
      map.emplace_back("registers", Value{int64_t{first.shape.registers}});
      map.emplace_back("static_shared_bytes", Value{int64_t{first.shape.static_shared_bytes}});
    }
    if (is_one_dynamic_shared) {
      map.emplace_back("dynamic_shared_bytes", Value{int64_t{first.shape.dynamic_shared_bytes}});
    }
    if (is_one_block && is_one_binary && is_one_dynamic_shared) {
      add_occupancy(map, first.shape, limits);
    }
  }
  if (all([&](const KernelRow& row) { return row.is_one_lane && row.lane == first.lane; })) {
    map.emplace_back("stream", Value{static_cast<int64_t>(first.lane)});
  }
  return map;
}

}  // namespace

Value::Map to_attributes(const LaunchShape& shape, const SmLimits* limits) {
  Value::Map map;
  map.emplace_back("grid", to_value(shape.grid));
  map.emplace_back("block", to_value(shape.block));
  map.emplace_back("registers", Value{int64_t{shape.registers}});
  map.emplace_back("static_shared_bytes", Value{int64_t{shape.static_shared_bytes}});
  map.emplace_back("dynamic_shared_bytes", Value{int64_t{shape.dynamic_shared_bytes}});
  add_occupancy(map, shape, limits);
  return map;
}

void KernelDetails::add(uint32_t row, const KernelRow& kernel, const SmLimits* limits) {
  auto [found, is_new] = by_row_.try_emplace(row, parts_.size());
  if (is_new) parts_.push_back({row, limits, {}});
  parts_[found->second].kernels.push_back(&kernel);
}

KernelDetail KernelDetails::detail_of(const Part& part) {
  KernelDetail detail{part.row,
                      part.kernels.front()->min_ns,
                      part.kernels.front()->max_ns,
                      0,
                      0,
                      attributes_of(part.kernels, part.limits)};
  const bool is_merged = part.kernels.size() > 1 || !part.kernels.front()->spread.has_value();
  Distribution merged;
  for (const KernelRow* kernel : part.kernels) {
    detail.min_ns = std::min(detail.min_ns, kernel->min_ns);
    detail.max_ns = std::max(detail.max_ns, kernel->max_ns);
    if (!is_merged) continue;
    if (kernel->spread.has_value()) {
      merged.merge(*kernel->spread);
    } else {
      merged.add(kernel->min_ns);
    }
  }
  const Distribution& spread = is_merged ? merged : *part.kernels.front()->spread;
  detail.p50_ns = std::clamp(spread.quantile(0.5), detail.min_ns, detail.max_ns);
  detail.p99_ns = std::clamp(spread.quantile(0.99), detail.min_ns, detail.max_ns);
  return detail;
}

std::vector<KernelDetail> KernelDetails::take() {
  std::vector<KernelDetail> details;
  details.reserve(parts_.size());
  for (const Part& part : parts_) details.push_back(detail_of(part));
  return details;
}

}  // namespace proton
