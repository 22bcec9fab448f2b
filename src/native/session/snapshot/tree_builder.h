/// A copied phase of a tree session on its way to a CallTree; takes no lock. Frames with equal text
/// below one parent become one row. Private to session/.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/key_index.h"
#include "base/text.h"
#include "model/losses.h"
#include "session/samples/sample_report.h"
#include "session/snapshot/kernel_details.h"
#include "session/snapshot/phase_copy.h"
#include "session/snapshot/snapshot.h"

namespace proton {

class TreeBuilder {
 public:
  explicit TreeBuilder(TreeCopy& copy) : copy_(copy) {}

  CallTree build() {
    reserve();
    tree_.nodes.push_back({&tree_.strings.emplace_back("ROOT"), FrameKind::kRoot, 0, 0, {}});
    tree_.summary = std::move(copy_.summary);
    const uint32_t time_key = add_key("time (ns)");
    const uint32_t count_key = add_key("count");
    if (!copy_.kernels.empty()) {
      add_metric(0, count_key, MetricKind::kInclusive, int64_t{0});
      add_metric(0, time_key, MetricKind::kInclusive, int64_t{0});
    }
    add_rows(time_key, count_key);
    for (const MetricCell& cell : copy_.scope_metrics) {
      add_sample(row_of(cell.row), cell.metric, cell.value);
    }
    for (const MetricCell& cell : copy_.kernel_metrics) {
      add_sample(kernel_rows_[cell.row], cell.metric, cell.value);
    }
    for (const MetricCell& cell : copy_.replay_metrics) {
      add_sample(row_of_place(cell.row), cell.metric, cell.value);
    }
    for (const MetricCell& cell : copy_.device_values) {
      add_sample(row_of_place(cell.row), cell.metric, cell.value);
    }
    add_regions();
    if (copy_.samples.is_wanted()) add_samples();
    place_metrics();
    tree_.details = details_.take();
    return std::move(tree_);
  }

 private:
  static constexpr uint32_t kUnknown = UINT32_MAX;
  static constexpr size_t kKernelMetricCount = 4;

  /// A metric on its way into a row; those of one row are linked, as there are few of them.
  struct Pending {
    uint32_t row;
    uint32_t key;
    uint32_t next;
    MetricValue value;
  };
  /// What tells rows below one parent apart: equal text of one kind (and device) is one label.
  struct Label {
    const std::string* name;
    FrameKind kind;
  };
  /// A metric name in this file.
  struct Key {
    const std::string* text;
    MetricKind kind = MetricKind::kInclusive;
    bool is_given = false;  // by a user or backend, so that `kind` counts
    bool is_mixed = false;  // given as two kinds
    bool is_on_root = false;
  };

  void reserve() {
    const size_t row_count = copy_.seen.size() + copy_.kernels.size() + 1;
    tree_.nodes.reserve(row_count);
    last_pending_.reserve(row_count);
    pending_.reserve(copy_.kernels.size() * kKernelMetricCount + copy_.scope_metrics.size() +
                     copy_.kernel_metrics.size() + 2);
    kernel_rows_.reserve(copy_.kernels.size());
    last_pending_.push_back(kUnknown);
    row_of_path_.assign(copy_.paths.size(), kUnknown);
    row_of_path_[kRootPath] = 0;
    label_of_kernel_.assign(copy_.kernel_kinds.size(), kUnknown);
  }

  /// Scopes and kernels in the order they were first seen.
  void add_rows(uint32_t time_key, uint32_t count_key) {
    const uint32_t id_key = add_key("device_id");
    const uint32_t type_key = add_key("device_type");
    const auto& seen = copy_.seen;
    size_t next_path = 0;
    for (const KernelRow& kernel : copy_.kernels) {
      for (; next_path < seen.size() && seen[next_path].stamp < kernel.stamp; ++next_path) {
        row_of(seen[next_path].path);
      }
      const uint32_t row = child(row_of_place(kernel.place), label_of_kernel(kernel.kernel));
      const auto& kind = copy_.kernel_kinds[kernel.kernel];
      const auto& device = copy_.devices[kind.device];
      kernel_rows_.push_back(row);
      if (kernel.count > 0) {  // else only its regions are known
        add_metric(row, time_key, MetricKind::kInclusive, kernel.time_ns);
        add_metric(row, count_key, MetricKind::kInclusive, kernel.count);
      }
      add_metric(row, id_key, MetricKind::kProperty, device.id);
      add_metric(row, type_key, MetricKind::kProperty, device.type);
      if (kind.kind == EventKind::kCopy) {
        add_metric(row, add_key("bytes"), MetricKind::kInclusive, kernel.bytes);
      }
      if (kernel.count == 0) continue;
      const auto& limits = copy_.limits[kind.device];
      details_.add(row, kernel, limits.has_value() ? &*limits : nullptr);
    }
    for (; next_path < seen.size(); ++next_path) row_of(seen[next_path].path);
  }

  /// Regions that instrumented kernels recorded, below their kernels.
  void add_regions() {
    if (copy_.regions.empty()) return;
    const uint32_t cycles_key = add_key("cycles");
    const uint32_t normalized_key = add_key("normalized_cycles");
    const uint32_t time_key = add_key("nanoseconds (ns)");
    const uint32_t id_key = add_key("device_id");
    const uint32_t type_key = add_key("device_type");
    add_metric(0, cycles_key, MetricKind::kInclusive, int64_t{0});
    add_metric(0, normalized_key, MetricKind::kInclusive, 0.0);
    std::vector<uint32_t> rows;
    rows.reserve(copy_.regions.size());
    for (const RegionRow& region : copy_.regions) {
      const uint32_t above =
          region.parent == kNoRegion ? kernel_rows_[region.kernel_row] : rows[region.parent];
      const uint32_t row = child(above, label_of_text(copy_.kernel_names[region.name]));
      const auto& kernel = copy_.kernel_kinds[copy_.kernels[region.kernel_row].kernel];
      rows.push_back(row);
      add_metric(row, cycles_key, MetricKind::kInclusive,
                 int64_t{std::llround(std::min(region.cycles, 1e18))});
      add_metric(row, normalized_key, MetricKind::kInclusive, region.normalized_cycles);
      if (region.time_ns > 0) {
        add_metric(row, time_key, MetricKind::kInclusive, region.time_ns);
      }
      add_metric(row, id_key, MetricKind::kProperty, copy_.devices[kernel.device].id);
      add_metric(row, type_key, MetricKind::kProperty, copy_.devices[kernel.device].type);
    }
  }

  /// Keys of the metrics of samples; the totals, then one a reason.
  struct SampleKeys {
    uint32_t samples, stalled, latency;
    std::vector<uint32_t> reasons;
    size_t issued = SIZE_MAX;  // the reason that is none
  };

  // In tree_samples.cpp
  void add_samples();
  std::vector<SampleContext> contexts_of(const std::vector<uint32_t>& timed, NameId symbol,
                                         uint32_t device);
  SampleContext untimed_context(NameId symbol, uint32_t device);
  SampleKeys add_sample_keys();
  void add_counts(uint32_t row, const SampleKeys& keys, const SampleCounts& counts);
  uint32_t row_of_line(const SampleLines& lines, uint32_t kernel, LineId line);

  /// The row that kernels of a place stand below.
  uint32_t row_of_place(PlaceId place) {
    if ((place & kLaunchBit) == 0) return row_of(place);
    const CapturedPlace& captured = copy_.captured_places[place & ~kLaunchBit];
    bool is_new;
    uint32_t* known = captured_rows_.find_or_add(uint64_t{place} + 1, is_new);
    if (!is_new) return *known;
    std::vector<FrameId> frames;
    if (captured.is_seen()) frames = frames_of(captured.capture);
    uint32_t row = child(row_of(captured.replay), label_of_text(kCapturedAt));
    if (!captured.is_seen()) {
      row = child(row, label_of_text(kUnknownCapture));
      if (captured.graph() != 0) row = child(row, label_of_text(graph_name(captured.graph())));
    }
    for (auto it = frames.rbegin(); it != frames.rend(); ++it)
      row = child(row, label_of_frame(*it));
    *known = row;
    return row;
  }

  /// Innermost first.
  std::vector<FrameId> frames_of(PathId path) const {
    std::vector<FrameId> frames;
    if (path >= copy_.paths.size()) path = kRootPath;
    for (; path != kRootPath; path = copy_.paths[path].parent) {
      frames.push_back(copy_.paths[path].frame);
    }
    return frames;
  }

  uint32_t label_of_text(const std::string& text) {
    auto [found, is_new] = text_labels_.try_emplace(text, 0);
    if (is_new) found->second = add_label(text, FrameKind::kScope);
    return found->second;
  }

  uint32_t row_of(PathId path) {
    if (path >= row_of_path_.size()) path = kRootPath;  // of a time before the tables were cleared
    missing_.clear();
    while (row_of_path_[path] == kUnknown) {
      missing_.push_back(path);
      path = copy_.paths[path].parent;
    }
    uint32_t row = row_of_path_[path];
    for (auto it = missing_.rbegin(); it != missing_.rend(); ++it) {
      row = child(row, label_of_frame(copy_.paths[*it].frame));
      row_of_path_[*it] = row;
    }
    return row;
  }

  /// Names have one id each already; only Python frames can have equal text under different ids.
  uint32_t label_of_frame(FrameId frame) {
    bool is_new;
    uint32_t* label = frame_labels_.find_or_add(frame.bits(), is_new);
    if (!is_new) return *label;
    std::string text = copy_.frame_name(frame);
    if (frame.kind() == FrameKind::kPython) {
      if (auto found = python_labels_.find(text); found != python_labels_.end()) {
        return *label = found->second;
      }
    }
    *label = add_label(std::move(text), frame.kind());
    if (frame.kind() == FrameKind::kPython) python_labels_.emplace(*labels_[*label].name, *label);
    return *label;
  }

  uint32_t label_of_kernel(uint32_t kernel) {
    uint32_t& label = label_of_kernel_[kernel];
    if (label == kUnknown) {
      const auto& [name, device, kind] = copy_.kernel_kinds[kernel];
      const bool is_copy = kind == EventKind::kCopy;
      label = add_label(copy_.kernel_names[name], is_copy ? FrameKind::kCopy : FrameKind::kKernel);
    }
    return label;
  }

  uint32_t add_label(std::string text, FrameKind kind) {
    labels_.push_back({&tree_.strings.emplace_back(std::move(text)), kind});
    return static_cast<uint32_t>(labels_.size() - 1);
  }

  uint32_t child(uint32_t parent, uint32_t label) {
    bool is_new;
    uint32_t* row = rows_.find_or_add(pair_key(parent, label), is_new);
    if (is_new) {
      *row = static_cast<uint32_t>(tree_.nodes.size());
      tree_.nodes.push_back({labels_[label].name, labels_[label].kind, 0, 0, {}});
      tree_.nodes[parent].children.push_back(*row);
      last_pending_.push_back(kUnknown);
    }
    return *row;
  }

  uint32_t add_key(const std::string& text) {
    auto [found, is_new] = key_index_.try_emplace(text, static_cast<uint32_t>(keys_.size()));
    if (is_new) keys_.push_back({&tree_.strings.emplace_back(text)});
    return found->second;
  }

  uint32_t key_of(MetricId metric) {
    if (metric >= key_of_metric_.size()) key_of_metric_.resize(metric + 1, kUnknown);
    uint32_t& at = key_of_metric_[metric];
    if (at != kUnknown) return at;
    const MetricName& name = copy_.metric_names[metric];
    at = add_key(name.key);
    Key& key = keys_[at];
    if (key.is_given && key.kind != name.kind && !key.is_mixed) {
      key.is_mixed = true;
      tree_.summary.warnings.push_back(
          concat("metric ", quote(name.key), " was given as two kinds; the first one stands"));
    } else if (!key.is_given) {
      key.is_given = true;
      key.kind = name.kind;
      if (name.kind != MetricKind::kInclusive) {
        tree_.summary.metric_kinds.emplace(name.key, name.kind);
      }
    }
    return at;
  }

  void add_sample(uint32_t row, MetricId metric, const MetricValue& value) {
    const MetricKind kind = copy_.metric_names[metric].kind;
    const uint32_t key = key_of(metric);
    if (kind == MetricKind::kInclusive && !keys_[key].is_on_root) {
      // Readers that sum upwards want a number to start from.
      keys_[key].is_on_root = true;
      if (std::holds_alternative<int64_t>(value)) add_metric(0, key, kind, int64_t{0});
      if (std::holds_alternative<double>(value)) add_metric(0, key, kind, 0.0);
    }
    add_metric(row, key, kind, value);
  }

  /// Merges values that meet in one row because their frames have equal text.
  void add_metric(uint32_t row, uint32_t key, MetricKind kind, MetricValue value) {
    for (uint32_t at = last_pending_[row]; at != kUnknown; at = pending_[at].next) {
      if (pending_[at].key != key) continue;
      if (add_value(pending_[at].value, kind, value) != Booking::kBooked) {
        ++tree_.summary.losses[losses::kMetricConflict];
      }
      return;
    }
    const auto at = static_cast<uint32_t>(pending_.size());
    pending_.push_back({row, key, last_pending_[row], std::move(value)});
    last_pending_[row] = at;
    ++tree_.nodes[row].metric_count;
  }

  /// Lays the metrics out by row: a counting sort that keeps the order within a row.
  void place_metrics() {
    uint32_t first = 0;
    for (TreeNode& node : tree_.nodes) {
      node.first_metric = first;
      first += node.metric_count;
      node.metric_count = 0;
    }
    tree_.metrics.resize(pending_.size());
    for (Pending& metric : pending_) {
      TreeNode& node = tree_.nodes[metric.row];
      tree_.metrics[node.first_metric + node.metric_count++] = {keys_[metric.key].text,
                                                                std::move(metric.value)};
    }
  }

  TreeCopy& copy_;
  CallTree tree_;
  std::vector<uint32_t> row_of_path_;
  std::vector<uint32_t> kernel_rows_;
  std::vector<PathId> missing_;  // reused by row_of
  std::vector<Label> labels_;
  KernelDetails details_;
  KeyIndex captured_rows_;  // captured place -> row
  std::unordered_map<std::string, uint32_t> text_labels_;
  std::unordered_map<std::string, uint32_t> line_labels_;
  KeyIndex line_rows_;     // (row of a kernel, line) -> row
  KeyIndex frame_labels_;  // FrameId -> label
  std::unordered_map<std::string_view, uint32_t> python_labels_;
  std::vector<uint32_t> label_of_kernel_;
  KeyIndex rows_;  // (parent row, label) -> row
  std::vector<Key> keys_;
  std::unordered_map<std::string, uint32_t> key_index_;
  std::vector<uint32_t> key_of_metric_;
  std::vector<Pending> pending_;
  std::vector<uint32_t> last_pending_;  // by row
};

}  // namespace proton
