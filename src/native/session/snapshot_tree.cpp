// A phase of a tree session as a CallTree. Frames with equal text below one parent become one row.
#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "model/losses.h"
#include "session/snapshot.h"

namespace proton {

uint32_t SnapshotStrings::intern(std::string text) {
  if (auto found = index_.find(text); found != index_.end()) return found->second;
  const auto id = static_cast<uint32_t>(strings_.size());
  strings_.push_back(std::move(text));
  index_.emplace(strings_.back(), id);
  return id;
}

uint32_t SnapshotStrings::intern_frame(FrameId frame) {
  auto [found, is_new] = frames_.try_emplace(frame.bits(), 0);
  if (is_new) found->second = intern(process.frame_name(frame));
  return found->second;
}

class TreeBuilder {
 public:
  TreeBuilder(const Session& session, const Phase& phase)
      : session_(session), phase_(phase), strings_(tree_.strings) {}

  CallTree build(Value::Map header) {
    tree_.nodes.push_back({strings_.at(strings_.intern("ROOT")), FrameKind::kRoot, 0, 0, {}});
    row_of_path_.assign(process.paths.size(), kUnknown);
    row_of_path_[kRootPath] = 0;
    tree_.summary = session_.summary_locked(std::move(header));
    if (!phase_.kernels.empty()) {
      add_metric(0, "count", MetricKind::kInclusive, int64_t{0});
      add_metric(0, "time (ns)", MetricKind::kInclusive, int64_t{0});
    }
    add_rows();
    for (const MetricCell& cell : phase_.scope_metrics.cells()) {
      add_sample(row_of(cell.row), cell.metric, cell.value);
    }
    for (const MetricCell& cell : phase_.kernel_metrics.cells()) {
      add_sample(kernel_rows_[cell.row], cell.metric, cell.value);
    }
    place_metrics();
    return std::move(tree_);
  }

 private:
  static constexpr uint32_t kUnknown = UINT32_MAX;
  struct Pending {
    uint32_t row;
    uint32_t key;
    MetricValue value;
  };

  /// Scopes and kernels in the order they were first seen.
  void add_rows() {
    const auto& seen = phase_.seen;
    const auto& kernels = phase_.kernels;
    size_t next_path = 0;
    for (const KernelRow& kernel : kernels) {
      for (; next_path < seen.size() && seen[next_path].stamp < kernel.stamp; ++next_path) {
        row_of(seen[next_path].path);
      }
      add_kernel(kernel);
    }
    for (; next_path < seen.size(); ++next_path) row_of(seen[next_path].path);
  }

  void add_kernel(const KernelRow& kernel) {
    const auto& [name, device] = session_.kernels_[kernel.kernel];
    const uint32_t text = strings_.intern(session_.kernel_names_.text(name));
    const uint32_t row = child(row_of(kernel.path), text, FrameKind::kKernel, device);
    kernel_rows_.push_back(row);
    add_metric(row, "time (ns)", MetricKind::kInclusive, kernel.time_ns);
    add_metric(row, "count", MetricKind::kInclusive, kernel.count);
    add_metric(row, "device_id", MetricKind::kProperty, session_.devices_seen_[device].id);
    add_metric(row, "device_type", MetricKind::kProperty, session_.devices_seen_[device].type);
  }

  uint32_t row_of(PathId path) {
    std::vector<PathId> missing;
    while (row_of_path_[path] == kUnknown) {
      missing.push_back(path);
      path = process.paths.parent(path);
    }
    uint32_t row = row_of_path_[path];
    for (auto it = missing.rbegin(); it != missing.rend(); ++it) {
      const FrameId frame = process.paths.frame(*it);
      row = child(row, strings_.intern_frame(frame), frame.kind(), 0);
      row_of_path_[*it] = row;
    }
    return row;
  }

  uint32_t child(uint32_t parent, uint32_t text, FrameKind kind, uint32_t device) {
    bool is_new;
    const uint64_t label_key =
        uint64_t{text} << 32 | uint64_t{device} << 8 | static_cast<uint8_t>(kind);
    uint32_t* label = labels_.find_or_add(label_key, is_new);
    if (is_new) *label = static_cast<uint32_t>(labels_.size());
    uint32_t* row = rows_.find_or_add(uint64_t{parent} << 32 | *label, is_new);
    if (is_new) {
      *row = static_cast<uint32_t>(tree_.nodes.size());
      tree_.nodes.push_back({strings_.at(text), kind, 0, 0, {}});
      tree_.nodes[parent].children.push_back(*row);
    }
    return *row;
  }

  void add_sample(uint32_t row, MetricId metric, const MetricValue& value) {
    const MetricName& name = process.metric_names.name(metric);
    auto [known, is_new] = kinds_.try_emplace(name.key, name.kind);
    if (!is_new && known->second != name.kind) {
      tree_.summary.warnings.push_back(
          concat("metric ", quoted(name.key), " was given as two kinds; the first one stands"));
    }
    if (name.kind != MetricKind::kInclusive) {
      tree_.summary.metric_kinds.try_emplace(name.key, name.kind);
    }
    add_metric(row, name.key, name.kind, value);
  }

  /// Merges values that meet in one row because their frames have equal text.
  void add_metric(uint32_t row, const std::string& key, MetricKind kind, MetricValue value) {
    const uint32_t key_text = strings_.intern(key);
    bool is_new;
    uint32_t* at = pending_index_.find_or_add((uint64_t{row} << 32 | key_text) + 1, is_new);
    if (is_new) {
      *at = static_cast<uint32_t>(pending_.size());
      pending_.push_back({row, key_text, std::move(value)});
    } else if (add_value(pending_[*at].value, kind, value) != Booking::kBooked) {
      ++tree_.summary.losses[losses::kMetricConflict];
    }
  }

  /// Lays the metrics out by row: a counting sort that keeps the order within a row.
  void place_metrics() {
    for (const Pending& metric : pending_) ++tree_.nodes[metric.row].metric_count;
    uint32_t first = 0;
    for (TreeNode& node : tree_.nodes) {
      node.first_metric = first;
      first += node.metric_count;
      node.metric_count = 0;
    }
    tree_.metrics.resize(pending_.size());
    for (Pending& metric : pending_) {
      TreeNode& node = tree_.nodes[metric.row];
      tree_.metrics[node.first_metric + node.metric_count++] = {strings_.at(metric.key),
                                                                std::move(metric.value)};
    }
  }

  const Session& session_;
  const Phase& phase_;
  CallTree tree_;
  SnapshotStrings strings_;
  std::vector<uint32_t> row_of_path_;
  std::vector<uint32_t> kernel_rows_;
  KeyIndex labels_;  // (text, device, kind) -> label
  KeyIndex rows_;    // (parent row, label) -> row
  KeyIndex pending_index_;
  std::vector<Pending> pending_;
  std::unordered_map<std::string, MetricKind> kinds_;
};

CallTree Session::snapshot_tree(int phase, Value::Map header) const {
  expect_phase(phase, DataKind::kTree);
  std::lock_guard lock(mutex_);
  return TreeBuilder(*this, *phases_.at(phase)).build(std::move(header));
}

void Session::expect_phase(int phase, DataKind data) const {
  if (data != data_) {
    throw Error(ErrorKind::kDataKind,
                concat("session ", id_, " records a ",
                       data_ == DataKind::kTree ? "tree, not a trace" : "trace, not a tree",
                       "; start it with data=", data == DataKind::kTree ? "'tree'" : "'trace'"));
  }
  if (!has_phase(phase)) {
    throw Error(ErrorKind::kPhaseNotFound, concat("session ", id_, " has no data for phase ", phase,
                                                  "; the current phase is ", current_->number));
  }
}

Summary Session::summary_locked(Value::Map header) const {
  Summary summary;
  summary.header = std::move(header);
  summary.losses = losses_;
  for (const auto& [text, count] : warnings_) {
    summary.warnings.push_back(count == 1 ? text : concat(text, " (", count, " times)"));
  }
  summary.autotune = autotune_;
  for (const DeviceEntry& device : devices_) {
    const bool is_seen = std::any_of(
        devices_seen_.begin(), devices_seen_.end(),
        [&](const DeviceSeen& seen) { return seen.type == device.type && seen.id == device.id; });
    if (is_seen) summary.devices.push_back(device);
  }
  return summary;
}

}  // namespace proton
