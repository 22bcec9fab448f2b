#include "backends/common/correlation_map.h"

#include <atomic>
#include <thread>
#include <vector>

#include "check.h"

using proton::CorrelationMap;

namespace {

constexpr uint32_t kLap = CorrelationMap::kCapacity;  // ids so far apart share a slot

uint32_t context_of(CorrelationMap& map, uint32_t correlation) {
  const auto launch = map.find(correlation);
  return launch.has_value() ? launch->context : 0;
}

}  // namespace

TEST(a_launch_is_found_again_and_may_run_many_kernels) {
  CorrelationMap map;
  map.put(5, 42, CorrelationMap::tag(1));
  CHECK_EQ(context_of(map, 5), 42);
  CHECK_EQ(context_of(map, 5), 42);
  CHECK_EQ(map.find(5)->generation, 1);
}

TEST(a_launch_that_was_never_made_is_missed_not_guessed) {
  CorrelationMap map;
  map.put(5, 42, CorrelationMap::tag(1));
  CHECK(!map.find(6).has_value());
  CHECK(!map.find(5 + kLap).has_value());
  CHECK(!map.find(0).has_value());
}

TEST(a_launch_at_the_root_is_found_after_it_was_read) {
  CorrelationMap map;
  map.put(5, 0, CorrelationMap::tag(1));
  CHECK(map.find(5).has_value());
  CHECK(map.find(5).has_value());
}

TEST(an_unread_launch_moves_aside_and_a_read_one_is_forgotten) {
  CorrelationMap map;
  map.put(5, 42, CorrelationMap::tag(1));
  map.put(5 + kLap, 43, CorrelationMap::tag(1));
  CHECK_EQ(context_of(map, 5), 42);
  CHECK_EQ(context_of(map, 5 + kLap), 43);
  map.put(5 + 2 * kLap, 44, CorrelationMap::tag(1));
  CHECK_EQ(map.aside_count(), 1);
  CHECK(!map.find(5 + kLap).has_value());
}

TEST(launches_of_an_earlier_generation_are_not_kept) {
  CorrelationMap map;
  map.put(5, 42, CorrelationMap::tag(1));
  map.put(5 + kLap, 43, CorrelationMap::tag(2));
  CHECK_EQ(map.aside_count(), 0);
  CHECK_EQ(map.find(5 + kLap)->generation, 2);
}

TEST(launches_that_nobody_reads_do_not_pile_up) {
  CorrelationMap map;
  for (uint32_t id = 1; id < 3 * kLap; ++id) map.put(id, 1, CorrelationMap::tag(1));
  CHECK(map.aside_count() <= CorrelationMap::kAsideLimit);
}

TEST(writers_and_readers_need_no_lock) {
  CorrelationMap map;
  std::atomic<uint32_t> launched{0};
  std::atomic<int> wrong{0};
  constexpr uint32_t kStep = 1 << 16;  // sixteen slots, so that all meet again
  constexpr uint32_t kLaunches = 50000;
  std::thread reader([&] {
    for (uint32_t seen = 0; seen < kLaunches;) {
      seen = launched.load();
      if (seen == 0) continue;
      const auto launch = map.find(seen * kStep);
      if (launch.has_value() && launch->context != seen * 2) ++wrong;
    }
  });
  for (uint32_t i = 1; i <= kLaunches; ++i) {
    map.put(i * kStep, i * 2, CorrelationMap::tag(1));
    launched.store(i);
  }
  reader.join();
  CHECK_EQ(wrong.load(), 0);
}

TEST(launches_without_records_are_known) {
  CorrelationMap map;
  for (uint32_t id = 10; id <= 20; ++id) map.put(id, 1, CorrelationMap::tag(3));
  CHECK(map.has_unread(9, 20, 3));
  CHECK(!map.has_unread(20, 30, 3));
  CHECK(!map.has_unread(9, 20, 4));  // of another subscription
  for (uint32_t id = 10; id <= 15; ++id) map.find(id);
  CHECK(!map.has_unread(9, 15, 3));
  CHECK(map.has_unread(9, 16, 3));
}

TEST(launches_that_moved_aside_count_as_unread_until_they_are_read) {
  CorrelationMap map;
  map.put(5, 1, CorrelationMap::tag(3));
  map.put(5 + kLap, 2, CorrelationMap::tag(3));
  map.find(5 + kLap);
  CHECK(map.has_unread(0, 10, 3));
  map.find(5);
  CHECK(!map.has_unread(0, 10, 3));
}

TEST(launches_without_records_are_visited_wherever_they_are) {
  CorrelationMap map;
  map.put(5, 42, CorrelationMap::tag(2));
  map.put(6, 42, CorrelationMap::tag(2));
  map.put(7, 42, CorrelationMap::tag(1));         // of an earlier generation
  map.put(5 + kLap, 43, CorrelationMap::tag(2));  // moves the first one aside
  map.find(6);
  std::vector<uint32_t> ids;
  map.visit_unread(2, [&](uint32_t id) { ids.push_back(id); });
  CHECK(ids == (std::vector<uint32_t>{5 + kLap, 5}));
}

TEST(launches_whose_records_must_come_are_told_from_those_that_need_not) {
  CorrelationMap map;
  map.put(5, 42, CorrelationMap::tag(2, true));   // moves aside
  map.put(6, 43, CorrelationMap::tag(2, true));   // is read
  map.put(7, 44, CorrelationMap::tag(2, true));   // may have no record
  map.put(8, 45, CorrelationMap::tag(2, false));  // need not come
  map.put(9, 46, CorrelationMap::tag(1, true));   // of an earlier generation
  map.put(5 + kLap, 47, CorrelationMap::tag(2, true));
  map.find(6);
  map.mark_optional(7);
  std::vector<std::pair<uint32_t, uint32_t>> seen;
  map.visit_expected(0, 5 + kLap, 2,
                     [&](uint32_t id, uint32_t context) { seen.emplace_back(id, context); });
  CHECK(seen == (std::vector<std::pair<uint32_t, uint32_t>>{{5 + kLap, 47}, {5, 42}}));
  for (const uint32_t id : {5u, 5 + kLap}) CHECK(map.is_expected(id, 2));
  for (const uint32_t id : {6u, 7u, 8u, 9u, 10u}) CHECK(!map.is_expected(id, 2));
  map.mark_optional(5);
  CHECK(!map.is_expected(5, 2));
  CHECK(map.has_unread(4, 5, 2));  // but it is waited for
}
