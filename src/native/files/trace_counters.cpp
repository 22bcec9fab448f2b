#include "files/trace_counters.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <variant>

namespace proton {

namespace {

/// Turns the values of a counter into running sums; integers become doubles where they overflow.
void add_up(std::vector<CounterSample>& samples) {
  for (size_t i = 1; i < samples.size(); ++i) {
    const MetricValue& before = samples[i - 1].total;
    MetricValue& value = samples[i].total;
    const auto* old_whole = std::get_if<int64_t>(&before);
    const auto* new_whole = std::get_if<int64_t>(&value);
    int64_t sum;
    if (old_whole != nullptr && new_whole != nullptr &&
        !__builtin_add_overflow(*old_whole, *new_whole, &sum)) {
      value = sum;
      continue;
    }
    const auto as_double = [](const MetricValue& number) {
      const auto* whole = std::get_if<int64_t>(&number);
      return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(number);
    };
    value = as_double(before) + as_double(value);
  }
}

bool is_countable(const MetricValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return std::isfinite(*number);
  return std::holds_alternative<int64_t>(value);
}

}  // namespace

std::vector<Counter> count_metrics(const TraceLog& log) {
  std::vector<Counter> counters;
  std::unordered_map<std::string_view, size_t> known;
  for (const TraceSpan& span : log.spans) {
    for (uint32_t i = 0; i < span.metric_count; ++i) {
      const Metric& metric = log.metrics[span.first_metric + i];
      if (!is_countable(metric.value)) continue;
      const auto [found, is_new] = known.try_emplace(*metric.key, counters.size());
      if (is_new) counters.push_back({metric.key, {}});
      counters[found->second].samples.push_back({span.end_ns, metric.value});
    }
  }
  for (Counter& counter : counters) {
    std::ranges::stable_sort(counter.samples, {}, &CounterSample::time_ns);
    const auto kind = log.summary.metric_kinds.find(*counter.name);
    const bool is_property =
        kind != log.summary.metric_kinds.end() && kind->second == MetricKind::kProperty;
    if (!is_property) add_up(counter.samples);
  }
  return counters;
}

}  // namespace proton
