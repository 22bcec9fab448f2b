/// Metric names as users write them, taken apart once: the key that stands in files, the kind, and
/// the number type that a name forces. Process-wide; host path only (GIL).
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/ids.h"
#include "model/metric.h"

namespace proton {

enum class ForcedType : uint8_t { kNone, kInteger, kFloat };

struct MetricName {
  std::string key;
  MetricKind kind;
  ForcedType forced;
};

/// `x (ns)(exc)` -> key `x (ns)`, exclusive. Throws Error when nothing or a NUL would be left.
MetricName parse_metric_name(std::string_view written);

class MetricNames {
 public:
  MetricNames();

  /// The id of a name as written; equal (key, kind) pairs share one.
  MetricId intern(std::string_view written);
  const MetricName& name(MetricId id) const { return names_[id]; }
  const std::vector<MetricName>& all() const { return names_; }  // by id

  MetricId cpu_time() const { return 0; }  // `cpu_time (ns)`, exclusive
  MetricId calls() const { return 1; }     // of operators, exclusive

 private:
  std::vector<MetricName> names_;
  std::unordered_map<std::string, MetricId> by_key_;  // key and kind
};

}  // namespace proton
