/// Metric values that a kernel of ours has read, from the ring to the sinks. Callers hold the lock
/// of the sink table, but for those who read and commit values.
#pragma once

#include <span>
#include <vector>

#include "backends/common/sink_table.h"
#include "backends/cupti/graph_table.h"
#include "backends/cupti/metric_values.h"

namespace proton::cupti {

class ValueDispatch {
 public:
  ValueDispatch(const Library& library, LaunchTable& launches, SinkTable& sinks, GraphTable& graphs)
      : launches_(launches), sinks_(sinks), graphs_(graphs), values_(library, launches) {}

  // Without the lock, on any thread
  MetricValues& values() { return values_; }
  /// Where the value belongs; in a graph also by the kernel whose metric it is.
  void commit(ValueId id, const ValuePlace& place, std::span<const ValueTarget> targets);

  /// A record of our kernel: in a graph it tells which replay a value is of.
  void add_replayed_read(const KernelEvent& event);
  /// Hands over what has arrived. Reads up to `finished` are over, with all their records here; 0:
  /// nobody knows.
  void send(ValueId finished);

 private:
  void send_value(const ArrivedValue& arrived);

  LaunchTable& launches_;
  SinkTable& sinks_;
  GraphTable& graphs_;
  MetricValues values_;
  std::vector<ArrivedValue> arrived_;
};

}  // namespace proton::cupti
