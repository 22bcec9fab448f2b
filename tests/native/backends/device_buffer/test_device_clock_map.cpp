// SM clocks brought to global time and to the host's: real frequency, offsets, wrong readings.
#include <random>

#include "kernel_buffer.h"

using namespace kernel_buffer;

namespace {

struct Machine {
  double cycles_per_ns = 1.6;
  uint64_t step_ns = 32;
  double sm_frequency_share = 0;  // SM n is faster by n times that

  double frequency(uint32_t sm) const { return cycles_per_ns * (1 + sm * sm_frequency_share); }
  uint64_t clock(uint32_t sm, double time_ns) const {
    return kStartClock + uint64_t{33'000'000} * sm + static_cast<uint64_t>(time_ns * frequency(sm));
  }
  uint64_t shown_ns(double time_ns) const {
    return kStartTime + static_cast<uint64_t>(time_ns) / step_ns * step_ns;
  }
  Header warp(uint32_t sm, double start_ns, double end_ns) const {
    Header header = Warp{}.on(0, 0, sm).header;
    header.start_time_ns = shown_ns(start_ns);
    header.start_clock = clock(sm, start_ns);
    header.end_time_ns = shown_ns(end_ns);
    header.end_clock = clock(sm, end_ns);
    return header;
  }
};

/// `each` warps an SM, of random places in a kernel of `length_ns`.
std::vector<Header> kernel(const Machine& machine, uint32_t sms, uint32_t each, double length_ns) {
  std::mt19937 random(7);
  std::vector<Header> warps;
  for (uint32_t sm = 0; sm < sms; ++sm) {
    for (uint32_t i = 0; i < each; ++i) {
      const double start = length_ns / 4 * (random() % 1000) / 1000.0;
      warps.push_back(
          machine.warp(sm, start, length_ns - length_ns / 8 * (random() % 1000) / 1000.0));
    }
  }
  return warps;
}

/// How far off the map is, at most, at some moments of the warps.
double worst_ns(const ClockMap& map, const Machine& machine, std::span<const Header> warps) {
  double worst = 0;
  for (const Header& warp : warps) {
    const auto line = map.warp_clock(warp);
    if (!line) continue;
    for (const double time_ns : {1000.0, 20'000.0, 40'000.0}) {
      const int64_t told = line->time_ns(machine.clock(warp.sm, time_ns));
      worst = std::max(worst, std::abs(static_cast<double>(told - int64_t(kStartTime)) - time_ns));
    }
  }
  return worst;
}

}  // namespace

TEST(the_frequency_is_measured_and_offsets_between_sms_are_removed) {
  const Machine machine;
  const std::vector<Header> warps = kernel(machine, 132, 8, 50'000);
  Losses losses;
  const ClockMap map = ClockMap::fit(warps, 0, losses);
  CHECK(std::abs(map.cycles_per_ns() - 1.6) < 0.002);
  CHECK_EQ(map.step_ns(), 32);
  CHECK_EQ(map.sms().size(), 132);
  CHECK_EQ(all_losses(losses), 0);
  CHECK(worst_ns(map, machine, warps) < 64);
}

TEST(a_coarse_global_time_is_told_and_averaged_out) {
  Machine machine;
  machine.step_ns = 1024;
  const std::vector<Header> warps = kernel(machine, 16, 64, 50'000);
  Losses losses;
  const ClockMap map = ClockMap::fit(warps, 0, losses);
  CHECK_EQ(map.step_ns(), 1024);
  CHECK(std::abs(map.cycles_per_ns() - 1.6) < 0.02);
  CHECK(worst_ns(map, machine, warps) < 1200);
}

TEST(an_sm_has_a_frequency_of_its_own_where_the_kernel_is_long_enough_to_tell) {
  Machine machine;
  machine.sm_frequency_share = 0.002;
  const std::vector<Header> warps = kernel(machine, 4, 8, 40'000'000);
  Losses losses;
  const ClockMap map = ClockMap::fit(warps, 0, losses);
  for (const SmClock& sm : map.sms()) {
    CHECK(std::abs(sm.cycles_per_ns / machine.frequency(sm.sm) - 1) < 1e-5);
    CHECK(sm.residual_ns < 64);
  }
  CHECK_EQ(losses.clock_outliers, 0);
}

TEST(warps_that_disagree_with_their_sm_are_counted_and_move_nobody) {
  const Machine machine;
  std::vector<Header> warps = kernel(machine, 4, 16, 50'000);
  warps[3].start_clock += 80'000'000;
  warps[3].end_clock += 80'000'000;
  warps[20].start_time_ns += 500'000;
  warps[20].end_time_ns += 500'000;
  Losses losses;
  ClockMap map = ClockMap::fit(warps, 0, losses);
  CHECK_EQ(losses.clock_outliers, 2);
  const std::vector<Header> good(warps.begin() + 21, warps.end());
  CHECK(worst_ns(map, machine, good) < 64);
  // by its own readings
  CHECK_EQ(map.warp_clock(warps[3])->time_ns(warps[3].start_clock),
           static_cast<int64_t>(warps[3].start_time_ns));
  map.place(1'000'000, 1'052'000, nullptr, losses);  // an outlier does not stretch the kernel
  CHECK_EQ(losses.host_misfits, 0);
}

TEST(warps_that_contradict_themselves_have_no_times) {
  const Machine machine;
  std::vector<Header> warps = kernel(machine, 2, 8, 50'000);
  std::swap(warps[0].start_clock, warps[0].end_clock);
  std::swap(warps[1].start_time_ns, warps[1].end_time_ns);
  warps[2].end_time_ns = ~uint64_t{0};
  warps[3].start_time_ns = 0;
  Losses losses;
  const ClockMap map = ClockMap::fit(warps, 0, losses);
  CHECK_EQ(losses.bad_clock_pairs, 4);
  for (size_t i = 0; i < 4; ++i) CHECK(!map.warp_clock(warps[i]));
  CHECK(map.warp_clock(warps[4]).has_value());
}

TEST(a_kernel_too_short_to_tell_goes_by_the_nominal_frequency) {
  Machine machine;
  const std::vector<Header> warps = {machine.warp(0, 1, 20), machine.warp(1, 1, 22)};
  Losses losses;
  CHECK_EQ(ClockMap::fit(warps, 1.755, losses).cycles_per_ns(), 1.755);
  const ClockMap unknown = ClockMap::fit(warps, 0, losses);
  CHECK_EQ(unknown.cycles_per_ns(), 0);
  CHECK(!unknown.warp_clock(warps[0]));
}

TEST(a_kernel_lies_in_the_middle_of_what_the_host_saw_of_it) {
  const Machine machine;
  const std::vector<Header> warps = {machine.warp(0, 3200, 83'200)};
  Losses losses;
  ClockMap map = ClockMap::fit(warps, 0, losses);
  CHECK(!map.is_host_time());
  map.place(1'000'000, 1'084'000, nullptr, losses);
  CHECK(map.is_host_time());
  CHECK_EQ(map.warp_clock(warps[0])->time_ns(warps[0].start_clock), 1'002'000);
  CHECK_EQ(map.warp_clock(warps[0])->time_ns(warps[0].end_clock), 1'082'000);
  CHECK_EQ(losses.host_misfits, 0);
}

TEST(a_kernel_longer_than_the_host_saw_is_a_misfit) {
  const Machine machine;
  const std::vector<Header> warps = {machine.warp(0, 3200, 83'200)};
  Losses losses;
  ClockMap map = ClockMap::fit(warps, 0, losses);
  map.place(1'000'000, 1'070'000, nullptr, losses);
  CHECK_EQ(losses.host_misfits, 1);
  CHECK_EQ(map.warp_clock(warps[0])->time_ns(warps[0].start_clock), 995'000);
}

TEST(launches_narrow_the_offset_to_the_host_for_one_another) {
  HostOffset offset;
  CHECK(!offset.offset_ns());
  CHECK_EQ(offset.narrow({100, 300}, 1'000), 200);
  CHECK_EQ(offset.narrow({150, 900}, 2'000), 225);
  CHECK_EQ(offset.uncertainty_ns(), 150);
  CHECK_EQ(offset.narrow({-1'000'000, 1'000'000}, 3'000), 225);  // tells nothing, costs nothing
  CHECK_EQ(*offset.offset_ns(), 225);
}

TEST(an_offset_is_believed_less_with_time_and_a_contradiction_starts_anew) {
  HostOffset offset;
  offset.narrow({150, 300}, 0);
  offset.narrow({-1'000'000'000, 1'000'000'000}, 1'000'000'000);
  CHECK_EQ(offset.uncertainty_ns(), 150 + 2 * 50'000);
  CHECK_EQ(offset.narrow({900'000, 900'100}, 1'000'000'000), 900'050);
}

TEST(a_launch_of_which_little_was_recorded_is_placed_by_the_others) {
  const Machine machine;
  const std::vector<Header> all = {machine.warp(0, 0, 80'000)};
  const std::vector<Header> few = {machine.warp(0, 100'000, 108'000)};
  HostOffset offset;
  Losses losses;
  ClockMap whole = ClockMap::fit(all, 0, losses);
  whole.place(1'000'000, 1'082'000, &offset, losses);
  CHECK_EQ(offset.uncertainty_ns(), 2'000);
  ClockMap part = ClockMap::fit(few, 0, losses);
  part.place(1'100'000, 1'182'000, &offset, losses);
  const int64_t start_ns = part.warp_clock(few[0])->time_ns(few[0].start_clock);
  CHECK(std::abs(start_ns - 1'101'000) <= 5);  // clocks may have drifted by as much
  CHECK_EQ(losses.host_misfits, 0);
}

TEST(one_wrong_time_costs_the_others_no_precision) {
  const Machine machine;
  std::vector<Header> warps = kernel(machine, 2, 8, 50'000);
  warps[5].start_time_ns = 1;
  Losses losses;
  const ClockMap map = ClockMap::fit(warps, 0, losses);
  CHECK_EQ(losses.clock_outliers, 1);
  const std::vector<Header> good(warps.begin() + 8, warps.end());
  CHECK(worst_ns(map, machine, good) < 64);
}

TEST(a_rough_fit_is_off_by_steps_of_global_time_and_no_more) {
  const Machine machine;
  const std::vector<Header> warps = kernel(machine, 16, 8, 50'000);
  Losses losses;
  const ClockMap map = ClockMap::fit_roughly(warps, 0, losses);
  CHECK(std::abs(map.cycles_per_ns() / machine.cycles_per_ns - 1) < 0.01);
  CHECK(map.sms().empty());
  CHECK(worst_ns(map, machine, warps) < 10 * 32);
  CHECK_EQ(all_losses(losses), 0u);
}

TEST(a_rough_fit_without_good_warps_has_no_times) {
  Losses losses;
  std::vector<Header> warps(3);
  const ClockMap map = ClockMap::fit_roughly(warps, 1.5, losses);
  CHECK_EQ(map.cycles_per_ns(), 0.0);
  CHECK(!map.warp_clock(warps[0]).has_value());
  CHECK_EQ(losses.bad_clock_pairs, 3u);
}
