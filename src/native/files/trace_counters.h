/// The metrics of a log as counters: what had been booked of each at every moment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace_log.h"

namespace proton {

struct CounterSample {
  int64_t time_ns;    // host clock: when the span that carried the metric ended
  MetricValue total;  // int64_t or double: the sum up to now; of a property the value itself
};

struct Counter {
  const std::string* name;
  std::vector<CounterSample> samples;  // by time
};

/// One counter a metric, in the order in which they first appear. Lists, labels and numbers that
/// are not finite are left out.
std::vector<Counter> count_metrics(const TraceLog& log);

}  // namespace proton
