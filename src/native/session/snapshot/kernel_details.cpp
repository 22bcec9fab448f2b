#include "session/snapshot/kernel_details.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace proton {
namespace {

constexpr int64_t kWarp = 32;
constexpr int64_t kRegisterUnit = 256;  // registers are given to a warp in units of so many
constexpr int64_t kPartitions = 4;      // of a multiprocessor: a warp lives within one

int64_t divide_up(int64_t number, int64_t by) { return (number + by - 1) / by; }
int64_t round_up(int64_t number, int64_t to) { return divide_up(number, to) * to; }

/// Shared memory is given to a block in units of so many bytes.
int64_t shared_unit(int64_t major) { return major >= 8 ? 128 : 256; }

bool read(const Value::Map& attributes, std::string_view key, int64_t& out) {
  for (const auto& [name, value] : attributes) {
    if (name != key) continue;
    if (const auto* number = std::get_if<int64_t>(&value.data)) return out = *number, true;
    return false;
  }
  return false;
}

/// "90" -> 9, "103" -> 10; 0 for what is no compute capability.
int64_t major_of(const Value::Map& attributes) {
  for (const auto& [name, value] : attributes) {
    const auto* text = name == "arch" ? std::get_if<std::string>(&value.data) : nullptr;
    if (text == nullptr) continue;
    int64_t arch = 0;
    const char* end = text->data() + text->size();
    if (std::from_chars(text->data(), end, arch).ptr != end) return 0;
    return arch / 10;
  }
  return 0;
}

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

std::optional<SmLimits> SmLimits::from(const Value::Map& attributes) {
  SmLimits limits;
  limits.major = major_of(attributes);
  if (limits.major < 7) return std::nullopt;
  if (!read(attributes, "max_threads_per_sm", limits.max_threads) || limits.max_threads < kWarp ||
      !read(attributes, "max_blocks_per_sm", limits.max_blocks) ||
      !read(attributes, "registers_per_sm", limits.registers) ||
      !read(attributes, "shared_bytes_per_sm", limits.shared_bytes)) {
    return std::nullopt;
  }
  read(attributes, "reserved_shared_bytes_per_block", limits.reserved_shared_bytes);
  return limits;
}

int64_t resident_blocks(const SmLimits& limits, const LaunchShape& shape) {
  const int64_t threads = int64_t{shape.block[0]} * shape.block[1] * shape.block[2];
  if (threads <= 0) return 0;
  const int64_t warps = divide_up(threads, kWarp);
  int64_t blocks = std::min(limits.max_blocks, limits.max_threads / kWarp / warps);
  if (shape.registers > 0) {
    const int64_t of_warp = round_up(shape.registers * kWarp, kRegisterUnit);
    const int64_t resident_warps = limits.registers / kPartitions / of_warp * kPartitions;
    blocks = std::min(blocks, resident_warps / warps);
  }
  const int64_t shared = round_up(int64_t{shape.static_shared_bytes} + shape.dynamic_shared_bytes +
                                      limits.reserved_shared_bytes,
                                  shared_unit(limits.major));
  if (shared > 0) blocks = std::min(blocks, limits.shared_bytes / shared);
  return blocks;
}

std::optional<double> occupancy_of(const SmLimits& limits, const LaunchShape& shape) {
  const int64_t blocks = resident_blocks(limits, shape);
  if (blocks == 0) return std::nullopt;
  const int64_t threads = int64_t{shape.block[0]} * shape.block[1] * shape.block[2];
  const int64_t warps = blocks * divide_up(threads, kWarp);
  const double share = static_cast<double>(warps) / static_cast<double>(limits.max_threads / kWarp);
  return std::round(share * 1e4) / 1e4;
}

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
