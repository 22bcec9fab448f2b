/// Metric kinds and values as they stand in a finished tree or trace.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace proton {

enum class MetricKind : uint8_t { kInclusive, kExclusive, kProperty };

/// A number, a list of numbers, or a label. Sessions record signed integers only.
using MetricValue =
    std::variant<int64_t, double, std::vector<int64_t>, std::vector<double>, std::string, uint64_t>;

/// What a backend measures of kernels and copies; what a user calls so gets a prefix there.
inline constexpr const char* kTimeMetric = "time (ns)";
inline constexpr const char* kCountMetric = "count";
inline constexpr const char* kUserPrefix = "user ";

/// One metric of one node, under the key that stands in the file ("time (ns)", "flops16").
struct Metric {
  const std::string* key;  // owned by the tree or log it is part of
  MetricValue value;
};

}  // namespace proton
