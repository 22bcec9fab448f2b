/// Brings every event of finished work to its sinks, within a limit, and counts what never came.
/// Its lock is held while CUPTI flushes, by a thread that does nothing else, so that buffers which
/// one flush took are back when another ends. Callers hold the hub's control lock, but for `sweep`.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "backends/common/timed_flush.h"
#include "backends/common/unrecorded_launches.h"
#include "backends/cupti/activity_reader.h"
#include "backends/cupti/driver/contexts.h"
#include "backends/cupti/driver/subscription.h"
#include "backends/cupti/sampling/sampled_sinks.h"

namespace proton::cupti {

class Flusher {
 public:
  struct Options {
    bool synchronize = false;  // first waits for work under way
    bool is_forced = false;    // also buffers with records of work that has not ended
    TimedFlush::Problems problems = TimedFlush::Problems::kKept;
  };

  Flusher(Subscription& subscription, ContextList& contexts, LaunchTable& launches,
          SinkTable& sinks, SampledSinks& sampled_sinks, ValueDispatch& values,
          ActivityReader& reader)
      : subscription_(subscription),
        contexts_(contexts),
        launches_(launches),
        sinks_(sinks),
        sampled_sinks_(sampled_sinks),
        values_(values),
        reader_(reader) {}

  /// `synchronize` first waits for work under way. False: that took longer than the limit.
  bool flush(int64_t limit_ns, bool synchronize);
  /// Sessions come and go between replays, not in the middle of one: each value in a graph is read
  /// by the kernel while a session is active, and must meet the record of its own replay.
  void finish_captured_values();
  /// Has CUPTI hand over its records, no more; they come back on a thread of its own. False: it
  /// took longer than the limit, and goes on by itself.
  bool hand_over(int64_t limit_ns, const Options& options);

  /// On this thread, without a limit: what CUPTI and the values' ring have ready.
  void sweep();
  /// Has CUPTI let go of the driver; see Subscription.
  bool let_go();

  /// What went wrong since the last call, as lines for the user.
  std::vector<std::string> take_problems() { return timed_.take_problems(); }
  void reset_after_fork();

 private:
  void count_unrecorded(const LaunchMoment& before, int64_t until_ns);

  Subscription& subscription_;
  ContextList& contexts_;
  LaunchTable& launches_;
  SinkTable& sinks_;
  SampledSinks& sampled_sinks_;
  ValueDispatch& values_;
  ActivityReader& reader_;
  std::mutex mutex_;
  TimedFlush timed_;
};

}  // namespace proton::cupti
