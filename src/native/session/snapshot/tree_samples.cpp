// The samples of a tree: on the rows of kernels, and below these one row for each source line.
#include "session/snapshot/tree_builder.h"

namespace proton {

/// Below each kernel its source lines; what has no line stands on the kernel itself.
void TreeBuilder::add_samples() {
  SampleReport report(copy_.samples, {});
  const SampleKeys keys = add_sample_keys();
  report.divide(
      [&](NameId symbol, uint32_t device, const std::vector<uint32_t>& timed) {
        return contexts_of(timed, symbol, device);
      },
      [&](uint32_t row, LineId line, const SampleCounts& counts) {
        add_counts(row_of_line(report.lines(), row, line), keys, counts);
      });
  report.describe(tree_.summary);
}

std::vector<SampleContext> TreeBuilder::contexts_of(const std::vector<uint32_t>& timed,
                                                    NameId symbol, uint32_t device) {
  if (timed.empty()) return {untimed_context(symbol, device)};
  std::vector<SampleContext> contexts;
  std::unordered_map<uint32_t, size_t> index;
  for (const uint32_t number : timed) {
    const TimedSymbol& each = copy_.samples.timed[number];
    const uint32_t row = child(row_of_place(each.place), label_of_kernel(each.kernel));
    const auto [at, is_new] = index.try_emplace(row, contexts.size());
    if (is_new) contexts.push_back({row, 0, copy_.samples.is_timed_included[number]});
    contexts[at->second].time_ns += each.time_ns;
  }
  return contexts;
}

SampleContext TreeBuilder::untimed_context(NameId symbol, uint32_t device) {
  if (!copy_.samples.is_included(symbol)) return {0, 0, false};
  const uint32_t label = add_label(copy_.samples.kernel_names[symbol], FrameKind::kKernel);
  const uint32_t row = child(child(0, label_of_text(kSampledUntimed)), label);
  add_metric(row, add_key("device_id"), MetricKind::kProperty, copy_.samples.devices[device].id);
  add_metric(row, add_key("device_type"), MetricKind::kProperty,
             copy_.samples.devices[device].type);
  return {row, 0, true};
}

TreeBuilder::SampleKeys TreeBuilder::add_sample_keys() {
  SampleKeys keys{
      add_key("num_samples"), add_key("num_stalled_samples"), add_key("num_latency_samples"), {}};
  for (const std::string& reason : copy_.samples.reasons) {
    if (reason == kIssued) keys.issued = keys.reasons.size();
    keys.reasons.push_back(add_key(sample_metric(reason)));
  }
  return keys;
}

void TreeBuilder::add_counts(uint32_t row, const SampleKeys& keys, const SampleCounts& counts) {
  const auto add = [&](uint32_t key, uint64_t count) {
    if (!std::exchange(keys_[key].is_on_root, true)) {
      add_metric(0, key, MetricKind::kInclusive, int64_t{0});
    }
    add_metric(row, key, MetricKind::kInclusive, static_cast<int64_t>(count));
  };
  const uint64_t total = counts.total();
  add(keys.samples, total);
  add(keys.stalled, keys.issued == SIZE_MAX ? total : total - counts.samples(keys.issued));
  add(keys.latency, counts.total_latency());
  for (size_t reason = 0; reason < keys.reasons.size(); ++reason) {
    if (counts.samples(reason) > 0) add(keys.reasons[reason], counts.samples(reason));
  }
}

uint32_t TreeBuilder::row_of_line(const SampleLines& lines, uint32_t kernel, LineId line) {
  if (line == kNoLine) return kernel;
  bool is_new;
  if (uint32_t* known = line_rows_.find_or_add(pair_key(kernel, line), is_new); !is_new) {
    return *known;
  }
  const uint32_t above = row_of_line(lines, kernel, lines.all()[line].parent);
  std::string name = lines.name(line);
  auto label = line_labels_.find(name);
  if (label == line_labels_.end()) {
    label = line_labels_.emplace(name, add_label(name, FrameKind::kSample)).first;
  }
  const uint32_t row = child(above, label->second);
  *line_rows_.find_or_add(pair_key(kernel, line), is_new) = row;
  return row;
}

}  // namespace proton
