#include "session/snapshot/recorded_spans.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/text.h"

namespace proton {
namespace {

/// JSON has no way to write NaN and infinities: they are words.
Value float_value(double number) {
  if (std::isfinite(number)) return {number};
  return {std::string(std::isnan(number) ? "nan" : number < 0 ? "-inf" : "inf")};
}

constexpr uint32_t kNoAttributes = UINT32_MAX;

bool is_elsewhere(const RecordedSpan& span, const RecordedLaunch& launch) {
  return span.end_warp != span.warp && span.end_warp < launch.warps.size();
}

}  // namespace

void RecordedSpans::add(const Launch& launch) {
  add_ctas(launch);
  add_regions(launch);
}

/// Warps of a CTA stand side by side; it lasts from its first warp's start to its last one's end.
void RecordedSpans::add_ctas(const Launch& launch) {
  const auto& warps = launch.recorded.warps;
  const uint32_t attributes = attributes_of(launch.recorded, nullptr);
  for (size_t first = 0, next = 0; first < warps.size(); first = next) {
    TraceSpan span{SpanKind::kCta, 0, 0, INT64_MAX, INT64_MIN};
    for (; next < warps.size() && warps[next].cta == warps[first].cta; ++next) {
      if (!warps[next].has_times) continue;
      span.start_ns = std::min(span.start_ns, warps[next].start_ns + launch.shift_ns);
      span.end_ns = std::max(span.end_ns, warps[next].end_ns + launch.shift_ns);
    }
    if (span.end_ns < span.start_ns) continue;  // no warp of it could be placed
    span.lane = lanes_.device(LaneKind::kSm, launch.device, warps[first].sm, launch.seen);
    span.path = child(launch.path, concat("CTA ", warps[first].cta));
    span.attributes = attributes;
    log_.spans.push_back(span);
  }
}

/// Regions of a warp that nest share its first line. Events, and regions that overlap what is on
/// it, get the first further line that is free, as long as there are lines.
void RecordedSpans::add_regions(const Launch& launch) {
  const RecordedLaunch& recorded = launch.recorded;
  std::vector<uint32_t> paths, shared, attributes;
  for (size_t i = 0; i < recorded.regions.size(); ++i) {
    const RecordedRegion& region = recorded.regions[i];
    paths.push_back(child(region.parent < i ? paths[region.parent] : launch.path, region.name));
    shared.push_back(attributes_of(recorded, &region));
  }
  int64_t first_ns = INT64_MAX;
  for (const RecordedWarp& one : recorded.warps) {
    if (one.has_times) first_ns = std::min(first_ns, one.start_ns);
  }
  std::vector<uint32_t> order(recorded.spans.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](uint32_t index) {
    const RecordedSpan& span = recorded.spans[index];
    return std::tuple(span.warp, span.start_ns, -span.end_ns);
  });
  uint32_t warp = UINT32_MAX;
  std::vector<int64_t> line_ends;  // of this warp's further lines
  std::vector<int64_t> begun;      // ends of what is under way on its first line, outermost first
  for (const uint32_t index : order) {
    const RecordedSpan& from = recorded.spans[index];
    if (from.region >= paths.size() || from.warp >= recorded.warps.size()) continue;
    if (from.warp != warp) {
      line_ends.clear();
      begun.clear();
      attributes.assign(shared.size(), kNoAttributes);
    }
    warp = from.warp;
    uint32_t line = 0;
    while (!begun.empty() && begun.back() <= from.start_ns) begun.pop_back();
    const bool is_nested = begun.empty() || from.end_ns <= begun.back();
    if (!recorded.regions[from.region].is_event && is_nested) {
      begun.push_back(from.end_ns);
    } else {
      const auto is_free = [&](int64_t end_ns) { return end_ns <= from.start_ns; };
      auto found = std::ranges::find_if(line_ends, is_free);
      if (found == line_ends.end()) {
        if (line_ends.size() + 1 < kMostLines) line_ends.push_back(0);
        found = line_ends.end() - 1;
      }
      *found = from.end_ns;
      line = static_cast<uint32_t>(found - line_ends.begin()) + 1;
    }
    const uint32_t lane = lanes_.warp(launch.device, launch.kernel, launch.name, recorded,
                                      recorded.warps[from.warp], line);
    TraceSpan span{SpanKind::kRegion, lane, paths[from.region], from.start_ns + launch.shift_ns,
                   std::max(from.start_ns, from.end_ns) + launch.shift_ns};
    uint32_t& own = attributes[from.region];
    if (own == kNoAttributes) {
      own = with_warp_times(shared[from.region], recorded.warps[warp], first_ns);
    }
    span.attributes = attributes_of_span(recorded, from, own);
    log_.spans.push_back(span);
    if (is_elsewhere(from, recorded)) add_arrow(launch, from, own);
  }
}

void RecordedSpans::add_arrow(const Launch& launch, const RecordedSpan& from, uint32_t shared) {
  const RecordedLaunch& recorded = launch.recorded;
  TraceSpan& source = log_.spans.back();
  source.flow_id = ++last_flow_id_;
  source.is_flow_source = true;
  TraceSpan target = source;
  target.lane = lanes_.warp(launch.device, launch.kernel, launch.name, recorded,
                            recorded.warps[from.end_warp], 0);
  target.start_ns = target.end_ns;
  target.is_flow_source = false;
  Value::Map found = log_.attributes[shared];
  found.emplace_back("began in", Value{concat("warp ", recorded.warps[from.warp].warp)});
  log_.attributes.push_back(std::move(found));
  target.attributes = static_cast<uint32_t>(log_.attributes.size() - 1);
  log_.spans.push_back(target);
}

/// From the first warp of the launch on, as known traces have them.
uint32_t RecordedSpans::with_warp_times(uint32_t shared, const RecordedWarp& warp,
                                        int64_t first_ns) {
  if (!warp.has_times) return shared;
  Value::Map found = log_.attributes[shared];
  found.emplace_back("Init Time (ns)", Value{warp.start_ns - first_ns});
  found.emplace_back("Post Final Time (ns)", Value{warp.end_ns - first_ns});
  log_.attributes.push_back(std::move(found));
  return static_cast<uint32_t>(log_.attributes.size() - 1);
}

/// What spans of one region have in common, or those of CTAs.
uint32_t RecordedSpans::attributes_of(const RecordedLaunch& launch, const RecordedRegion* region) {
  Value::Map found;
  if (launch.clock_ghz > 0) found.emplace_back("Frequency (MHz)", Value{launch.clock_ghz * 1e3});
  if (region != nullptr && !region->source.empty()) {
    found.emplace_back("source", Value{region->source});
  }
  if (found.empty()) return 0;
  // Launches of one kernel mostly have the same; clocks differ a little.
  log_.attributes.push_back(std::move(found));
  return static_cast<uint32_t>(log_.attributes.size() - 1);
}

uint32_t RecordedSpans::attributes_of_span(const RecordedLaunch& launch, const RecordedSpan& span,
                                           uint32_t shared) {
  const bool ends_elsewhere = is_elsewhere(span, launch);
  if (!span.has_value && !ends_elsewhere) return shared;
  Value::Map found = log_.attributes[shared];
  if (span.has_value) {
    const bool is_float = launch.regions[span.region].has_floats;
    found.emplace_back(
        "value", is_float ? float_value(std::bit_cast<double>(span.value)) : Value{span.value});
  }
  if (ends_elsewhere) {
    found.emplace_back("ended in", Value{concat("warp ", launch.warps[span.end_warp].warp)});
  }
  log_.attributes.push_back(std::move(found));
  return static_cast<uint32_t>(log_.attributes.size() - 1);
}

}  // namespace proton
