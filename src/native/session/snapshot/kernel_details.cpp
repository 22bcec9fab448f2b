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

/// Blocks of such a launch that fit on a multiprocessor at once; 0: not even one.
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

std::optional<double> occupancy_of(const SmLimits& limits, const LaunchShape& shape) {
  const int64_t blocks = resident_blocks(limits, shape);
  if (blocks == 0) return std::nullopt;
  const int64_t threads = int64_t{shape.block[0]} * shape.block[1] * shape.block[2];
  const int64_t warps = blocks * divide_up(threads, kWarp);
  const double share = static_cast<double>(warps) / static_cast<double>(limits.max_threads / kWarp);
  return std::round(share * 1e4) / 1e4;
}

Value::Map to_attributes(const LaunchShape& shape, const SmLimits* limits, SameShape same) {
  Value::Map map;
  const auto add = [&](const char* key, int64_t number) { map.emplace_back(key, Value{number}); };
  if (same.grid) map.emplace_back("grid", to_value(shape.grid));
  if (same.block) map.emplace_back("block", to_value(shape.block));
  if (same.binary) {
    add("registers", shape.registers);
    add("static_shared_bytes", shape.static_shared_bytes);
  }
  if (same.dynamic_shared) add("dynamic_shared_bytes", shape.dynamic_shared_bytes);
  if (limits == nullptr || !same.block || !same.binary || !same.dynamic_shared) return map;
  if (const auto share = occupancy_of(*limits, shape)) map.emplace_back("occupancy", Value{*share});
  return map;
}

void KernelDetails::add(uint32_t row, KernelRow& kernel, const SmLimits* limits) {
  auto [known, is_new] = by_row_.try_emplace(row, parts_.size());
  if (is_new) return parts_.push_back({row, limits, kernel});
  KernelRow& first = parts_[known->second].kernel;
  if (!first.spread.has_value()) first.spread.emplace().add(first.min_ns);
  if (kernel.spread.has_value()) {
    first.spread->merge(*kernel.spread);
  } else {
    first.spread->add(kernel.min_ns);
  }
  first.min_ns = std::min(first.min_ns, kernel.min_ns);
  first.max_ns = std::max(first.max_ns, kernel.max_ns);
  first.is_one_lane &= kernel.is_one_lane && first.lane == kernel.lane;
  first.same = {first.same.grid && kernel.same.grid, first.same.block && kernel.same.block,
                first.same.binary && kernel.same.binary,
                first.same.dynamic_shared && kernel.same.dynamic_shared};
  first.same.compare(first.shape, kernel.shape);
}

KernelDetail KernelDetails::detail_of(const Part& part) {
  const KernelRow& kernel = part.kernel;
  Value::Map attributes;
  if (kernel.shape.grid[0] != 0) attributes = to_attributes(kernel.shape, part.limits, kernel.same);
  if (kernel.is_one_lane) {
    attributes.emplace_back("stream", Value{static_cast<int64_t>(kernel.lane)});
  }
  const auto quantile = [&](double share) {
    return kernel.spread.has_value()
               ? std::clamp(kernel.spread->quantile(share), kernel.min_ns, kernel.max_ns)
               : kernel.min_ns;
  };
  return {part.row,      kernel.min_ns,  kernel.max_ns,
          quantile(0.5), quantile(0.99), std::move(attributes)};
}

std::vector<KernelDetail> KernelDetails::take() {
  std::vector<KernelDetail> details;
  details.reserve(parts_.size());
  for (const Part& part : parts_) details.push_back(detail_of(part));
  return details;
}

}  // namespace proton
