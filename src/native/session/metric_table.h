/// Metric sums by (row, metric). Memory grows with distinct pairs, never with additions.
/// Not locked: rows are paths under the GIL, or kernels under the session's mutex.
#pragma once

#include <array>
#include <vector>

#include "base/key_index.h"
#include "model/ids.h"
#include "model/metric.h"
#include "session/metric_names.h"

namespace proton {

/// One value given by a user or a backend, its name taken apart.
struct MetricSample {
  MetricId metric = 0;
  MetricValue value;
};

/// The samples of one call, without an allocation for the usual few.
class SampleList {
 public:
  MetricSample& add(MetricId metric) {
    MetricSample& sample = size_ < inline_.size() ? inline_[size_] : more_.emplace_back();
    ++size_;
    sample.metric = metric;
    return sample;
  }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const MetricSample& operator[](size_t at) const {
    return at < inline_.size() ? inline_[at] : more_[at - inline_.size()];
  }

 private:
  std::array<MetricSample, 4> inline_;
  std::vector<MetricSample> more_;
  size_t size_ = 0;
};

/// How an addition went; every outcome but kBooked leaves the old value.
enum class Booking { kBooked, kTypeClash, kLengthClash, kOverflow };

struct MetricCell {
  uint32_t row;
  MetricId metric;
  MetricValue value;
};

class MetricTable {
 public:
  /// Adds `value` to what stands at (row, metric); a property is replaced instead.
  Booking add(uint32_t row, MetricId metric, MetricKind kind, const MetricValue& value);

  /// What stands at (row, metric), which must exist.
  const MetricValue& value(uint32_t row, MetricId metric);

  const std::vector<MetricCell>& cells() const { return cells_; }
  bool empty() const { return cells_.empty(); }

 private:
  KeyIndex index_;
  std::vector<MetricCell> cells_;
};

/// Adds `value` to `sum` in place (or replaces it, for a property).
Booking add_value(MetricValue& sum, MetricKind kind, const MetricValue& value);

/// `int`, `float`, `list of 3 ints`: for messages.
std::string type_name(const MetricValue& value);

}  // namespace proton
