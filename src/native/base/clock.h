/// The host clock: nanoseconds of CLOCK_MONOTONIC, the clock of Python's time.monotonic_ns.
#pragma once

#include <time.h>

#include <cstdint>

namespace proton {

inline int64_t read_clock(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

inline int64_t now_ns() { return read_clock(CLOCK_MONOTONIC); }
inline int64_t unix_now_ns() { return read_clock(CLOCK_REALTIME); }

}  // namespace proton
