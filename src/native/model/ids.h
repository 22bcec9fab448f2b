/// The small integers that stand for names, paths and metrics while recording.
#pragma once

#include <cstdint>

namespace proton {

using NameId = uint32_t;         // of a string table
using PathId = uint32_t;         // of the path table; 0 is the root
using MetricId = uint32_t;       // of the metric names
using CorrelationId = uint32_t;  // given by a driver to one launch

inline constexpr PathId kRootPath = 0;

}  // namespace proton
