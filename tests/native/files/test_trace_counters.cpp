/// Metrics of spans as counters.
#include "files/trace_layout.h"

#include <cmath>
#include <limits>

#include "check.h"
#include "trees.h"

using proton::count_metrics;
using proton::MetricKind;
using proton::SpanKind;
using proton::TraceLog;
using namespace proton::test;

TEST(a_counter_is_the_sum_up_to_each_moment) {
  const TraceLog log = log_of(SpanKind::kMetric, {{0, 30, {{"n", int64_t{4}}, {"x", 0.5}}},
                                                  {0, 10, {{"n", int64_t{1}}, {"x", 0.25}}}});
  const auto counters = count_metrics(log);
  CHECK_EQ(counters.size(), size_t{2});
  CHECK_EQ(*counters[0].name, std::string("n"));
  CHECK_EQ(counters[0].samples[0].time_ns, int64_t{10});
  CHECK(counters[0].samples[0].total == proton::MetricValue(int64_t{1}));
  CHECK(counters[0].samples[1].total == proton::MetricValue(int64_t{5}));
  CHECK(counters[1].samples[1].total == proton::MetricValue(0.75));
}

TEST(a_metric_with_one_sample_is_no_counter) {
  const TraceLog log =
      log_of(SpanKind::kMetric, {{0, 10, {{"n", int64_t{1}}, {"x", 0.5}}}, {0, 20, {{"x", 0.5}}}});
  const auto counters = count_metrics(log);
  CHECK_EQ(counters.size(), size_t{1});
  CHECK_EQ(*counters[0].name, std::string("x"));
}

TEST(a_property_counts_as_it_is) {
  TraceLog log = log_of(SpanKind::kMetric, {{0, 10, {{"loss", 2.0}}}, {0, 20, {{"loss", 1.0}}}});
  log.summary.metric_kinds["loss"] = MetricKind::kProperty;
  CHECK(count_metrics(log)[0].samples[1].total == proton::MetricValue(1.0));
}

TEST(a_sum_beyond_64_bits_goes_on_as_a_double) {
  const int64_t large = std::numeric_limits<int64_t>::max();
  const TraceLog log =
      log_of(SpanKind::kMetric,
             {{0, 10, {{"n", large}}}, {0, 20, {{"n", large}}}, {0, 30, {{"n", large}}}});
  const auto counters = count_metrics(log);
  CHECK(counters[0].samples[2].total == proton::MetricValue(3.0 * static_cast<double>(large)));
}

TEST(lists_labels_and_what_is_not_finite_do_not_count) {
  const TraceLog log = log_of(
      SpanKind::kMetric,
      {{0, 10, {{"v", std::vector<int64_t>{1}}, {"l", std::string("a")}, {"x", std::nan("")}}}});
  CHECK(count_metrics(log).empty());
}
