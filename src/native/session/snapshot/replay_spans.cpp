#include "session/snapshot/replay_spans.h"

#include <algorithm>
#include <tuple>

namespace proton {

void ReplaySpans::finish() {
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

/// Leaves the scopes that the run is not of and enters those that are not open.
void ReplaySpans::enter(const Run& run) {
  const std::vector<uint32_t>& scopes = *run.scopes;
  size_t depth = 0;
  while (depth < std::min(open_.size(), scopes.size()) &&
         log_.spans[open_[depth]].path == scopes[depth]) {
    ++depth;
  }
  leave_until(depth);
  for (; depth < scopes.size(); ++depth) {
    open_.push_back(log_.spans.size());
    log_.spans.push_back({SpanKind::kScope, static_cast<uint32_t>(run.replay >> 32), scopes[depth],
                          run.start_ns, run.start_ns});
  }
  int64_t& end_ns = log_.spans[open_.back()].end_ns;
  end_ns = std::max(end_ns, run.end_ns);
}

/// Those around a span end no earlier than it does.
void ReplaySpans::leave_until(size_t depth) {
  while (open_.size() > depth) {
    const int64_t end_ns = log_.spans[open_.back()].end_ns;
    open_.pop_back();
    if (open_.empty()) continue;
    int64_t& around_ns = log_.spans[open_.back()].end_ns;
    around_ns = std::max(around_ns, end_ns);
  }
}

}  // namespace proton
