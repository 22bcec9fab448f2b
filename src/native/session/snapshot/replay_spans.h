/// Replays of graphs by node, as spans on graph lanes: one a replay and stream, and below it the
/// captured scopes. Made of the kernels alone, which share the correlation id of their replay and
/// know where they were captured. Private to session/.
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace_log.h"
#include "session/booking/phase.h"

namespace proton {

class ReplaySpans {
 public:
  explicit ReplaySpans(TraceLog& log) : log_(log) {}

  /// A kernel or copy of a replay. `lane` is the graph lane of its stream; `scopes` are paths of
  /// the log, from the replay down to the innermost captured scope, and stay where they are.
  void add(uint32_t lane, const std::vector<uint32_t>& scopes, const KernelSpan& kernel) {
    runs_.push_back(
        {uint64_t{lane} << 32 | kernel.correlation, kernel.start_ns, kernel.end_ns, &scopes});
  }

  /// Puts the spans of all that was added into the log, once. A scope goes from the start of its
  /// first kernel to the end of its last one with no kernel of another scope between them.
  void finish();

 private:
  struct Run {
    uint64_t replay;  // graph lane and correlation id
    int64_t start_ns;
    int64_t end_ns;
    const std::vector<uint32_t>* scopes;
  };

  void enter(const Run& run);
  void leave_until(size_t depth);

  TraceLog& log_;
  std::vector<Run> runs_;
  std::vector<size_t> open_;  // spans of the log, innermost last
};

}  // namespace proton
