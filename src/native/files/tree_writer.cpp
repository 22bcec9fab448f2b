// Call trees as hatchet JSON and msgpack bytes.
#include "files/writers.h"

#include <algorithm>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "files/format.h"
#include "files/json_encoder.h"
#include "files/msgpack_encoder.h"
#include "files/summary_writer.h"

namespace proton {

namespace {

/// One file. The walk keeps its own stack: calling contexts may be tens of thousands deep.
template <typename Encoder>
class TreeWriter {
 public:
  TreeWriter(const CallTree& tree, ByteSink& sink) : tree_(tree), out_(sink) {
    kinds_.reserve(tree.nodes.size());
    if (!tree.details.empty()) places_.resize(tree.nodes.size());
  }

  void write() {
    out_.begin_list(2);
    write_nodes();
    write_device_map(tree_.summary.devices, out_);
    out_.end_list();
    out_.flush();
  }

 private:
  struct Open {
    const TreeNode* node;
    size_t next_child = 0;
  };

  void write_nodes() {
    std::vector<Open> open;
    begin_node(0, 4);
    open.push_back({&tree_.nodes[0]});
    while (true) {
      Open& top = open.back();
      if (top.next_child < top.node->children.size()) {
        const uint32_t row = top.node->children[top.next_child++];
        begin_node(row, 3);
        open.push_back({&tree_.nodes[row]});
        continue;
      }
      out_.end_list();
      open.pop_back();
      if (open.empty()) break;
      out_.end_map();
    }
    end_root();
  }

  /// Everything of a node up to the start of its list of children.
  void begin_node(uint32_t row, size_t key_count) {
    const TreeNode& node = tree_.nodes[row];
    if (!tree_.details.empty()) places_[row] = static_cast<uint32_t>(kinds_.size());
    if (node.entries != 0) entries_.emplace_back(kinds_.size(), node.entries);
    kinds_.push_back(static_cast<char>(node.kind));
    out_.begin_map(key_count);
    write_frame(*node.name);
    out_.plain_key(format::kMetrics);
    const std::span metrics(tree_.metrics);
    non_finite_count_ += write_metrics(metrics.subspan(node.first_metric, node.metric_count), out_);
    out_.plain_key(format::kChildren);
    out_.begin_list(node.children.size());
  }

  void write_frame(std::string_view name) {
    out_.plain_key(format::kFrame);
    out_.begin_map(2);
    out_.plain_key(format::kName);
    out_.string(name);
    out_.plain_key(format::kType);
    out_.plain_string(format::kFrameType);
    out_.end_map();
  }

  /// Last, so that it can tell what was lost while the nodes were written.
  void end_root() {
    const WriteLosses found = {{format::kNonFiniteMetric, non_finite_count_},
                               {format::kInvalidText, out_.invalid_text_count()}};
    out_.plain_key(format::kProton);
    const bool has_kernels = !tree_.details.empty();
    begin_summary(tree_.summary, found, 1u + has_kernels + !entries_.empty(), out_);
    out_.plain_key(format::kKinds);
    out_.plain_string(kinds_);
    if (has_kernels) write_kernels();
    if (!entries_.empty()) write_entries();
    out_.end_map();
    out_.end_map();
  }

  /// [[row, min_ns, max_ns, p50_ns, p99_ns, {attributes}], ...], rows counted as they are written.
  /// Attributes that an earlier entry has stand as the number of that entry.
  void write_kernels() {
    std::vector<const KernelDetail*> details;
    for (const KernelDetail& detail : tree_.details) details.push_back(&detail);
    const auto place = [this](const KernelDetail* detail) { return places_[detail->row]; };
    std::ranges::sort(details, {}, place);
    std::unordered_map<std::string, size_t> written;  // attributes -> entry
    out_.plain_key(format::kKernels);
    out_.begin_list(details.size());
    for (size_t entry = 0; entry < details.size(); ++entry) {
      const KernelDetail* detail = details[entry];
      out_.begin_list(6);
      out_.integer(place(detail));
      for (const int64_t time_ns :
           {detail->min_ns, detail->max_ns, detail->p50_ns, detail->p99_ns}) {
        out_.integer(time_ns);
      }
      const Value attributes{detail->attributes};
      const auto [first, is_new] = written.try_emplace(
          json_text([&](JsonEncoder& out) { write_value(attributes, out); }), entry);
      if (is_new || detail->attributes.empty()) {
        write_value(attributes, out_);
      } else {
        out_.integer(first->second);
      }
      out_.end_list();
    }
    out_.end_list();
  }

  /// [[row, entries], ...], rows counted as they are written.
  void write_entries() {
    out_.plain_key(format::kEntries);
    out_.begin_list(entries_.size());
    for (const auto& [row, count] : entries_) {
      out_.begin_list(2);
      out_.integer(static_cast<int64_t>(row));
      out_.integer(static_cast<int64_t>(count));
      out_.end_list();
    }
    out_.end_list();
  }

  const CallTree& tree_;
  Encoder out_;
  std::string kinds_;
  std::vector<std::pair<size_t, uint64_t>>
      entries_;                   // of scopes: which node of the file, how often
  std::vector<uint32_t> places_;  // row -> which node of the file it is; filled for details only
  uint64_t non_finite_count_ = 0;
};

}  // namespace

void write_hatchet(const CallTree& tree, ByteSink& out) {
  TreeWriter<JsonEncoder>(tree, out).write();
}

void write_hatchet_msgpack(const CallTree& tree, ByteSink& out) {
  TreeWriter<MsgpackEncoder>(tree, out).write();
}

}  // namespace proton
