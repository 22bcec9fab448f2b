#include "base/correlation_map.h"

#include <atomic>
#include <thread>
#include <vector>

#include "check.h"

using proton::CorrelationMap;

TEST(a_launch_is_found_again_and_may_run_many_kernels) {
  CorrelationMap map(16);
  map.put(5, 42);
  CHECK_EQ(map.find(5).value_or(0), 42);
  CHECK_EQ(map.find(5).value_or(0), 42);
}

TEST(an_overwritten_launch_is_missed_not_guessed) {
  CorrelationMap map(16);
  map.put(5, 42);
  map.put(21, 43);
  CHECK(!map.find(5).has_value());
  CHECK_EQ(map.find(21).value_or(0), 43);
  CHECK(!map.find(0).has_value());
}

TEST(writers_and_readers_need_no_lock) {
  CorrelationMap map(1 << 12);
  std::atomic<uint32_t> launched{0};
  std::atomic<int> wrong{0};
  std::thread reader([&] {
    for (uint32_t seen = 0; seen < 50000;) {
      seen = launched.load();
      if (seen == 0) continue;
      const auto context = map.find(seen);
      if (context.has_value() && *context != seen * 2) ++wrong;
    }
  });
  for (uint32_t i = 1; i <= 50000; ++i) {
    map.put(i, i * 2);
    launched.store(i);
  }
  reader.join();
  CHECK_EQ(wrong.load(), 0);
}
