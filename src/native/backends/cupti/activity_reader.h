/// From a buffer that CUPTI has filled to the sinks: on CUPTI's own thread, or on one that flushes.
/// It reads under the lock of the sink table, one buffer at a time.
#pragma once

#include <cstdint>

#include "backends/common/event_batch.h"
#include "backends/common/sink_table.h"
#include "backends/cupti/driver/activities.h"
#include "backends/cupti/driver/buffers.h"
#include "backends/cupti/driver/library.h"
#include "backends/cupti/graph_table.h"
#include "backends/cupti/value_dispatch.h"

namespace proton::cupti {

struct ReaderStats {
  EventCounts events;
  uint64_t incomplete = 0;
  uint64_t dropped = 0;
  uint64_t buffers = 0;  // completed
  uint64_t buffer_bytes = 0;
  uint64_t names = 0;
  int64_t clock_offset_ns = 0;
  int64_t clock_residual_ns = 0;
};

class ActivityReader {
 public:
  ActivityReader(const Library& library, BufferPool& buffers, LaunchTable& launches,
                 SinkTable& sinks, GraphTable& graphs, ValueDispatch& values)
      : library_(library),
        buffers_(buffers),
        launches_(launches),
        sinks_(sinks),
        values_(values),
        batch_(launches, sinks, graphs) {}

  // Without the lock of the sink table
  void start_clock(const ClockPair& now);
  void update_clock(const ClockPair& now);
  /// Called by CUPTI, on any thread.
  void on_completed(Context context, uint32_t stream, uint8_t* buffer, size_t size,
                    size_t valid) noexcept;
  /// See ValueDispatch.
  int64_t begin_flush();
  /// After a flush, also where no buffer came back. `is_complete`: it waited for the GPU, and every
  /// record of work before it was read.
  void finish_flush(bool is_complete, const FinishedReads& finished);
  void count_dropped();
  /// Values that have arrived since.
  void send_values(const FinishedReads& finished);
  ReaderStats stats();

 private:
  void read_records(uint8_t* buffer, size_t valid);
  void count_incomplete(uint32_t correlation);
  void count_dropped_of(Context context, uint32_t stream);

  const Library& library_;
  BufferPool& buffers_;
  LaunchTable& launches_;
  SinkTable& sinks_;
  ValueDispatch& values_;
  NamePool names_;
  ClockMap clock_;
  ReaderStats stats_;
  EventBatch batch_;
};

}  // namespace proton::cupti
