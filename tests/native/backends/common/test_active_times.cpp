// When a sink was active, and the order of launches whose ids wrap around.
#include "backends/common/active_times.h"

#include "check.h"

using proton::ActiveTimes;
using proton::LaunchOrder;

namespace {

constexpr auto kNoneUnread = [](const auto&) {};

}  // namespace

TEST(launches_are_in_order_for_as_long_as_you_like) {
  LaunchOrder order;
  order.note(7);
  CHECK(order.position_of(6) < order.position_of(7));
  uint64_t last = order.newest();
  uint32_t id = 7;
  for (int turn = 0; turn < 20; ++turn) {
    id += 1u << 30;
    order.note(id);
    CHECK_EQ(order.newest(), last + (1u << 30));
    CHECK_EQ(order.position_of(id - 5), order.newest() - 5);
    CHECK_EQ(order.position_of(id + 5), order.newest() + 5);
    last = order.newest();
  }
  order.note(id - 100);  // of a buffer that came late
  CHECK_EQ(order.newest(), last);
}

TEST(no_id_is_no_launch) {
  LaunchOrder order;
  order.note(0);
  CHECK_EQ(order.newest(), 0u);
  order.note(3);
  order.note(0);
  CHECK_EQ(order.newest(), order.position_of(3));
}

TEST(ids_that_begin_anew_begin_a_new_order) {
  LaunchOrder order;
  order.note(5000);
  order.reset();
  CHECK_EQ(order.newest(), 0u);
  order.note(1);
  CHECK_EQ(order.position_of(2), order.newest() + 1);
}

TEST(times_hold_the_launches_between_their_ends) {
  ActiveTimes times;
  CHECK(!times.has(1));
  times.begin(0, 0);
  CHECK(times.has(1));
  times.end(10, 0);
  times.begin(10, 0);  // nothing was launched in it
  times.end(10, 0);
  times.begin(10, 0);
  times.end(12, 0);
  times.begin(20, 0);
  for (const uint64_t inside : {1, 10, 11, 12, 21, 1000}) CHECK(times.has(inside));
  for (const uint64_t outside : {13, 19, 20}) CHECK(!times.has(outside));
  times.end(30, 0);
  CHECK(times.has(30));
  CHECK(!times.has(31));
}

TEST(each_of_a_million_times_is_found) {
  ActiveTimes times;
  for (uint64_t i = 0; i < 1'000'000; ++i) {
    times.begin(2 * i, 0);
    times.end(2 * i + 1, 0);
  }
  for (uint64_t i = 0; i < 1'000'000; i += 997) {
    CHECK(times.has(2 * i + 1));
    CHECK(!times.has(2 * i + 2));
  }
}

TEST(times_of_long_ago_are_forgotten_but_for_those_with_work_under_way) {
  ActiveTimes times;
  for (uint64_t i = 0; i < 5000; ++i) {
    CHECK_EQ(times.is_large(), i >= 4096);
    times.begin(2 * i, 0);
    times.end(2 * i + 1, 0);
  }
  times.trim(9000, [](const auto& visit) {
    visit(2001);
    visit(2002);  // launched in a pause
  });
  CHECK_EQ(times.size(), 501u);
  CHECK(!times.is_large());
  CHECK(times.has(2001));
  CHECK(!times.has(1999));
  CHECK(!times.has(2003));
  CHECK(times.has(9001));
  CHECK(times.has(9999));
}

TEST(times_that_cannot_be_forgotten_are_not_looked_at_each_time) {
  ActiveTimes times;
  for (uint64_t i = 0; i < 5000; ++i) {
    times.begin(2 * i, 0);
    times.end(2 * i + 1, 0);
  }
  times.trim(0, kNoneUnread);
  CHECK_EQ(times.size(), 5000u);
  CHECK(!times.is_large());
}

TEST(moments_are_held_from_their_beginning_to_before_their_end) {
  ActiveTimes times;
  CHECK(!times.has_moment(5));
  times.begin(0, ActiveTimes::kEver);
  CHECK(times.has_moment(-1'000'000));
  times.end(0, 10);
  times.begin(0, 20);
  CHECK(times.has_moment(1000));
  times.end(0, ActiveTimes::kNever);  // nobody else is active
  CHECK(times.has_moment(1000));
  times.end_moments(30);
  times.end_moments(40);
  for (const int64_t inside : {9, 20, 29}) CHECK(times.has_moment(inside));
  for (const int64_t outside : {10, 19, 30, 35, 1000}) CHECK(!times.has_moment(outside));
}
