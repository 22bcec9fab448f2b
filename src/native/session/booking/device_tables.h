/// What a session knows of its devices over all phases: kernels, captured places, late values. Not
/// locked: the booking on devices has the lock.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/key_index.h"
#include "base/string_table.h"
#include "model/event.h"
#include "session/booking/captured_places.h"
#include "session/booking/phase.h"
#include "session/booking/sample_table.h"
#include "session/booking/step_times.h"
#include "session/metrics/metric_table.h"
#include "session/scopes/launch_contexts.h"
#include "session/scopes/loss_log.h"

namespace proton {

struct KernelEntry {
  NameId name;      // of KernelTable::names
  uint32_t device;  // of KernelTable::devices
  EventKind kind;
};

/// A device that events came from.
struct SeenDevice {
  std::string type;
  std::string id;
};

/// Kernels, copies and devices as small numbers, by name, by the backend's number for the name, or
/// by the launch metadata that gives it.
class KernelTable {
 public:
  /// The kernel of an event, by the name that `op` gives it or else its own.
  uint32_t kernel_of(const KernelEvent& event, const Op* op, uint32_t op_id) {
    const uint32_t device = device_of(event);
    const bool is_renamed = op != nullptr && !op->name.empty() && event.kind == EventKind::kKernel;
    if (!is_renamed && event.name_id == 0) return intern(event.name, device, event.kind);
    KeyIndex& index = is_renamed ? by_op_ : by_backend_name_;
    const uint32_t number = is_renamed ? op_id : event.name_id;
    bool is_new;
    uint32_t* kernel = index.find_or_add(key_of(number, device, event.kind), is_new);
    if (is_new) {
      *kernel = intern(is_renamed ? std::string_view(op->name) : event.name, device, event.kind);
    }
    return *kernel;
  }

  uint32_t device_of(const KernelEvent& event) {
    if (event.device_id == last_id_ && event.device_type.data() == last_type_) return last_device_;
    last_device_ = find_device(event.device_type, event.device_id);
    last_id_ = event.device_id;
    last_type_ = event.device_type.data();
    return last_device_;
  }

  /// Devices are remembered by the address of their type's text. Before and after an event whose
  /// text does not outlive the session.
  void forget_last_device() { last_type_ = nullptr; }

  [[gnu::noinline]] uint32_t intern(std::string_view name, uint32_t device, EventKind kind) {
    const NameId name_id = names.intern(name);
    return by_name_.row_of(key_of(name_id, device, kind), kernels_,
                           [&] { return KernelEntry{name_id, device, kind}; });
  }

  [[gnu::noinline]] uint32_t find_device(std::string_view type, uint32_t number) {
    char digits[16];
    const char* end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
    const std::string_view id(digits, static_cast<size_t>(end - digits));
    for (size_t i = 0; i < devices_.size(); ++i) {
      if (devices_[i].id == id && devices_[i].type == type) return static_cast<uint32_t>(i);
    }
    devices_.push_back({std::string(type), std::string(id)});
    return static_cast<uint32_t>(devices_.size() - 1);
  }

  const std::vector<KernelEntry>& all() const { return kernels_; }
  const std::vector<SeenDevice>& devices() const { return devices_; }

  StringTable names;  // of kernels, of symbols that were sampled, of regions

 private:
  static uint64_t key_of(uint32_t number, uint32_t device, EventKind kind) {
    return (uint64_t{number} << 32 | uint64_t{device} << 8 | static_cast<uint8_t>(kind)) + 1;
  }

  KeyIndex by_name_;          // (name, device, kind) -> kernels_
  KeyIndex by_backend_name_;  // the same by the backend's number for the name
  KeyIndex by_op_;            // and by the op that gives the name
  std::vector<KernelEntry> kernels_;
  std::vector<SeenDevice> devices_;
  // Of the event before: the next one is mostly from the same device.
  const char* last_type_ = nullptr;
  uint32_t last_id_ = 0;
  uint32_t last_device_ = 0;
};

/// The launch metadata of whole graphs, where their kernels are not told apart: that of all kernels
/// as one, added up when a graph is seen for the first time or with other nodes.
class GraphMetadata {
 public:
  /// What the kernels of a graph add up to. What does not add up is lost at every replay.
  const Op* find(const KernelEvent& event, const LaunchContexts& contexts, LossLog& losses) {
    const GraphLaunches& launches = *event.graph_launches;
    Sum& sum = sums_[event.graph];
    if (sum.version != launches.version) {
      sum = {launches.version, {}, {}};
      for (const ContextId context : launches.contexts) {
        uint32_t op_id = 0;
        if (const Op* launch = contexts.op(context, op_id)) sum.add(*launch);
      }
    }
    for (const Booking booking : sum.refused) losses.count_refused(booking);
    return &sum.op;
  }

 private:
  struct Sum {
    uint64_t version = 0;  // of the GraphLaunches
    Op op;
    std::vector<Booking> refused;

    void add(const Op& launch) {
      for (const OpMetric& metric : launch.metrics) {
        if (metric.kind == MetricKind::kProperty) continue;  // one kernel's, not the graph's
        const auto same = std::ranges::find(op.metrics, metric.metric, &OpMetric::metric);
        if (same == op.metrics.end()) {
          op.metrics.push_back(metric);
          continue;
        }
        const Booking booking = add_value(same->value, metric.kind, metric.value);
        if (booking != Booking::kBooked) refused.push_back(booking);
      }
    }
  };

  std::unordered_map<uint32_t, Sum> sums_;  // by graph
};

/// Values of a trace that came from devices, long after the call that gave them.
struct LateValues {
  struct OfKernel {
    PlaceId place;
    uint32_t kernel;
    SpanMetric metric;
  };

  std::unordered_map<uint64_t, std::vector<SpanMetric>> of_scopes;  // by scope id
  std::unordered_map<CorrelationId, std::vector<OfKernel>> of_kernels;

  /// The phase of these spans was cleared.
  void forget(const std::vector<HostSpan>& spans, const std::vector<KernelSpan>& kernel_spans) {
    if (!of_scopes.empty()) {
      for (const HostSpan& span : spans) of_scopes.erase(span.scope_id);
    }
    if (!of_kernels.empty()) {
      for (const KernelSpan& span : kernel_spans) of_kernels.erase(span.correlation);
    }
  }
};

struct DeviceTables {
  KernelTable kernels;
  CapturedPlaces places;
  LateValues values;
  StepTimes steps;
  StringTable reasons;                       // of samples
  std::shared_ptr<const Sampling> sampling;  // null: the session does not sample
};

}  // namespace proton
