/// Replays of graphs by node, as spans on graph lanes: one a replay and stream, and below it the
/// captured scopes. Made of the kernels alone, which share the correlation id of their replay and
/// know where they were captured.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
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
  void finish() {
    if (runs_.empty()) return;
    // Records come in the order in which kernels ended, and streams take turns.
    const auto key = [](const Run& run) { return std::tuple(run.replay, run.start_ns); };
    if (!std::ranges::is_sorted(runs_, {}, key)) std::ranges::stable_sort(runs_, {}, key);
    uint64_t replay = runs_.front().replay;
    for (const Run& run : runs_) {
      if (run.replay != replay) leave_until(0);
      replay = run.replay;
      enter(run);
    }
    leave_until(0);
  }

 private:
  struct Run {
    uint64_t replay;  // graph lane and correlation id
    int64_t start_ns;
    int64_t end_ns;
    const std::vector<uint32_t>* scopes;
  };

  /// Leaves the scopes that the run is not of and enters those that are not open.
  void enter(const Run& run) {
    const std::vector<uint32_t>& scopes = *run.scopes;
    size_t depth = 0;
    while (depth < std::min(open_.size(), scopes.size()) &&
           log_.spans[open_[depth]].path == scopes[depth]) {
      ++depth;
    }
    leave_until(depth);
    for (; depth < scopes.size(); ++depth) {
      open_.push_back(log_.spans.size());
      log_.spans.push_back({SpanKind::kScope, static_cast<uint32_t>(run.replay >> 32),
                            scopes[depth], run.start_ns, run.start_ns});
    }
    int64_t& end_ns = log_.spans[open_.back()].end_ns;
    end_ns = std::max(end_ns, run.end_ns);
  }

  /// Those around a span end no earlier than it does.
  void leave_until(size_t depth) {
    while (open_.size() > depth) {
      const int64_t end_ns = log_.spans[open_.back()].end_ns;
      open_.pop_back();
      if (open_.empty()) continue;
      int64_t& around_ns = log_.spans[open_.back()].end_ns;
      around_ns = std::max(around_ns, end_ns);
    }
  }

  TraceLog& log_;
  std::vector<Run> runs_;
  std::vector<size_t> open_;  // spans of the log, innermost last
};

}  // namespace proton
