#include "session/snapshot/kernel_details.h"

#include "check.h"

using namespace proton;

namespace {

Value::Map attributes(const char* arch) {
  return {{"arch", Value{std::string(arch)}},
          {"max_threads_per_sm", Value{int64_t{2048}}},
          {"max_blocks_per_sm", Value{int64_t{32}}},
          {"registers_per_sm", Value{int64_t{65536}}},
          {"shared_bytes_per_sm", Value{int64_t{233472}}},
          {"reserved_shared_bytes_per_block", Value{int64_t{1024}}}};
}

LaunchShape launch(int threads, int registers, int shared) {
  return {{1, 1, 1}, {threads, 1, 1}, registers, 0, shared};
}

double share(const LaunchShape& shape) {
  const auto limits = SmLimits::from(attributes("90"));
  return limits.has_value() ? occupancy_of(*limits, shape).value_or(-1) : -2;
}

}  // namespace

TEST(a_small_launch_fills_the_multiprocessor) { CHECK_EQ(share(launch(256, 32, 0)), 1.0); }

TEST(small_blocks_are_limited_by_their_number) { CHECK_EQ(share(launch(32, 32, 0)), 0.5); }

TEST(registers_are_given_by_the_warp_in_each_of_four_parts) {
  CHECK_EQ(share(launch(128, 128, 0)), 0.25);
  CHECK_EQ(share(launch(128, 129, 0)), 0.1875);  // 136 of them: 3 warps a part instead of 4
  CHECK_EQ(share(launch(1024, 64, 0)), 0.5);
}

TEST(shared_memory_counts_with_what_the_driver_takes) {
  CHECK_EQ(share(launch(128, 32, 114 * 1024 - 1024)), 0.125);
  CHECK_EQ(share(launch(128, 32, 114 * 1024 - 1023)), 0.0625);
}

TEST(a_part_of_a_warp_is_a_warp) { CHECK_EQ(share(launch(33, 32, 0)), 1.0); }

TEST(a_launch_that_could_not_run_has_none) {
  CHECK_EQ(share(launch(128, 32, 1 << 20)), -1.0);
  CHECK_EQ(share(LaunchShape{}), -1.0);
}

TEST(unknown_devices_have_no_limits) {
  CHECK(!SmLimits::from({}).has_value());
  CHECK(!SmLimits::from(attributes("gfx942")).has_value());
  Value::Map partial = attributes("90");
  partial.pop_back();
  CHECK(SmLimits::from(partial).has_value());  // older drivers reserve nothing
  partial.pop_back();
  CHECK(!SmLimits::from(partial).has_value());
}
