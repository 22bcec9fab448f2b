// Trace logs as chrome trace JSON.
#include "files/writers.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/short_name.h"
#include "files/format.h"
#include "files/json_encoder.h"
#include "files/span_tables.h"
#include "files/summary_writer.h"
#include "files/trace_layout.h"

namespace proton {

namespace {

/// A value as it stands in the name of a metric span: "1.000000", "3", "[1, 2]".
std::string show_short(const MetricValue& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::string>) {
          return held;
        } else if constexpr (std::is_arithmetic_v<Held>) {
          return std::to_string(held);
        } else {
          std::string text = "[";
          for (const auto number : held) {
            if (text.size() > 1) text += ", ";
            text += std::to_string(number);
          }
          return text + "]";
        }
      },
      value);
}

/// A metric's value as text that reads back exactly: as known traces have it ("1.000000") where
/// that does, else JSON; a label stands as it is.
std::string show_exact(const MetricValue& value) {
  if (const auto* label = std::get_if<std::string>(&value)) return *label;
  if (const auto* number = std::get_if<double>(&value)) {
    constexpr double kMostDigits = 1e15;
    std::string known = std::fabs(*number) < kMostDigits ? std::to_string(*number) : "";
    if (!known.empty() && std::strtod(known.c_str(), nullptr) == *number) return known;
  }
  return json_text([&](JsonEncoder& out) { write_metric_value(value, out); });
}

/// True for spans of the host: the others have their metrics as numbers.
bool has_scope_id(SpanKind kind) {
  return kind == SpanKind::kScope || kind == SpanKind::kMetric || kind == SpanKind::kMark;
}

class TraceWriter {
 public:
  TraceWriter(const TraceLog& log, ByteSink& sink)
      : log_(log), out_(sink), rows_(assign_lane_rows(log)), flows_(log), tables_(log) {}

  void write() {
    out_.begin_map(0);
    out_.pair(format::kDisplayTimeUnit,
              has_lane(LaneKind::kWarp) ? format::kNanoseconds : format::kMicroseconds);
    if (!log_.spans.empty()) {
      out_.pair(format::kBaseTime, log_.base_unix_ns);
    }
    out_.plain_key(format::kTraceEvents);
    out_.begin_list(0);
    if (has_device_lane()) write_lane_names();
    for (const uint32_t index : ordered_spans()) write_span(log_.spans[index]);
    for (const Counter& counter : count_metrics(log_)) write_counter(counter);
    out_.end_list();
    write_summary();
    out_.end_map();
    out_.flush();
  }

 private:
  bool has_lane(LaneKind kind) const {
    return std::ranges::any_of(log_.lanes, [kind](const auto& lane) { return lane.kind == kind; });
  }

  /// Known traces name their rows only where a device worked.
  bool has_device_lane() const {
    return std::ranges::any_of(log_.spans, [this](const TraceSpan& span) {
      return log_.lanes[span.lane].kind != LaneKind::kHost;
    });
  }

  std::vector<uint32_t> ordered_spans() const {
    std::vector<uint32_t> order(log_.spans.size());
    std::iota(order.begin(), order.end(), 0);
    sort_for_nesting(log_, order);
    return order;
  }

  void write_lane_names() {
    const LaneRow whole_process{};
    write_name_events("process", whole_process, format::kProcessName);
    for (const LaneRow& row : rows_) {
      if (!row.process.empty()) continue;  // its ids are its names
      write_name_events("thread", row, row.name);
    }
  }

  void begin_metadata_event(std::string_view name, const LaneRow& row) {
    out_.begin_map(0);
    out_.pair("ph", "M");
    out_.pair("name", name);
    write_place(row);
    out_.plain_key("args");
    out_.begin_map(0);
  }

  void end_metadata_event() {
    out_.end_map();
    out_.end_map();
  }

  /// What `what` (a process or a thread) is called, and where it stands.
  void write_name_events(const std::string& what, const LaneRow& row, std::string_view name) {
    begin_metadata_event(what + "_name", row);
    out_.plain_key("name");
    out_.string(name);
    end_metadata_event();
    begin_metadata_event(what + "_sort_index", row);
    out_.pair("sort_index", row.sort_index);
    end_metadata_event();
  }

  void write_place(const LaneRow& row) {
    out_.plain_key("pid");
    row.process.empty() ? out_.integer(format::kProcessId) : out_.string(row.process);
    out_.plain_key("tid");
    row.process.empty() ? out_.integer(row.thread_id) : out_.string(row.name);
  }

  void write_time(std::string_view key, int64_t time_ns) {
    out_.plain_key(key);
    out_.microseconds(time_ns);
  }

  std::span<const Metric> metrics_of(const TraceSpan& span) const {
    return std::span(log_.metrics).subspan(span.first_metric, span.metric_count);
  }

  void write_span(const TraceSpan& span) {
    int64_t duration_ns = span.end_ns - span.start_ns;
    if (duration_ns < 0) {
      ++negative_count_;
      duration_ns = 0;
    }
    out_.begin_map(0);
    const bool is_moment = span.kind == SpanKind::kMark;
    out_.pair("ph", is_moment ? "i" : "X");
    out_.plain_key("cat");
    if (span.kind == SpanKind::kRegion) {
      out_.string(log_.lanes[span.lane].inside.kernel);  // as known traces have it
    } else {
      out_.plain_string(category_of(span.kind));
    }
    out_.plain_key("name");
    out_.string(title_of(span));
    write_place(rows_[span.lane]);
    write_time("ts", span.start_ns - log_.base_host_ns);
    if (is_moment) {
      out_.pair("s", "t");  // drawn on its thread alone
    } else {
      write_time("dur", duration_ns);
    }
    if (has_row(span.kind)) tables_.add(span);
    write_arguments(span);
    if (flows_.contains(span)) write_flow(span);
    out_.end_map();
  }

  void write_arguments(const TraceSpan& span) {
    out_.plain_key("args");
    out_.begin_map(0);
    write_call_stack(span);
    if (has_scope_id(span.kind) && log_.lanes[span.lane].kind != LaneKind::kGraph) {
      out_.pair(format::kScopeId, span.scope_id);
    }
    write_span_metrics(span);
    if (!has_row(span.kind)) {
      for (const auto& [key, value] : log_.attributes[span.attributes]) {
        out_.key(key);
        write_value(value, out_);
      }
    }
    out_.end_map();
  }

  /// The span's own name; a launch is called after the driver's function, as its arrow leads to
  /// what it launched. A metric span's name tells its values as well.
  std::string_view title_of(const TraceSpan& span) {
    const std::string& name = *log_.paths[span.path].name;
    if (span.kind == SpanKind::kLaunch) {
      if (const std::string* function = function_of(span)) return *function;
    }
    if (span.kind == SpanKind::kKernel || span.kind == SpanKind::kLaunch) {
      const auto [known, is_new] = short_names_.try_emplace(&name);
      if (is_new) known->second = short_name(name);  // the call stack has the symbol
      return known->second;
    }
    if (span.kind != SpanKind::kMetric || metrics_of(span).empty()) return name;
    title_ = name + ":";
    const char* separator = " <";
    for (const Metric& metric : metrics_of(span)) {
      if (!is_finite(metric.value)) continue;
      title_.append(separator).append(*metric.key).append(", ").append(show_short(metric.value));
      title_ += '>';
      separator = ", <";
    }
    return title_;
  }

  const std::string* function_of(const TraceSpan& span) const {
    for (const auto& [key, value] : log_.attributes[span.attributes]) {
      if (key == "function") return std::get_if<std::string>(&value.data);
    }
    return nullptr;
  }

  /// The names from the root down; the last of a launch is its title, as tables have its name.
  void write_call_stack(const TraceSpan& span) {
    stack_.clear();
    for (uint32_t row = span.path; row != 0; row = log_.paths[row].parent) stack_.push_back(row);
    out_.plain_key(format::kCallStack);
    out_.begin_list(0);
    out_.string(*log_.paths[0].name);
    for (size_t i = stack_.size(); i-- > 0;) {
      const bool is_title = i == 0 && span.kind == SpanKind::kLaunch;
      out_.string(is_title ? title_of(span) : std::string_view(*log_.paths[stack_[i]].name));
    }
    out_.end_list();
  }

  void write_span_metrics(const TraceSpan& span) {
    const std::span metrics = metrics_of(span);
    if (metrics.empty()) return;
    out_.plain_key(format::kMetrics);
    if (!has_scope_id(span.kind)) {
      non_finite_count_ += write_metrics(metrics, out_);
      return;
    }
    out_.begin_map(0);
    for (const Metric& metric : metrics) {
      if (!is_finite(metric.value)) {
        ++non_finite_count_;
        continue;
      }
      out_.key(*metric.key);
      out_.string(show_exact(metric.value));
    }
    out_.end_map();
  }

  /// One end of an arrow, on the span itself: events of its own would be as large as the span.
  void write_flow(const TraceSpan& span) {
    out_.pair("bind_id", span.flow_id);
    out_.plain_key(span.is_flow_source ? "flow_out" : "flow_in");
    out_.boolean(true);
  }

  void write_counter(const Counter& counter) {
    for (const CounterSample& sample : counter.samples) {
      out_.begin_map(0);
      out_.pair("ph", "C");
      out_.plain_key("name");
      out_.string(*counter.name);
      write_place({});
      write_time("ts", sample.time_ns - log_.base_host_ns);
      out_.plain_key("args");
      out_.begin_map(0);
      out_.plain_key("value");
      write_metric_value(sample.total, out_);
      out_.end_map();
      out_.end_map();
    }
  }

  void write_summary() {
    const WriteLosses found = {{format::kNonFiniteMetric, non_finite_count_},
                               {format::kNegativeDuration, negative_count_},
                               {format::kInvalidText, out_.invalid_text_count()}};
    out_.plain_key(format::kProton);
    begin_summary(log_.summary, found, tables_.is_empty() ? 1 : 2, out_);
    out_.plain_key(format::kDevices);
    write_device_map(log_.summary.devices, out_);
    if (!tables_.is_empty()) {
      out_.plain_key(format::kSpanTables);
      tables_.write(out_);
    }
    out_.end_map();
  }

  const TraceLog& log_;
  JsonEncoder out_;
  std::vector<LaneRow> rows_;
  PairedFlows flows_;
  std::vector<uint32_t> stack_;  // reused for every call stack
  std::string title_;            // reused for every metric span
  SpanTables tables_;
  std::unordered_map<const std::string*, std::string> short_names_;
  uint64_t non_finite_count_ = 0;
  uint64_t negative_count_ = 0;
};

}  // namespace

void write_chrome_trace(const TraceLog& log, ByteSink& out) { TraceWriter(log, out).write(); }

}  // namespace proton
