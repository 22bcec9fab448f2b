// Ticks, converted, agree with the host clock.
#include "base/tick_clock.h"
#include "check.h"

TEST(ticks_are_converted_to_nanoseconds_of_the_host_clock) {
  const proton::TickClock clock;
  const int64_t start_ns = proton::now_ns();
  const uint64_t start = clock.read();
  while (proton::now_ns() - start_ns < 20'000'000) {
  }
  const uint64_t end = clock.read();
  const int64_t end_ns = proton::now_ns();
  const double measured = static_cast<double>(end - start) * clock.ns_per_tick();
  const auto truth = static_cast<double>(end_ns - start_ns);
  CHECK(measured <= truth * 1.0001);
  CHECK(measured >= truth * 0.9);  // what lies between the readings of the two clocks
}

TEST(a_rate_is_known_at_once) {
  const proton::TickClock clock;
  const double first = clock.ns_per_tick();
  const double second = clock.ns_per_tick();
  CHECK(first > 0);
  CHECK(second > first * 0.999 && second < first * 1.001);
}
