#include "files/trace_words.h"

#include <algorithm>

namespace proton {

PairedFlows::PairedFlows(const TraceLog& log) {
  for (const TraceSpan& span : log.spans) {
    if (span.flow_id == 0) continue;
    (span.is_flow_source ? sources_ : targets_).push_back(span.flow_id);
  }
  for (auto* ends : {&sources_, &targets_}) {
    if (!std::ranges::is_sorted(*ends)) std::ranges::sort(*ends);
  }
  is_all_paired_ = sources_ == targets_;
}

bool PairedFlows::contains(const TraceSpan& span) const {
  if (span.flow_id == 0 || is_all_paired_) return span.flow_id != 0;
  return std::ranges::binary_search(span.is_flow_source ? targets_ : sources_, span.flow_id);
}

}  // namespace proton
