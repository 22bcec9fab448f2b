#include "backends/device_buffer/clock_map.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>

namespace proton::device_buffer {
namespace {

constexpr double kLeastCyclesPerNs = 0.01, kMostCyclesPerNs = 10;
constexpr double kOutlierNs = 2000;     // readings of one SM spread by some hundred ns
constexpr double kOutlierShare = 1e-3;  // of the distance: the frequency changes while kernels run
constexpr uint64_t kMostStepNs = 1024;  // of the GPUs there are: few readings would tell more
constexpr double kMostSlopeShare = 0.05;
constexpr double kSureSteps = 1000;  // an SM's own slope needs so many steps of global time

/// One reading of both clocks.
struct Reading {
  double clock;  // since SmClock::clock_at
  double time_ns;
};

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool is_plausible(double cycles_per_ns) {
  return cycles_per_ns >= kLeastCyclesPerNs && cycles_per_ns <= kMostCyclesPerNs;
}

/// The median frequency of the longer half of the warps; 0 where no warp tells.
double measure_frequency(std::span<const Header* const> warps) {
  std::vector<std::pair<double, double>> seen;  // time, frequency
  for (const Header* warp : warps) {
    const double time_ns = signed_distance(warp->start_time_ns, warp->end_time_ns);
    if (time_ns == 0) continue;
    const double frequency = signed_distance(warp->start_clock, warp->end_clock) / time_ns;
    if (is_plausible(frequency)) seen.emplace_back(time_ns, frequency);
  }
  if (seen.empty()) return 0;
  const auto half = seen.begin() + static_cast<ptrdiff_t>(seen.size() / 2);
  std::nth_element(seen.begin(), half, seen.end());
  std::vector<double> frequencies;
  for (auto one = half; one != seen.end(); ++one) frequencies.push_back(one->second);
  return median(frequencies);
}

/// The least common step of all readings of global time.
int64_t measure_step(std::span<const Header* const> warps, uint64_t origin_ns) {
  uint64_t step = 0;
  for (const Header* warp : warps) {
    for (const uint64_t time_ns : {warp->start_time_ns, warp->end_time_ns}) {
      const uint64_t apart = time_ns > origin_ns ? time_ns - origin_ns : origin_ns - time_ns;
      if (std::has_single_bit(step) && (apart & (step - 1)) == 0) continue;  // without a division
      step = std::gcd(step, apart);
    }
  }
  return static_cast<int64_t>(std::clamp<uint64_t>(step, 1, kMostStepNs));
}

/// Median clock and median time left over by `cycles_per_ns`, of these readings.
Reading center(std::span<const Reading> readings, double cycles_per_ns) {
  std::vector<double> clocks, rests;
  for (const Reading& reading : readings) {
    clocks.push_back(reading.clock);
    rests.push_back(reading.time_ns - reading.clock / cycles_per_ns);
  }
  const double clock = median(clocks);
  return {clock, median(rests)};
}

/// The line through an SM's readings: the common slope, or its own where the readings lie far
/// enough apart to tell it better.
void fit_line(SmClock& sm, std::vector<Reading>& readings, double cycles_per_ns, double step_ns) {
  sm.cycles_per_ns = cycles_per_ns;
  std::sort(readings.begin(), readings.end(),
            [](const Reading& a, const Reading& b) { return a.clock < b.clock; });
  const std::span<const Reading> all(readings);
  for (int round = 0; round < 3; ++round) {  // the better the slope, the better the centers
    const Reading early = center(all.first(all.size() / 2), sm.cycles_per_ns);
    const Reading late = center(all.subspan(all.size() / 2), sm.cycles_per_ns);
    const double clocks = late.clock - early.clock;
    const double apart_ns = clocks / sm.cycles_per_ns + late.time_ns - early.time_ns;
    if (apart_ns < kSureSteps * step_ns) break;
    // no SM runs at quite another speed than the rest: that comes from wrong readings
    if (std::abs(clocks / apart_ns / cycles_per_ns - 1) > kMostSlopeShare) break;
    sm.cycles_per_ns = clocks / apart_ns;
  }
  sm.time_at_ns = center(all, sm.cycles_per_ns).time_ns;
  std::vector<double> rests;
  for (const Reading& reading : all) {
    rests.push_back(std::abs(reading.time_ns - reading.clock / sm.cycles_per_ns - sm.time_at_ns));
  }
  sm.residual_ns = median(rests);
}

}  // namespace

ClockMap ClockMap::fit(std::span<const Header> headers, double nominal_cycles_per_ns,
                       Losses& losses) {
  ClockMap map;
  std::vector<const Header*> warps;
  for (const Header& header : headers) {
    if (has_good_clocks(header)) {
      warps.push_back(&header);
    } else {
      ++losses.bad_clock_pairs;
    }
  }
  if (warps.empty()) return map;
  const auto middle = warps.begin() + static_cast<ptrdiff_t>(warps.size() / 2);
  std::nth_element(warps.begin(), middle, warps.end(),
                   [](auto* a, auto* b) { return a->start_time_ns < b->start_time_ns; });
  map.origin_ns_ = (*middle)->start_time_ns;
  map.step_ns_ = measure_step(warps, map.origin_ns_);
  double frequency = measure_frequency(warps);
  if (frequency == 0) frequency = nominal_cycles_per_ns;
  if (!is_plausible(frequency)) return map;

  std::stable_sort(warps.begin(), warps.end(), [](auto* a, auto* b) { return a->sm < b->sm; });
  std::vector<Reading> readings;
  std::vector<double> frequencies;
  for (size_t first = 0, last = 0; first < warps.size(); first = last) {
    SmClock sm{.sm = warps[first]->sm, .clock_at = warps[first]->start_clock};
    readings.clear();
    for (; last < warps.size() && warps[last]->sm == sm.sm; ++last) {
      const Header& warp = *warps[last];
      readings.push_back({signed_distance(sm.clock_at, warp.start_clock),
                          signed_distance(map.origin_ns_, warp.start_time_ns)});
      readings.push_back({signed_distance(sm.clock_at, warp.end_clock),
                          signed_distance(map.origin_ns_, warp.end_time_ns)});
    }
    sm.warp_count = static_cast<uint32_t>(last - first);
    fit_line(sm, readings, frequency, static_cast<double>(map.step_ns_));
    frequencies.push_back(sm.cycles_per_ns);
    bool is_new;
    *map.by_sm_.find_or_add(uint64_t{sm.sm} + 1, is_new) = static_cast<uint32_t>(map.sms_.size());
    map.sms_.push_back(sm);
  }
  map.cycles_per_ns_ = median(frequencies);
  map.shift_ns_ = static_cast<int64_t>(map.origin_ns_);
  map.find_bounds(headers, losses);
  return map;
}

ClockMap ClockMap::fit_roughly(std::span<const Header> headers, double nominal_cycles_per_ns,
                               Losses& losses) {
  constexpr size_t kWarps = 64;  // that tell the frequency
  ClockMap map;
  std::vector<const Header*> chosen;
  const size_t stride = std::max<size_t>(headers.size() / kWarps, 1);
  for (size_t at = 0; at < headers.size(); ++at) {
    const Header& header = headers[at];
    if (!has_good_clocks(header)) {
      ++losses.bad_clock_pairs;
      continue;
    }
    if (map.origin_ns_ == 0) map.origin_ns_ = header.start_time_ns;
    const double start = signed_distance(map.origin_ns_, header.start_time_ns);
    const double end = signed_distance(map.origin_ns_, header.end_time_ns);
    map.first_ns_ = std::min(map.first_ns_, start);
    map.last_ns_ = std::max(map.last_ns_, end);
    if (at % stride == 0 || chosen.empty()) chosen.push_back(&header);
  }
  if (chosen.empty()) return map;
  map.step_ns_ = measure_step(chosen, map.origin_ns_);
  const double frequency = measure_frequency(chosen);
  map.cycles_per_ns_ = frequency == 0 ? nominal_cycles_per_ns : frequency;
  if (!is_plausible(map.cycles_per_ns_)) map.cycles_per_ns_ = 0;
  map.shift_ns_ = static_cast<int64_t>(map.origin_ns_);
  map.is_rough_ = map.cycles_per_ns_ > 0;
  map.ns_per_cycle_ = map.is_rough_ ? 1 / map.cycles_per_ns_ : 0;
  return map;
}

void ClockMap::find_bounds(std::span<const Header> headers, Losses& losses) {
  bool is_first = true;
  const auto widen = [&](const Header& header) {
    const WarpClock clock = *warp_clock(header);
    const double start = clock.since_shift_ns(header.start_clock);
    const double end = clock.since_shift_ns(header.end_clock);
    first_ns_ = is_first ? start : std::min(first_ns_, start);
    last_ns_ = is_first ? end : std::max(last_ns_, end);
    is_first = false;
  };
  for (const Header& header : headers) {
    if (!has_good_clocks(header)) continue;
    if (is_outlier(*find(header.sm), header)) {
      ++losses.clock_outliers;
    } else {
      widen(header);
    }
  }
  if (!is_first) return;
  for (const Header& header : headers) {  // outliers all of them: better than nothing
    if (has_good_clocks(header)) widen(header);
  }
}

void ClockMap::place(int64_t host_start_ns, int64_t host_end_ns, HostOffset* offset,
                     Losses& losses) {
  if (sms_.empty() && !is_rough_) return;
  const auto origin_ns = static_cast<int64_t>(origin_ns_);
  const HostOffset::Bounds bounds{
      host_start_ns - origin_ns - static_cast<int64_t>(std::llround(first_ns_)),
      host_end_ns - origin_ns - static_cast<int64_t>(std::llround(last_ns_))};
  if (bounds.low_ns > bounds.high_ns + step_ns_) {
    ++losses.host_misfits;
    offset = nullptr;  // it would learn nothing true
  }
  const int64_t middle = bounds.low_ns + (bounds.high_ns - bounds.low_ns) / 2;
  const bool learns = offset != nullptr && bounds.low_ns <= bounds.high_ns;
  place(learns ? offset->narrow(bounds, host_end_ns) : middle);
}

void ClockMap::place(int64_t offset_ns) {
  constexpr int64_t kMostShiftNs = int64_t{1} << 62;  // times of damaged headers stay numbers
  shift_ns_ = std::clamp(static_cast<int64_t>(origin_ns_) + offset_ns, -kMostShiftNs, kMostShiftNs);
  is_host_time_ = true;
}

const SmClock* ClockMap::find(uint32_t sm) const {
  const uint32_t* at = by_sm_.find(uint64_t{sm} + 1);
  return at == nullptr ? nullptr : &sms_[*at];
}

bool ClockMap::is_outlier(const SmClock& sm, const Header& header) const {
  const auto is_off = [&](uint64_t clock, uint64_t time_ns) {
    const double along_ns = signed_distance(sm.clock_at, clock) / sm.cycles_per_ns;
    const double rest_ns = sm.time_at_ns + along_ns - signed_distance(origin_ns_, time_ns);
    const double allowed_ns = std::max(kOutlierNs, 4 * static_cast<double>(step_ns_)) +
                              kOutlierShare * std::abs(along_ns);
    return std::abs(rest_ns) > allowed_ns;
  };
  return is_off(header.start_clock, header.start_time_ns) ||
         is_off(header.end_clock, header.end_time_ns);
}

std::optional<WarpClock> ClockMap::fitted_clock(const Header& header) const {
  const SmClock* sm = has_good_clocks(header) ? find(header.sm) : nullptr;
  if (sm == nullptr) return std::nullopt;
  if (!is_outlier(*sm, header)) {
    return WarpClock{sm->clock_at, sm->time_at_ns, 1 / sm->cycles_per_ns, shift_ns_};
  }
  return WarpClock{header.start_clock, signed_distance(origin_ns_, header.start_time_ns),
                   signed_distance(header.start_time_ns, header.end_time_ns) /
                       signed_distance(header.start_clock, header.end_clock),
                   shift_ns_};
}

}  // namespace proton::device_buffer
