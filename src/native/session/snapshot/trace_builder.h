/// A phase of a trace session as a TraceLog: all of it, or what came since the chunk before. Under
/// the GIL; the log is built in place, with the lock of the booking on devices held.
#pragma once

#include <cstddef>
#include <unordered_map>

#include "model/event.h"
#include "model/trace_log.h"
#include "session/booking/session.h"
#include "session/snapshot/trace_paths.h"

namespace proton {

/// How far a trace's journal has come: what later chunks need of earlier ones.
struct TraceCursor {
  static constexpr size_t kUnclaimedLimit = size_t{1} << 20;

  // How many of the phase's events are in chunks already.
  size_t span_count = 0;
  size_t launch_count = 0;
  size_t kernel_count = 0;
  size_t recorded_count = 0;
  bool is_at_end = false;
  TraceLanes lanes;  // they keep their numbers from chunk to chunk
  /// Launches whose kernels have not come -> their place among the phase's launches. They are
  /// written again beside their kernel, so that an arrow can join the two.
  std::unordered_map<CorrelationId, size_t> unclaimed;
};

/// Scopes that are open end now. Throws Error: no such phase, or a tree.
TraceLog build_trace(const Session& session, int phase, Value::Map header);
/// At most `limit` events of each kind; moves the cursor.
TraceLog build_new_trace(const Session& session, int phase, Value::Map header, TraceCursor& cursor,
                         size_t limit);

}  // namespace proton
