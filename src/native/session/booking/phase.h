/// What the phases of a session hold of its devices. Guarded by the lock of the booking on devices.
/// Rows are only ever added, or change in place, so that a snapshot can take them bit by bit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/key_index.h"
#include "model/event.h"
#include "model/ids.h"
#include "model/recorded_launch.h"
#include "session/booking/captured_places.h"
#include "session/booking/phase_boundaries.h"
#include "session/booking/recorded_regions.h"
#include "session/booking/sample_table.h"
#include "session/booking/value_reads.h"
#include "session/metrics/distribution.h"
#include "session/metrics/metric_table.h"
#include "session/scopes/host_booking.h"

namespace proton {

/// Word by word: what the library offers calls memcmp for each part.
inline bool is_same(const LaunchShape& shape, const LaunchShape& other) {
  constexpr size_t kWords = sizeof(LaunchShape) / sizeof(uint64_t);
  static_assert(sizeof(LaunchShape) == kWords * sizeof(uint64_t) + sizeof(uint32_t));
  uint64_t words[kWords], others[kWords];
  std::memcpy(words, &shape, sizeof(words));
  std::memcpy(others, &other, sizeof(others));
  uint64_t difference = static_cast<uint32_t>(shape.dynamic_shared_bytes) ^
                        static_cast<uint32_t>(other.dynamic_shared_bytes);
  for (size_t i = 0; i < kWords; ++i) difference |= words[i] ^ others[i];
  return difference == 0;
}

/// Which parts of a launch's shape are the same in every run.
struct SameShape {
  bool grid = true;
  bool block = true;
  bool binary = true;  // registers and static shared memory
  bool dynamic_shared = true;

  void compare(const LaunchShape& shape, const LaunchShape& other) {
    grid &= shape.grid == other.grid;
    block &= shape.block == other.block;
    binary &= shape.registers == other.registers &&
              shape.static_shared_bytes == other.static_shared_bytes;
    dynamic_shared &= shape.dynamic_shared_bytes == other.dynamic_shared_bytes;
  }
};

/// All runs of one kernel in one context on one device.
struct KernelRow {
  uint64_t first_use;
  PlaceId place;
  uint32_t kernel;  // of the session's kernels: name, device and kind
  int64_t count = 0;
  int64_t time_ns = 0;
  int64_t bytes = 0;  // copies
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  uint64_t lane = 0;
  LaunchShape shape = {};
  bool is_one_lane = true;                            // whether `lane` is every run's
  SameShape same = {};                                // which parts of `shape` are
  std::optional<Distribution> spread = std::nullopt;  // from the second run on

  void add(const KernelEvent& event, int64_t duration_ns);
};

inline void KernelRow::add(const KernelEvent& event, int64_t duration_ns) {
  if (count == 0) {
    min_ns = max_ns = duration_ns;
    lane = event.lane;
    shape = event.shape;
  } else {
    if (!spread.has_value()) spread.emplace().add(min_ns);
    spread->add(duration_ns);
    min_ns = std::min(min_ns, duration_ns);
    max_ns = std::max(max_ns, duration_ns);
    is_one_lane &= lane == event.lane;
    if (!is_same(shape, event.shape)) same.compare(shape, event.shape);
  }
  count += 1;
  time_ns += duration_ns;
  bytes += event.bytes;
}

/// One run of a kernel, and the thread that launched it where the backend says so at once.
struct KernelSpan {
  PlaceId place;
  uint32_t kernel;
  uint64_t lane;
  uint32_t thread_number;
  bool has_thread;
  CorrelationId correlation;  // of a LaunchSpan, or 0
  int64_t start_ns;
  int64_t end_ns;
  uint32_t shape;  // of `shapes`; 0: none
  uint32_t first_metric;
  uint32_t metric_count;
  int64_t bytes;
};

/// A value that a replayed graph read, where and when.
struct ValueSpan {
  PlaceId place;
  uint32_t device;  // of the session's devices
  uint64_t lane;
  int64_t time_ns;
  SpanMetric metric;
};

/// A call that launched work.
struct LaunchSpan {
  CorrelationId correlation;
  uint32_t thread_number;
  PathId path;
  const char* function;
  int64_t start_ns;
  int64_t end_ns;
};

/// What one launch of an instrumented kernel recorded.
struct RecordedKernel {
  PlaceId place;
  uint32_t kernel;
  RecordedLaunch launch;
};

struct ShapeHash {
  size_t operator()(const LaunchShape& shape) const {
    uint64_t hash = 0;
    for (const auto& part : {shape.grid, shape.block}) {
      for (const int32_t number : part) hash = mix_bits(hash ^ static_cast<uint32_t>(number)) + 1;
    }
    return mix_bits(hash ^ static_cast<uint32_t>(shape.registers) ^
                    uint64_t{static_cast<uint32_t>(shape.dynamic_shared_bytes)} << 16);
  }
};

struct DevicePhase {
  KeyIndex kernel_index;  // (place, kernel) -> row
  std::vector<KernelRow> kernels;
  MetricTable kernel_metrics;  // rows are indices into `kernels`
  MetricTable replay_metrics;  // rows are captured places
  MetricTable device_values;   // rows are places: metrics of scopes that came from a device
  ValueReads reads;            // of those values, and of values of kernels
  std::vector<ValueSpan> value_spans;
  std::vector<KernelSpan> kernel_spans;
  std::vector<SpanMetric> kernel_span_metrics;
  std::vector<LaunchSpan> launch_spans;
  std::vector<LaunchShape> shapes = std::vector<LaunchShape>(1);
  std::unordered_map<LaunchShape, uint32_t, ShapeHash> shape_index;
  RegionTable regions;                   // trees
  std::vector<RecordedKernel> recorded;  // traces
  uint64_t recorded_spans = 0;           // in them
  SampleTable samples;
  TimedSymbols timed_symbols;  // of sessions that sample
  uint64_t event_changes = 0;  // events, and the changes of tables that were cleared

  /// Grows with everything that is recorded.
  uint64_t change_count() const { return event_changes + launch_spans.size() + samples.total(); }
  /// Where a replay ran a kernel that was captured there; else where one that nobody saw would.
  PlaceId place_of_captured(CapturedPlaces& places, PathId capture, uint32_t kernel) const {
    for (const KernelRow& row : kernels) {
      if (row.kernel == kernel && places.is_captured_at(row.place, capture)) return row.place;
    }
    for (const KernelSpan& span : kernel_spans) {
      if (span.kernel == kernel && places.is_captured_at(span.place, capture)) return span.place;
    }
    return places.find(kRootPath, capture);
  }
  /// Of all kernels, copies and graphs.
  int64_t time_ns() const {
    int64_t sum_ns = 0;
    for (const KernelRow& row : kernels) sum_ns += row.time_ns;
    for (const KernelSpan& span : kernel_spans) sum_ns += span.end_ns - span.start_ns;
    return sum_ns;
  }
  bool is_empty() const {
    return kernels.empty() && kernel_spans.empty() && recorded.empty() && samples.total() == 0;
  }
};

/// The phases of a session that are in memory.
class DevicePhases {
 public:
  DevicePhases() : current_(phases_.emplace(0, std::make_shared<DevicePhase>()).first->second) {}

  DevicePhase& current() { return *current_; }
  int number() const { return number_; }  // of the current one

  /// The phase in which a launch was made; null: it was sealed or cleared.
  DevicePhase* of_launch(CorrelationId correlation) {
    if (correlation == 0 || boundaries_.is_latest(correlation)) return current_.get();
    return find(boundaries_.phase_of(correlation));
  }
  DevicePhase* find(int phase) {
    if (phase < first_open_) return nullptr;
    const auto found = phases_.find(phase);
    return found == phases_.end() ? nullptr : found->second.get();
  }
  /// What the phase holds stays readable even if it is cleared. Null: there is none.
  std::shared_ptr<DevicePhase> share(int phase) const {
    const auto found = phases_.find(phase);
    return found == phases_.end() ? nullptr : found->second;
  }

  /// The next phase begins, after launch `newest`; none: the backend does not count launches.
  void advance(int phase, std::optional<CorrelationId> newest) {
    if (newest.has_value()) boundaries_.add(*newest, phase);
    current_ = phases_[phase] = std::make_shared<DevicePhase>();
    number_ = phase;
  }

  /// Phases up to this one, which was left, take nothing more.
  void seal(int phase) { first_open_ = std::max(first_open_, std::min(phase + 1, number_)); }

  void clear(int phase) {
    if (phase == number_) {
      const uint64_t changes = current_->change_count();
      current_ = phases_[phase] = std::make_shared<DevicePhase>();
      current_->event_changes = changes;
      return;
    }
    phases_.erase(phase);
    boundaries_.drop(phase, [this](int number) { return !phases_.contains(number); });
  }

  /// An event of this launch came.
  void follow(CorrelationId correlation) { boundaries_.follow(correlation); }
  std::optional<PhaseBoundaries::Launches> launches_of(int phase) const {
    return boundaries_.launches_of(phase);
  }
  int64_t time_ns() const {
    int64_t sum_ns = 0;
    for (const auto& [number, phase] : phases_) sum_ns += phase->time_ns();
    return sum_ns;
  }
  bool are_empty() const {
    return std::ranges::all_of(phases_, [](const auto& phase) { return phase.second->is_empty(); });
  }

 private:
  std::map<int, std::shared_ptr<DevicePhase>> phases_;  // shared with snapshots under way
  std::shared_ptr<DevicePhase> current_;
  int number_ = 0;
  int first_open_ = 0;
  PhaseBoundaries boundaries_;
};

}  // namespace proton
