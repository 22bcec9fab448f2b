#include "session/snapshot/occupancy.h"

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

}  // namespace proton
