// What a session keeps of ranges that libraries mark: spans with their category, sums of payloads,
// counts of marks. Host path (GIL).
#include <algorithm>

#include "model/losses.h"
#include "session/scopes/process.h"
#include "session/session.h"

namespace proton {
namespace {

MetricValue value_of(RangePayload::Kind kind, int64_t integer, double real) {
  return kind == RangePayload::Kind::kReal ? MetricValue(real) : MetricValue(integer);
}

MetricId payload_metric() { return process.metric_names.intern("payload"); }

}  // namespace

PathId Session::path_of_range(const OpenRange& range) const {
  if (context_ == ContextKind::kShadow || range.frames == kNoContext) {
    return process.ranges.path(range.context);
  }
  return process.paths.child(process.ranges.path(range.frames),
                             process.paths.frame(process.ranges.path(range.context)));
}

HostSpan Session::span_of_range(const RangeSpan& span) const {
  HostSpan result{};
  result.kind = span.is_mark ? SpanKind::kMark : SpanKind::kScope;
  result.path = path_of_range(span.range);
  result.thread_number = span.thread_number;
  result.start_ns = std::max(span.range.start_ns, activated_ns_);
  result.end_ns = std::max(span.end_ns, result.start_ns);
  result.scope_id = ++process.next_scope_id;
  result.category = span.range.category;
  return result;
}

void Session::book_range(const RangeSpan& span) {
  if (data_ != DataKind::kTrace) return;
  HostSpan stored = span_of_range(span);
  see(stored.path);
  const RangePayload& payload = span.range.payload;
  if (payload.kind != RangePayload::Kind::kNone) {
    if (!span.is_mark) stored.kind = SpanKind::kMetric;
    stored.first_metric = static_cast<uint32_t>(current_->span_metrics.size());
    stored.metric_count = 1;
    current_->span_metrics.push_back(
        {payload_metric(), value_of(payload.kind, payload.integer, payload.real)});
  }
  current_->spans.push_back(stored);
}

void Session::book_range_sum(const RangeSum& sum) {
  if (data_ != DataKind::kTree) return;
  const bool has_frames = context_ == ContextKind::kPython && sum.frames != kNoContext;
  const PathId path = process.ranges.path(has_frames ? sum.frames : sum.context);
  see(path);
  ++current_->host_change_count;
  const auto add = [&](MetricId metric, const MetricValue& value) {
    const MetricKind kind = process.metric_names.name(metric).kind;
    const Booking booking = current_->scope_metrics.add(path, metric, kind, value);
    if (booking == Booking::kBooked) return;
    count_loss(booking == Booking::kOverflow ? losses::kMetricOverflow : losses::kMetricConflict);
  };
  if (sum.is_mark) add(process.metric_names.intern("marks"), sum.count);
  if (sum.kind != RangePayload::Kind::kNone) {
    add(payload_metric(), value_of(sum.kind, sum.integer, sum.real));
  }
}

}  // namespace proton
