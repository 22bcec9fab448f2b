#include "backends/device_buffer/decoded_buffer.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace proton::device_buffer {
namespace {

constexpr int64_t kMostHostTimeNs = int64_t{1} << 62;
constexpr int64_t kMostKernelNs = int64_t{1} << 58;

void check(std::span<const std::byte> buffer, const Geometry& geometry, size_t region_count,
           const DecodeOptions& options, Drained drained) {
  const auto refuse = [](const std::string& text) { throw Error(ErrorKind::kUsage, text); };
  if (const std::string problem = geometry.problem(); !problem.empty()) refuse(problem);
  if (buffer.size() < geometry.size_bytes()) {
    refuse(concat("the buffer has ", buffer.size(), " bytes, its geometry needs ",
                  geometry.size_bytes(), "; give the geometry that it was allocated with"));
  }
  if (region_count > kRegionLimit) {
    refuse(concat("a record map of ", region_count, " regions; there are ids for ", kRegionLimit));
  }
  if (options.clock_bits != kShortClockBits && options.clock_bits != kLongClockBits) {
    refuse(concat("records cannot hold ", options.clock_bits, " bits of a clock; choose ",
                  kShortClockBits, " or ", kLongClockBits));
  }
  if (!drained.empty() && drained.size() != geometry.slot_count()) {
    refuse(concat("drained records of ", drained.size(), " slots; the buffer has ",
                  geometry.slot_count()));
  }
  if (!options.cost.is_valid()) {
    refuse("the cost of a record must be a number of cycles from 0 on");
  }
  if (!options.kernel) return;
  const auto [start_ns, end_ns] = *options.kernel;
  if (start_ns < 0 || end_ns < start_ns || end_ns > kMostHostTimeNs ||
      end_ns - start_ns > kMostKernelNs) {
    refuse(concat("a kernel cannot run from ", start_ns, " to ", end_ns, " ns"));
  }
}

/// One entry a slot: what a warp spent there in one go and what in waiting for others.
void merge_slots(std::vector<WarpCycles>& warps) {
  const auto by_slot = [](const WarpCycles& a, const WarpCycles& b) { return a.slot < b.slot; };
  if (!std::is_sorted(warps.begin(), warps.end(), by_slot)) {
    std::stable_sort(warps.begin(), warps.end(), by_slot);
  }
  size_t kept = 0;
  for (size_t at = 1; at < warps.size(); ++at) {
    if (warps[at].slot == warps[kept].slot) {
      warps[kept].cycles += warps[at].cycles;
    } else {
      warps[++kept] = warps[at];
    }
  }
  if (!warps.empty()) warps.resize(kept + 1);
}

/// Nearest rank, as everywhere.
double quantile(std::vector<WarpCycles>& warps, double share) {
  if (warps.empty()) return 0;
  const auto wanted = static_cast<size_t>(std::ceil(share * static_cast<double>(warps.size())));
  const auto at = warps.begin() + static_cast<ptrdiff_t>(std::max<size_t>(wanted, 1) - 1);
  std::nth_element(warps.begin(), at, warps.end(),
                   [](const WarpCycles& a, const WarpCycles& b) { return a.cycles < b.cycles; });
  return at->cycles;
}

RegionSummary summarize(RegionContext& context, size_t warp_count, double cycles_per_ns) {
  merge_slots(context.warps);
  RegionSummary summary;
  summary.region = context.region;
  summary.parent = context.parent;
  summary.depth = context.depth;
  summary.count = context.count;
  summary.warp_count = context.warps.size();
  summary.raw_cycles = context.raw_cycles;
  summary.cycles = context.cycles;
  summary.normalized_cycles = context.cycles / static_cast<double>(std::max<size_t>(warp_count, 1));
  summary.time_ns = cycles_per_ns > 0 ? context.cycles / cycles_per_ns : 0;
  summary.min_cycles = context.min_cycles;
  summary.max_cycles = context.max_cycles;
  summary.warp_p10_cycles = quantile(context.warps, 0.1);
  summary.warp_p50_cycles = quantile(context.warps, 0.5);
  summary.warp_p90_cycles = quantile(context.warps, 0.9);
  summary.value_count = context.value_count;
  summary.value_sum = context.value_sum;
  summary.value_min = context.value_min;
  summary.value_max = context.value_max;
  return summary;
}

/// The slots of a buffer that have a header, in order.
struct Slots {
  std::vector<Header> headers;
  std::vector<uint64_t> numbers;

  /// Which of them a slot is; it must be one.
  uint32_t index_of(uint64_t slot) const {
    const auto at = std::lower_bound(numbers.begin(), numbers.end(), slot);
    return static_cast<uint32_t>(at - numbers.begin());
  }
};

Slots read_slots(std::span<const std::byte> buffer, const Geometry& geometry,
                 const DecodeOptions& options, Losses& losses) {
  Slots slots;
  slots.headers.reserve(geometry.slot_count());  // the buffer has room for as many
  slots.numbers.reserve(geometry.slot_count());
  for (uint64_t slot = 0; slot < geometry.slot_count(); ++slot) {
    if (const std::optional<Header> header = read_header(buffer, geometry, slot, losses)) {
      slots.headers.push_back(*header);
      slots.numbers.push_back(slot);
    }
  }
  if (options.expected_warps) {
    const uint64_t found = slots.headers.size() + losses.damaged_headers;
    losses.missing_warps = *options.expected_warps - std::min(*options.expected_warps, found);
  }
  return slots;
}

void place_clocks(ClockMap& clocks, const DecodeOptions& options, Losses& losses) {
  if (options.kernel) {
    const auto [start_ns, end_ns] = *options.kernel;
    clocks.place(start_ns, end_ns, options.host_offset, losses);
  } else if (options.host_offset != nullptr) {
    if (const auto offset_ns = options.host_offset->offset_ns()) clocks.place(*offset_ns);
  }
}

/// Spans of one slot follow one another, but for those that ended in another warp.
void place_spans(std::span<const RegionSpan> spans, const Slots& slots, const ClockMap& clocks,
                 DecodedBuffer& decoded) {
  uint64_t slot = ~uint64_t{0};
  uint32_t warp = 0;
  std::optional<WarpClock> clock;
  for (const RegionSpan& span : spans) {
    if (span.slot != slot) {
      slot = span.slot;
      warp = slots.index_of(slot);
      clock = clocks.warp_clock(slots.headers[warp]);
    }
    if (!clock) {
      ++decoded.losses.unplaced_spans;
      continue;
    }
    const uint32_t end_warp = span.end_slot == slot ? warp : slots.index_of(span.end_slot);
    decoded.spans.push_back({span.context, span.kind, warp, end_warp,
                             clock->time_ns(span.start_clock), clock->time_ns(span.end_clock),
                             span.value});
  }
}

WarpSummary summarize(const Header& header, uint64_t slot, const WarpRecords& records,
                      const ClockMap& clocks) {
  WarpSummary warp;
  warp.slot = slot;
  warp.cta = header.cta;
  warp.warp = header.warp;
  warp.sm = header.sm;
  warp.record_count = records.record_count;
  warp.overwritten = records.overwritten;
  if (header.end_clock > header.start_clock) warp.cycles = header.end_clock - header.start_clock;
  if (const auto clock = clocks.warp_clock(header)) {
    warp.has_times = true;
    warp.start_ns = clock->time_ns(header.start_clock);
    warp.end_ns = clock->time_ns(header.end_clock);
  }
  return warp;
}

}  // namespace

DecodedBuffer decode_buffer(std::span<const std::byte> buffer, const Geometry& geometry,
                            std::span<const Region> regions, const DecodeOptions& options,
                            Drained drained) {
  check(buffer, geometry, regions.size(), options, drained);
  DecodedBuffer decoded;
  Losses& losses = decoded.losses;
  const Slots slots = read_slots(buffer, geometry, options, losses);
  const auto fit = options.is_rough ? ClockMap::fit_roughly : ClockMap::fit;
  ClockMap clocks = fit(slots.headers, options.nominal_cycles_per_ns, losses);
  place_clocks(clocks, options, losses);

  RegionMatcher matcher(regions, {options.cost, options.keeps_spans}, losses);
  std::vector<Event> events;
  decoded.warps.reserve(slots.headers.size());
  for (size_t at = 0; at < slots.headers.size(); ++at) {
    const uint64_t slot = slots.numbers[at];
    WarpBytes warp{slots.headers[at],
                   buffer.subspan(geometry.ring_offset(slot), geometry.ring_bytes),
                   drained.empty() ? std::span<const std::byte>{} : drained[slot]};
    events.clear();
    const WarpRecords records = decode_warp(warp, {regions, options.clock_bits}, events, losses);
    matcher.add_warp(slot, events, records.overwritten > 0);
    decoded.record_count += records.record_count;
    decoded.warps.push_back(summarize(warp.header, slot, records, clocks));
    const bool is_last = at + 1 == slots.headers.size() ||
                         slots.numbers[at + 1] / geometry.warp_count != slot / geometry.warp_count;
    if (!is_last) continue;
    matcher.end_cta();
    place_spans(matcher.spans(), slots, clocks, decoded);
    matcher.spans().clear();
  }
  for (RegionContext& context : matcher.contexts()) {
    decoded.regions.push_back(summarize(context, slots.headers.size(), clocks.cycles_per_ns()));
  }
  decoded.cycles_per_ns = clocks.cycles_per_ns();
  decoded.time_step_ns = clocks.step_ns();
  decoded.is_host_time = clocks.is_host_time();
  decoded.sms.assign(clocks.sms().begin(), clocks.sms().end());
  return decoded;
}

}  // namespace proton::device_buffer
