// From a copied phase to a CallTree; takes no lock.
#include <algorithm>
#include <cmath>
#include <utility>

#include "session/samples/sample_report.h"
#include "session/snapshot/kernel_details.h"
#include "session/snapshot/phase_copy.h"
#include "session/snapshot/tree_rows.h"

namespace proton {
namespace {

/// The samples of a tree: on the rows of kernels, and below these one row for each source line.
class TreeSamples {
 public:
  TreeSamples(const SampleCopy& samples, TreeRows& rows, TreeMetrics& metrics)
      : samples_(samples), rows_(rows), metrics_(metrics) {}

  /// What has no line stands on the kernel itself.
  void add(Summary& summary) {
    SampleReport report(samples_, {});
    add_keys();
    report.divide(
        [&](NameId symbol, uint32_t device, const std::vector<uint32_t>& timed) {
          return contexts_of(timed, symbol, device);
        },
        [&](uint32_t row, LineId line, const SampleCounts& counts) {
          add_counts(row_of_line(report.lines(), row, line), counts);
        });
    report.describe(summary);
  }

 private:
  std::vector<SampleContext> contexts_of(const std::vector<uint32_t>& timed, NameId symbol,
                                         uint32_t device) {
    if (timed.empty()) return {untimed_context(symbol, device)};
    std::vector<SampleContext> contexts;
    std::unordered_map<uint32_t, size_t> index;
    for (const uint32_t number : timed) {
      const TimedSymbol& run = samples_.timed[number];
      const uint32_t row =
          rows_.child(rows_.row_of_place(run.place), rows_.label_of_kernel(run.kernel));
      const auto [at, is_new] = index.try_emplace(row, contexts.size());
      if (is_new) contexts.push_back({row, 0, samples_.is_timed_included[number]});
      contexts[at->second].time_ns += run.time_ns;
    }
    return contexts;
  }

  SampleContext untimed_context(NameId symbol, uint32_t device) {
    if (!samples_.is_included(symbol)) return {0, 0, false};
    const uint32_t label = rows_.add_label(samples_.kernel_names[symbol], FrameKind::kKernel);
    const uint32_t row = rows_.child(rows_.child(0, rows_.label_of_text(kSampledUntimed)), label);
    metrics_.add_device(row, samples_.devices[device].seen);
    return {row, 0, true};
  }

  void add_keys() {
    samples_key_ = metrics_.add_key("num_samples");
    stalled_key_ = metrics_.add_key("num_stalled_samples");
    latency_key_ = metrics_.add_key("num_latency_samples");
    for (const std::string& reason : samples_.reasons) {
      if (reason == kIssued) issued_ = reason_keys_.size();
      reason_keys_.push_back(metrics_.add_key(sample_metric(reason)));
    }
  }

  void add_counts(uint32_t row, const SampleCounts& counts) {
    const auto add = [&](uint32_t key, uint64_t count) {
      metrics_.add_sum(row, key, static_cast<int64_t>(count));
    };
    const uint64_t total = counts.total();
    add(samples_key_, total);
    add(stalled_key_, issued_ == SIZE_MAX ? total : total - counts.samples(issued_));
    add(latency_key_, counts.total_latency());
    for (size_t reason = 0; reason < reason_keys_.size(); ++reason) {
      if (counts.samples(reason) > 0) add(reason_keys_[reason], counts.samples(reason));
    }
  }

  uint32_t row_of_line(const SampleLines& lines, uint32_t kernel, LineId line) {
    if (line == kNoLine) return kernel;
    bool is_new;
    if (uint32_t* known = line_rows_.find_or_add(pair_key(kernel, line), is_new); !is_new) {
      return *known;
    }
    const uint32_t above = row_of_line(lines, kernel, lines.all()[line].parent);
    std::string name = lines.name(line);
    auto label = line_labels_.find(name);
    if (label == line_labels_.end()) {
      label = line_labels_.emplace(name, rows_.add_label(name, FrameKind::kSample)).first;
    }
    const uint32_t row = rows_.child(above, label->second);
    *line_rows_.find_or_add(pair_key(kernel, line), is_new) = row;
    return row;
  }

  const SampleCopy& samples_;
  TreeRows& rows_;
  TreeMetrics& metrics_;
  std::unordered_map<std::string, uint32_t> line_labels_;
  KeyIndex line_rows_;  // (row of a kernel, line) -> row
  uint32_t samples_key_ = 0;
  uint32_t stalled_key_ = 0;
  uint32_t latency_key_ = 0;
  std::vector<uint32_t> reason_keys_;
  size_t issued_ = SIZE_MAX;  // the reason that is none
};

class TreeBuilder {
 public:
  explicit TreeBuilder(PhaseCopy& copy) : copy_(copy), rows_(copy, tree_), metrics_(copy, tree_) {
    kernel_rows_.reserve(copy.rows.size());
    tree_.summary = std::move(copy.summary);
  }

  CallTree build() {
    add_rows();
    for (const MetricCell& cell : copy_.scope_metrics) {
      metrics_.add_sample(rows_.row_of(cell.row), cell.metric, cell.value);
    }
    for (const MetricCell& cell : copy_.kernel_metrics) {
      metrics_.add_kernel_sample(kernel_rows_[cell.row], cell.metric, cell.value);
    }
    for (const auto* cells : {&copy_.replay_metrics, &copy_.device_values}) {
      for (const MetricCell& cell : *cells) {
        metrics_.add_sample(rows_.row_of_place(cell.row), cell.metric, cell.value);
      }
    }
    add_reads();
    add_regions();
    if (copy_.samples.is_wanted()) {
      TreeSamples(copy_.samples, rows_, metrics_).add(tree_.summary);
    }
    metrics_.place();
    tree_.details = details_.take();
    return std::move(tree_);
  }

 private:
  /// Scopes and kernels in the order of their first use.
  void add_rows() {
    const uint32_t time_key = metrics_.add_key(kTimeMetric);
    const uint32_t count_key = metrics_.add_key(kCountMetric);
    if (!copy_.rows.empty()) {
      metrics_.add(0, count_key, MetricKind::kInclusive, int64_t{0});
      metrics_.add(0, time_key, MetricKind::kInclusive, int64_t{0});
    }
    const auto& seen = copy_.seen;
    size_t next_path = 0;
    for (KernelRow& kernel : copy_.rows) {
      for (; next_path < seen.size() && seen[next_path].first_use < kernel.first_use; ++next_path) {
        rows_.add(seen[next_path]);
      }
      const uint32_t row =
          rows_.child(rows_.row_of_place(kernel.place), rows_.label_of_kernel(kernel.kernel));
      const KernelEntry& entry = copy_.kernel(kernel.kernel);
      kernel_rows_.push_back(row);
      if (kernel.count > 0) {  // else only its regions are known
        metrics_.add(row, time_key, MetricKind::kInclusive, kernel.time_ns);
        metrics_.add(row, count_key, MetricKind::kInclusive, kernel.count);
      }
      metrics_.add_device(row, copy_.device(entry.device));
      if (entry.kind == EventKind::kCopy) {
        metrics_.add(row, metrics_.add_key("bytes"), MetricKind::kInclusive, kernel.bytes);
      }
      if (kernel.count == 0) continue;
      const auto& limits = copy_.limits[entry.device];
      details_.add(row, kernel, limits.has_value() ? &*limits : nullptr);
    }
    for (; next_path < seen.size(); ++next_path) rows_.add(seen[next_path]);
  }

  /// Kernels of ours are none of the program's: they have no time and no device.
  void add_reads() {
    if (copy_.reads.empty()) return;
    const uint32_t label = rows_.label_of_text(kValueRead);
    const uint32_t count_key = metrics_.add_key(kCountMetric);
    for (const ReadRow& read : copy_.reads) {
      const uint32_t row = rows_.child(rows_.row_of_place(read.owner.place), label);
      metrics_.add_sum(row, count_key, read.count);
    }
  }

  /// Regions that instrumented kernels recorded, below their kernels.
  void add_regions() {
    if (copy_.regions.empty()) return;
    const uint32_t cycles_key = metrics_.add_key("cycles");
    const uint32_t normalized_key = metrics_.add_key("normalized_cycles");
    const uint32_t time_key = metrics_.add_key("nanoseconds (ns)");
    metrics_.add(0, cycles_key, MetricKind::kInclusive, int64_t{0});
    metrics_.add(0, normalized_key, MetricKind::kInclusive, 0.0);
    std::vector<uint32_t> region_rows;
    region_rows.reserve(copy_.regions.size());
    for (const RegionRow& region : copy_.regions) {
      const uint32_t above =
          region.parent == kNoRegion ? kernel_rows_[region.kernel_row] : region_rows[region.parent];
      const uint32_t row = rows_.child(above, rows_.label_of_text(copy_.kernel_name(region.name)));
      region_rows.push_back(row);
      metrics_.add(row, cycles_key, MetricKind::kInclusive,
                   int64_t{std::llround(std::min(region.cycles, 1e18))});
      metrics_.add(row, normalized_key, MetricKind::kInclusive, region.normalized_cycles);
      if (region.time_ns > 0) {
        metrics_.add(row, time_key, MetricKind::kInclusive, region.time_ns);
      }
      const KernelEntry& kernel = copy_.kernel(copy_.rows[region.kernel_row].kernel);
      metrics_.add_device(row, copy_.device(kernel.device));
    }
  }

  PhaseCopy& copy_;
  CallTree tree_;
  TreeRows rows_;
  TreeMetrics metrics_;
  std::vector<uint32_t> kernel_rows_;  // by row of the phase
  KernelDetails details_;
};

}  // namespace

CallTree build_tree(PhaseCopy copy) { return TreeBuilder(copy).build(); }

}  // namespace proton
