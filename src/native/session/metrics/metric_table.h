/// Metric sums by (row, metric). Memory grows with distinct pairs, never with additions.
/// Not locked: rows are paths under the GIL, or kernels under the session's mutex.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/key_index.h"
#include "model/device_value.h"
#include "model/ids.h"
#include "model/metric.h"
#include "session/metrics/metric_names.h"

namespace proton {

/// One value given by a user or a backend, its name taken apart. Trivial, because most values are
/// single numbers and scopes are hot; lists stand in the SampleList.
struct MetricSample {
  enum class Type : uint8_t { kInteger, kFloat, kOther };

  MetricId metric;
  Type type;
  union {
    int64_t integer;
    double real;
    size_t other;  // index into the list's other values
  };
};

/// A value that is still on a device.
struct DeviceSample {
  MetricId metric;
  ValueId id;        // of the backend's
  MetricValue zero;  // nothing, in its type
  bool is_captured;  // read whenever a graph is replayed
};

/// The samples of one call, without an allocation for the usual few.
class SampleList {
 public:
  void add(MetricId metric, int64_t value) {
    MetricSample& sample = add_sample(metric, MetricSample::Type::kInteger);
    sample.integer = value;
  }
  void add(MetricId metric, double value) {
    MetricSample& sample = add_sample(metric, MetricSample::Type::kFloat);
    sample.real = value;
  }
  void add(MetricId metric, MetricValue value);
  void add_all(const SampleList& others);

  void add(DeviceSample sample) { rest().device.push_back(std::move(sample)); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0 && device().empty(); }
  const MetricSample& operator[](size_t at) const {
    return at < kInline ? inline_[at] : rest_->more[at - kInline];
  }
  MetricValue value(size_t at) const;
  /// Those on devices, which are no part of the others.
  std::span<const DeviceSample> device() const {
    return rest_ == nullptr ? std::span<const DeviceSample>() : rest_->device;
  }

 private:
  static constexpr size_t kInline = 4;

  /// What most calls do without: a list is made and destroyed at every exit of a scope.
  struct Rest {
    std::vector<MetricSample> more;
    std::vector<MetricValue> others;
    std::vector<DeviceSample> device;
  };

  Rest& rest() {
    if (rest_ == nullptr) rest_ = std::make_unique<Rest>();
    return *rest_;
  }

  MetricSample& add_sample(MetricId metric, MetricSample::Type type) {
    MetricSample& sample = size_ < kInline ? inline_[size_] : rest().more.emplace_back();
    ++size_;
    sample.metric = metric;
    sample.type = type;
    return sample;
  }

  size_t size_ = 0;
  MetricSample inline_[kInline];  // not initialised
  std::unique_ptr<Rest> rest_;
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
  /// The same with sample `at` of a list; quick for single numbers.
  Booking add(uint32_t row, MetricKind kind, const SampleList& samples, size_t at);

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
