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

ClockMap fit_clocks(std::span<const Header> headers, const DecodeOptions& options, Losses& losses) {
  constexpr int64_t kFineStepNs = 64;
  if (options.fit != ClockFit::kExact) {
    Losses rough_losses;
    ClockMap clocks = ClockMap::fit_roughly(headers, options.nominal_cycles_per_ns, rough_losses);
    if (options.fit == ClockFit::kRough || clocks.step_ns() <= kFineStepNs) {
      losses.add(rough_losses);
      return clocks;
    }
  }
  return ClockMap::fit(headers, options.nominal_cycles_per_ns, losses);
}

void place_clocks(ClockMap& clocks, const DecodeOptions& options, Losses& losses) {
  if (options.kernel) {
    const auto [start_ns, end_ns] = *options.kernel;
    clocks.place(start_ns, end_ns, options.host_offset, losses);
  } else if (options.host_offset != nullptr) {
    if (const auto offset_ns = options.host_offset->offset_ns()) clocks.place(*offset_ns);
  }
}

WarpSummary summarize(const Header& header, uint64_t slot, const WarpRecords& records,
                      const ClockMap& clocks) {
  WarpSummary warp{
      {header.cta, header.warp, header.sm}, slot, records.record_count, records.overwritten};
  if (header.end_clock > header.start_clock) warp.cycles = header.end_clock - header.start_clock;
  if (const auto clock = clocks.warp_clock(header)) {
    warp.has_times = true;
    warp.start_ns = clock->time_ns(header.start_clock);
    warp.end_ns = clock->time_ns(header.end_clock);
  }
  return warp;
}

}  // namespace

void DecodedBuffer::clear() {
  DecodedBuffer empty;
  const auto keep = [](auto& memory, auto& into) {
    memory.clear();
    into = std::move(memory);
  };
  keep(warps, empty.warps);
  keep(regions, empty.regions);
  keep(spans, empty.spans);
  keep(sms, empty.sms);
  keep(warp_passages, empty.warp_passages);
  *this = std::move(empty);
}

RegionSummary Decoder::summarize(const RegionContext& context) {
  const double cycles_per_ns = decoded_.cycles_per_ns;
  RegionSummary summary;
  summary.region = context.region;
  summary.parent = context.parent;
  summary.depth = context.depth;
  summary.count = context.count;
  summary.warp_count = context.warps.size();
  summary.raw_cycles = context.raw_cycles;
  summary.cycles = context.cycles;
  summary.time_ns = cycles_per_ns > 0 ? context.cycles / cycles_per_ns : 0;
  summary.min_cycles = context.min_cycles;
  summary.max_cycles = context.max_cycles;
  summary.values = context.values;
  summary.first_passage = decoded_.warp_passages.size();
  for (const WarpCycles& warp : context.warps) {
    decoded_.warp_passages.push_back(
        warp.passages > 1 ? warp.cycles / static_cast<double>(warp.passages) : warp.cycles);
  }
  return summary;
}

void Decoder::read_slots(std::span<const std::byte> buffer, const Geometry& geometry,
                         const DecodeOptions& options) {
  Losses& losses = decoded_.losses;
  const uint64_t count = geometry.slot_count();
  const std::byte* const place = buffer.data() + geometry.header_offset(0);
  copied_.clear();
  numbers_.clear();
  uint64_t good = 0;
  if (reinterpret_cast<uintptr_t>(place) % alignof(Header) == 0) {
    headers_ = {reinterpret_cast<const Header*>(place), count};
    while (good < count && is_header(headers_[good], geometry)) ++good;
  }
  if (good < count) {
    copied_.reserve(count);  // the buffer has room for as many
    numbers_.reserve(count);
    for (uint64_t slot = 0; slot < count; ++slot) {
      if (const std::optional<Header> header = read_header(buffer, geometry, slot, losses)) {
        copied_.push_back(*header);
        numbers_.push_back(slot);
      }
    }
    headers_ = copied_;
  }
  if (options.expected_warps) {
    const uint64_t found = headers_.size() + losses.damaged_headers;
    losses.missing_warps = *options.expected_warps - std::min(*options.expected_warps, found);
  }
}

/// Which header is a slot's; it must have one.
uint32_t Decoder::index_of(uint64_t slot) const {
  if (numbers_.empty()) return static_cast<uint32_t>(slot);
  const auto at = std::lower_bound(numbers_.begin(), numbers_.end(), slot);
  return static_cast<uint32_t>(at - numbers_.begin());
}

/// Spans of one slot follow one another, but for those that ended in another warp.
void Decoder::place_spans(const ClockMap& clocks) {
  uint64_t slot = ~uint64_t{0};
  uint32_t warp = 0;
  std::optional<WarpClock> clock;
  for (const RegionSpan& span : matcher_.spans()) {
    if (span.slot != slot) {
      slot = span.slot;
      warp = index_of(slot);
      clock = clocks.warp_clock(headers_[warp]);
    }
    if (!clock) {
      ++decoded_.losses.unplaced_spans;
      continue;
    }
    const uint32_t end_warp = span.end_slot == slot ? warp : index_of(span.end_slot);
    decoded_.spans.push_back({span.context, warp, end_warp, span.kind == RecordKind::kValue,
                              clock->time_ns(span.start_clock), clock->time_ns(span.end_clock),
                              span.value});
  }
  matcher_.spans().clear();
}

DecodedBuffer& Decoder::decode(std::span<const std::byte> buffer, const Geometry& geometry,
                               std::span<const Region> regions, const DecodeOptions& options,
                               Drained drained) {
  constexpr size_t kKeptWarps = 1u << 16;  // memory for more is given back
  constexpr size_t kAhead = 8;             // warps whose records are fetched before their turn
  check(buffer, geometry, regions.size(), options, drained);
  if (decoded_.warps.capacity() > kKeptWarps || decoded_.spans.capacity() > kKeptWarps) *this = {};
  decoded_.clear();
  Losses& losses = decoded_.losses;
  read_slots(buffer, geometry, options);
  ClockMap clocks = fit_clocks(headers_, options, losses);
  place_clocks(clocks, options, losses);

  matcher_.begin(regions, {options.cost, options.keeps_spans}, losses);
  decoded_.warps.reserve(headers_.size());
  for (size_t at = 0; at < headers_.size(); ++at) {
    const uint64_t slot = slot_of(at);
    if (at + kAhead < headers_.size()) {
      __builtin_prefetch(buffer.data() + geometry.ring_offset(slot_of(at + kAhead)));
    }
    const WarpBytes warp{headers_[at],
                         buffer.subspan(geometry.ring_offset(slot), geometry.kept_bytes()),
                         drained.empty() ? std::span<const std::byte>{} : drained[slot]};
    const uint64_t cta = slot / geometry.warp_count;
    const auto alike = static_cast<uint32_t>(slot - cta * geometry.warp_count);
    WarpRecords records{warp.header.written_bytes / kRecordBytes, 0};
    if (!matcher_.repeat_warp(slot, alike, warp, options.clock_bits)) {
      events_.clear();
      records = decode_warp(warp, {regions, options.clock_bits}, events_, losses);
      matcher_.add_warp(slot, events_, records.overwritten > 0, alike);
    }
    decoded_.record_count += records.record_count;
    decoded_.warps.push_back(device_buffer::summarize(warp.header, slot, records, clocks));
    const bool is_last = at + 1 == headers_.size() || slot_of(at + 1) / geometry.warp_count != cta;
    if (!is_last) continue;
    matcher_.end_cta();
    if (options.keeps_spans) place_spans(clocks);
  }
  decoded_.cycles_per_ns = clocks.cycles_per_ns();
  for (const RegionContext& context : matcher_.contexts()) {
    decoded_.regions.push_back(summarize(context));
  }
  decoded_.time_step_ns = clocks.step_ns();
  decoded_.is_host_time = clocks.is_host_time();
  decoded_.sms.assign(clocks.sms().begin(), clocks.sms().end());
  return decoded_;
}

DecodedBuffer decode_buffer(std::span<const std::byte> buffer, const Geometry& geometry,
                            std::span<const Region> regions, const DecodeOptions& options,
                            Drained drained) {
  Decoder decoder;
  return std::move(decoder.decode(buffer, geometry, regions, options, drained));
}

}  // namespace proton::device_buffer
