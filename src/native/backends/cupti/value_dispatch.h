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
  /// A record of a whole graph: it tells the same of all values that the graph reads.
  void add_replayed_graph(const KernelEvent& event);
  /// Before CUPTI is told to hand over what it has: the moment before which every replay began that
  /// is known afterwards.
  int64_t begin_flush();
  /// Hands over what has arrived.
  void send(const FinishedReads& finished);

 private:
  /// A moment, and the newest launch of then: what has a later one began later.
  struct Mark {
    int64_t time_ns = 0;
    CorrelationId newest = 0;
    uint32_t generation = 0;  // of launches; 0: there is no mark
  };

  ReplayedRead replay_of(const KernelEvent& event);
  void send_value(const ArrivedValue& arrived);

  LaunchTable& launches_;
  SinkTable& sinks_;
  GraphTable& graphs_;
  MetricValues values_;
  Mark mark_;
  CorrelationId read_until_ = 0;  // launches up to this one were read when the mark was set
  std::vector<ArrivedValue> arrived_;
};

}  // namespace proton::cupti
