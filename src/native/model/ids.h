/// The small integers that stand for names, paths and metrics while recording.
#pragma once

#include <cstdint>

namespace proton {

using NameId = uint32_t;         // of a string table
using PathId = uint32_t;         // of the path table; 0 is the root
using MetricId = uint32_t;       // of the metric names
using CorrelationId = uint32_t;  // given by a driver to one launch

/// Where a launch belongs: a path, or (with kLaunchBit) a path with launch metadata, or (with
/// kRangeBit) a range of a library, which becomes a path when somebody under the GIL asks.
using ContextId = uint32_t;

inline constexpr PathId kRootPath = 0;
inline constexpr ContextId kLaunchBit = 1u << 31;
inline constexpr ContextId kRangeBit = 1u << 30;
inline constexpr ContextId kNoContext = UINT32_MAX;           // there is none
inline constexpr ContextId kUnknownContext = UINT32_MAX - 1;  // there was one, and it is not known

inline bool is_range(ContextId context) {
  return (context & (kLaunchBit | kRangeBit)) == kRangeBit;
}

}  // namespace proton
