/// Metric values that are tensors on a device: each is read by a kernel of ours at its place in the
/// stream, and booked when it has arrived. Part of a captured graph, it is read at every replay;
/// the kernel's records then tell which replay each value is of. Any thread; `mutex_` is taken
/// after all locks of the hub and before those of sinks.
#pragma once

#include <deque>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "backends/common/launch_table.h"
#include "backends/cupti/value_readers.h"
#include "model/device_value.h"

namespace proton::cupti {

/// One run of the kernel in a graph, as CUPTI recorded it.
struct ReplayedRead {
  CorrelationId correlation = 0;
  ContextId shadow = kUnknownContext;  // of the replay
  ContextId python = kUnknownContext;
  int64_t start_ns = 0;
  uint64_t lane = 0;
};

/// A value on its way to sinks.
struct ArrivedValue {
  ValueId id;
  ValuePlace place;
  uint32_t device_id;
  MetricValue value;
  std::vector<ValueTarget> targets;  // of the call; captured: whoever wants the replay gets it
  bool is_captured;
  bool has_replay;  // else nobody knows which
  ReplayedRead replay;
};

/// What is known to be over: what has not arrived of it never will.
struct FinishedReads {
  static constexpr int64_t kNoReplay = INT64_MIN;

  ValueId until = 0;                      // reads up to this one, with all their records
  int64_t replays_before_ns = kNoReplay;  // every replay that began before is here
};

/// What went missing.
struct LostValues {
  uint64_t dropped = 0;  // the ring had no room
  uint64_t bad = 0;      // no finite number, or too large for its type
};

class MetricValues {
 public:
  /// The longest list.
  static constexpr uint32_t kCountLimit = 4096;

  MetricValues(const Library& library, LaunchTable& launches)
      : library_(library), launches_(launches) {}

  /// Puts a read into the stream; `is_captured` tells whether that became part of a graph. Throws
  /// Error. Until `commit` or `drop` the value waits.
  ValueId read(const ValueSource& source, bool& is_captured);
  void commit(ValueId id, const ValuePlace& place, std::span<const ValueTarget> targets);
  void drop(ValueId id);

  /// Graph nodes that refer to a captured read come and go.
  void add_node(ValueId id);
  void remove_node(ValueId id);
  /// A replay has run it.
  void add_replay(ValueId id, const ReplayedRead& replay);

  /// The newest read so far.
  ValueId newest();
  /// Appends what has arrived.
  void collect(const FinishedReads& finished, std::vector<ArrivedValue>& arrived, LostValues& lost);
  /// Whether the value of a launch or replay up to this one is still to come.
  bool is_waiting(CorrelationId until);

  /// Captured values are read while open.
  void set_open(bool is_open);
  bool has_captured();
  /// For contexts that have no buffer yet; 0: as we like. The next power of two within limits.
  void set_buffer_bytes(size_t bytes);
  size_t buffer_bytes();

  void forget(const EventSink& sink);
  /// No session is left: nothing that was read before concerns anyone.
  void clear();
  size_t size();
  void reset_after_fork();

 private:
  struct Slot {
    ValueSource source;
    uint32_t device_id = 0;
    bool is_captured = false;
    bool is_committed = false;
    bool had_node = false;
    uint32_t node_count = 0;
    CorrelationId launch = 0;  // that reads it, outside graphs
    ValuePlace place;
    std::vector<ValueTarget> targets;
    std::deque<std::vector<uint64_t>> runs;  // in the order of the stream
    std::vector<ReplayedRead> replays;
  };

  /// So many replays wait for others that may have begun before them, until it is known that there
  /// are none.
  static constexpr size_t kReplayWindow = 256;

  void drain();
  void match(ValueId id, Slot& slot, const FinishedReads& finished,
             std::vector<ArrivedValue>& arrived, LostValues& lost);
  void match_replays(ValueId id, Slot& slot, const FinishedReads& finished,
                     std::vector<ArrivedValue>& arrived, LostValues& lost);
  void take_run(ValueId id, Slot& slot, const ReplayedRead* replay,
                std::vector<ArrivedValue>& arrived, LostValues& lost);
  static bool convert(const Slot& slot, const std::vector<uint64_t>& elements, MetricValue& value);

  const Library& library_;
  LaunchTable& launches_;
  std::mutex mutex_;
  ValueReaders readers_;
  std::unordered_map<ValueId, Slot> slots_;
  std::vector<ValueId> touched_;  // slots that may have something to tell
  std::vector<ValueRun> runs_;
  ValueId last_id_ = 0;
  uint64_t cells_issued_ = 0;  // of reads since the last drain
  uint64_t unexplained_ = 0;   // reads that found no room, and whose slots still wait
  /// Replays before this were all known when values were last collected: a run that is not here by
  /// now has found no room.
  int64_t known_before_ns_ = FinishedReads::kNoReplay;
};

}  // namespace proton::cupti
