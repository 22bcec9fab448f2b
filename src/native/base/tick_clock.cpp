#include "base/tick_clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace proton {
namespace {

/// Whether the counter has one rate in every state of the processor.
bool has_even_counter() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kPowerLeaf = 0x80000007, kInvariantBit = 1u << 8;
  return __get_cpuid(kPowerLeaf, &a, &b, &c, &d) != 0 && (d & kInvariantBit) != 0;
#else
  return false;
#endif
}

}  // namespace

TickClock::TickClock() : has_counter_(has_even_counter()), start_(read_both()) {}

TickClock::Pair TickClock::read_both() const {
  Pair best{};
  uint64_t shortest = UINT64_MAX;
  for (int i = 0; i < 5; ++i) {  // the thread may be suspended between two readings
    const uint64_t before = read();
    const int64_t ns = now_ns();
    const uint64_t width = read() - before;
    if (width < shortest) {
      shortest = width;
      best = {before + width / 2, ns};
    }
  }
  return best;
}

double TickClock::ns_per_tick() const {
  if (!has_counter_) return 1.0;
  constexpr int64_t kEnough = 1'000'000;  // 50 ns of doubt are then 50 parts in a million
  Pair now = read_both();
  while (now.ns - start_.ns < kEnough) now = read_both();
  return static_cast<double>(now.ns - start_.ns) / static_cast<double>(now.ticks - start_.ticks);
}

}  // namespace proton
