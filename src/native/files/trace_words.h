/// The words for spans that all trace formats share.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/trace_log.h"

namespace proton {

inline std::string_view category_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::kKernel:
      return "kernel";
    case SpanKind::kMetric:
      return "metric";
    case SpanKind::kCopy:
      return "copy";
    case SpanKind::kGraph:
      return "graph";
    case SpanKind::kCta:
      return "cta";
    case SpanKind::kRegion:
    case SpanKind::kLaunch:
    case SpanKind::kMark:
    case SpanKind::kScope:
      break;
  }
  return "scope";
}

/// The flows of a log that have both ends: one may be missing where events were dropped or phases
/// cut.
class PairedFlows {
 public:
  explicit PairedFlows(const TraceLog& log);

  bool contains(const TraceSpan& span) const;

 private:
  std::vector<uint64_t> sources_;  // sorted
  std::vector<uint64_t> targets_;  // sorted
  bool is_all_paired_;             // the usual case, which needs no search
};

}  // namespace proton
