/// The rows of a CallTree under construction, and their metrics. Frames with equal text below one
/// parent become one row, and what they measured is added up. Takes no lock.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/key_index.h"
#include "base/text.h"
#include "model/losses.h"
#include "session/snapshot/phase_copy.h"

namespace proton {

class TreeRows {
 public:
  TreeRows(const PhaseCopy& copy, CallTree& tree) : copy_(copy), tree_(tree), filter_(copy.filter) {
    tree_.nodes.reserve(copy.seen.size() + copy.rows.size() + 1);
    tree_.nodes.push_back({&tree_.strings.emplace_back("ROOT"), FrameKind::kRoot});
    row_of_path_.assign(copy.paths.size(), kUnknown);
    row_of_path_[kRootPath] = 0;
    label_of_kernel_.assign(copy.samples.kernels.size(), kUnknown);
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
      const auto& [parent, frame, depth] = copy_.paths[*it];
      row = below(row, frame, copy_.paths[parent].frame);
      row_of_path_[*it] = row;
    }
    return row;
  }

  /// A path that was seen, with the entries of its scope.
  void add(const SeenPath& seen) { tree_.nodes[row_of(seen.path)].entries += seen.entries; }

  /// The row that kernels of a place stand below.
  uint32_t row_of_place(PlaceId place) {
    if (!is_captured(place)) return row_of(place);
    const CapturedPlace& captured = copy_.captured(place);
    bool is_new;
    uint32_t* known = captured_rows_.find_or_add(uint64_t{place} + 1, is_new);
    if (!is_new) return *known;
    std::vector<FrameId> frames;
    if (captured.is_seen()) frames = frames_of(captured.capture);
    uint32_t row = child(row_of(captured.replay), label_of_text(kCapturedAt));
    if (!captured.is_seen()) {
      row = child(row, label_of_text(kUnknownCapture));
      if (captured.graph() != 0) row = child(row, label_of_text(captured.graph_name()));
    }
    FrameId above;
    for (auto it = frames.rbegin(); it != frames.rend(); ++it) {
      row = below(row, *it, above);
      above = *it;
    }
    *known = row;
    return row;
  }

  uint32_t child(uint32_t parent, uint32_t label) {
    bool is_new;
    uint32_t* row = rows_.find_or_add(pair_key(parent, label), is_new);
    if (is_new) {
      *row = static_cast<uint32_t>(tree_.nodes.size());
      tree_.nodes.push_back({labels_[label].name, labels_[label].kind});
      tree_.nodes[parent].children.push_back(*row);
    }
    return *row;
  }

  uint32_t label_of_text(const std::string& text) {
    auto [found, is_new] = text_labels_.try_emplace(text, 0);
    if (is_new) found->second = add_label(text, FrameKind::kScope);
    return found->second;
  }

  uint32_t label_of_kernel(uint32_t kernel) {
    uint32_t& label = label_of_kernel_[kernel];
    if (label == kUnknown) {
      const auto& [name, device, kind] = copy_.kernel(kernel);
      const bool is_copy = kind == EventKind::kCopy;
      label = add_label(copy_.kernel_name(name), is_copy ? FrameKind::kCopy : FrameKind::kKernel);
    }
    return label;
  }

  uint32_t add_label(std::string text, FrameKind kind) {
    labels_.push_back({&tree_.strings.emplace_back(std::move(text)), kind});
    return static_cast<uint32_t>(labels_.size() - 1);
  }

 private:
  static constexpr uint32_t kUnknown = UINT32_MAX;

  /// The row of a frame that stands below `above`, which `row` is of; `row` where it is left out.
  uint32_t below(uint32_t row, FrameId frame, FrameId above) {
    if (filter_.is_active() && filter_.hides(frame, above, copy_.is_library(frame))) return row;
    const uint32_t label = label_of_frame(frame);
    // A wrapper and the module in it have one name.
    const bool is_repeated = filter_.is_active() && frame.kind() == FrameKind::kModule &&
                             tree_.nodes[row].name == labels_[label].name;
    return is_repeated ? row : child(row, label);
  }

  /// What tells rows below one parent apart: equal text of one kind (and device) is one label.
  struct Label {
    const std::string* name;
    FrameKind kind;
  };

  /// Innermost first.
  std::vector<FrameId> frames_of(PathId path) const {
    std::vector<FrameId> frames;
    if (path >= copy_.paths.size()) path = kRootPath;
    for (; path != kRootPath; path = copy_.paths[path].parent) {
      frames.push_back(copy_.paths[path].frame);
    }
    return frames;
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

  const PhaseCopy& copy_;
  CallTree& tree_;
  const FrameFilter filter_;
  KeyIndex rows_;  // (parent row, label) -> row
  std::vector<uint32_t> row_of_path_;
  std::vector<PathId> missing_;  // reused by row_of
  KeyIndex captured_rows_;       // captured place -> row
  std::vector<Label> labels_;
  std::unordered_map<std::string, uint32_t> text_labels_;
  KeyIndex frame_labels_;  // FrameId -> label
  std::unordered_map<std::string_view, uint32_t> python_labels_;
  std::vector<uint32_t> label_of_kernel_;
};

/// Metrics on their way into rows.
class TreeMetrics {
 public:
  TreeMetrics(const PhaseCopy& copy, CallTree& tree) : names_(copy.metric_names), tree_(tree) {
    constexpr size_t kKernelMetrics = 4;
    last_.reserve(copy.seen.size() + copy.rows.size() + 1);
    pending_.reserve(copy.rows.size() * kKernelMetrics + copy.scope_metrics.size() +
                     copy.kernel_metrics.size() + 2);
  }

  uint32_t add_key(const std::string& text) {
    auto [found, is_new] = key_index_.try_emplace(text, static_cast<uint32_t>(keys_.size()));
    if (is_new) keys_.push_back({&tree_.strings.emplace_back(text)});
    return found->second;
  }

  void add_sample(uint32_t row, MetricId metric, const MetricValue& value) {
    const MetricKind kind = names_[metric].kind;
    const uint32_t key = key_of(metric);
    if (kind == MetricKind::kInclusive && !keys_[key].is_on_root) {
      // Readers that sum upwards want a number to start from.
      keys_[key].is_on_root = true;
      if (std::holds_alternative<int64_t>(value)) add(0, key, kind, int64_t{0});
      if (std::holds_alternative<double>(value)) add(0, key, kind, 0.0);
    }
    add(row, key, kind, value);
  }

  /// Of a kernel. What a backend measures stays its own: no number of the user's is added to it.
  void add_kernel_sample(uint32_t row, MetricId metric, const MetricValue& value) {
    const auto& [name, kind, forced] = names_[metric];
    if (name != kTimeMetric && name != kCountMetric) return add_sample(row, metric, value);
    const std::string own = concat(kUserPrefix, name);
    if (kind != MetricKind::kInclusive) tree_.summary.metric_kinds.emplace(own, kind);
    add(row, add_key(own), kind, value);
  }

  void add_device(uint32_t row, const SeenDevice& device) {
    if (id_key_ == kUnknown) {
      id_key_ = add_key("device_id");
      type_key_ = add_key("device_type");
    }
    add(row, id_key_, MetricKind::kProperty, device.id);
    add(row, type_key_, MetricKind::kProperty, device.type);
  }

  /// A sum that readers find on the root, too, where it is none.
  void add_sum(uint32_t row, uint32_t key, MetricValue value) {
    if (!std::exchange(keys_[key].is_on_root, true)) {
      add(0, key, MetricKind::kInclusive, int64_t{0});
    }
    add(row, key, MetricKind::kInclusive, std::move(value));
  }

  /// Merges values that meet in one row because their frames have equal text.
  void add(uint32_t row, uint32_t key, MetricKind kind, MetricValue value) {
    if (row >= last_.size()) last_.resize(tree_.nodes.size(), kUnknown);
    for (uint32_t at = last_[row]; at != kUnknown; at = pending_[at].next) {
      if (pending_[at].key != key) continue;
      if (add_value(pending_[at].value, kind, value) != Booking::kBooked) {
        ++tree_.summary.losses[losses::kMetricConflict];
      }
      return;
    }
    const auto at = static_cast<uint32_t>(pending_.size());
    pending_.push_back({row, key, last_[row], std::move(value)});
    last_[row] = at;
    ++tree_.nodes[row].metric_count;
  }

  /// Lays the metrics out by row: a counting sort that keeps the order within a row.
  void place() {
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

 private:
  static constexpr uint32_t kUnknown = UINT32_MAX;

  /// A metric on its way into a row; those of one row are linked, as there are few of them.
  struct Pending {
    uint32_t row;
    uint32_t key;
    uint32_t next;
    MetricValue value;
  };
  /// A metric name in this file.
  struct Key {
    const std::string* text;
    MetricKind kind = MetricKind::kInclusive;
    bool is_given = false;  // by a user or backend, so that `kind` counts
    bool is_mixed = false;  // given as two kinds
    bool is_on_root = false;
  };

  uint32_t key_of(MetricId metric) {
    if (metric >= key_of_metric_.size()) key_of_metric_.resize(metric + 1, kUnknown);
    uint32_t& at = key_of_metric_[metric];
    if (at != kUnknown) return at;
    const MetricName& name = names_[metric];
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

  const std::vector<MetricName>& names_;
  CallTree& tree_;
  std::vector<Key> keys_;
  std::unordered_map<std::string, uint32_t> key_index_;
  std::vector<uint32_t> key_of_metric_;
  std::vector<Pending> pending_;
  uint32_t id_key_ = kUnknown;
  uint32_t type_key_ = kUnknown;
  std::vector<uint32_t> last_;  // by row: its newest pending metric
};

}  // namespace proton
