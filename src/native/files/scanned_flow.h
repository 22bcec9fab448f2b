/// An arrow between two spans as readers of traces find it.
#pragma once

#include <compare>
#include <cstdint>

namespace proton {

/// From one span to another, by place; by these in order. `id` is what the file calls the arrow,
/// 0 where that is no number: of launches the driver's correlation id.
struct ScannedFlow {
  uint32_t source;
  uint32_t target;
  uint64_t id;
  auto operator<=>(const ScannedFlow&) const = default;
};

}  // namespace proton
