// GPU time by step: which step an event is of, whatever the order in which events come.
#include "session/booking/step_times.h"

#include "check.h"

using namespace proton;

namespace {

/// Steps of a session whose first one began before any launch.
struct Steps {
  StepTimes times;

  Steps() { times.begin(0, 0, false); }
  StepId mark(int64_t time_ns, CorrelationId newest, bool is_kept = true) {
    if (times.is_first()) times.switch_on(0);
    return times.begin(time_ns, newest, is_kept);
  }
  void forget(std::initializer_list<StepId> ids) {
    std::vector<MarkedStep> steps;
    for (const StepId id : ids) steps.push_back({0, 0, id});
    times.forget(steps);
  }
};

}  // namespace

TEST(events_count_for_the_step_of_their_launch_in_any_order) {
  Steps steps;
  const StepId first = steps.mark(10, 3);
  const StepId second = steps.mark(20, 5);
  for (const CorrelationId id : {6u, 5u, 1u, 4u, 3u}) steps.times.add(id, 99, 1 << id);
  CHECK_EQ(steps.times.time_of(first), 2 + 8);
  CHECK_EQ(steps.times.time_of(second), 16 + 32);
}

TEST(what_was_booked_before_the_first_mark_is_of_the_first_step) {
  Steps steps;
  CHECK(steps.times.is_first());
  CHECK(!steps.times.is_on());
  steps.times.switch_on(100);
  const StepId first = steps.times.begin(10, 3, true);
  steps.times.add(2, 0, 1);
  CHECK_EQ(steps.times.time_of(first), 101);
}

TEST(events_without_an_id_count_where_they_begin) {
  Steps steps;
  const StepId first = steps.mark(10, 0);
  const StepId second = steps.mark(20, 0);
  for (const int64_t start_ns : {-5, 0, 9, 10, 19, 20}) steps.times.add(0, start_ns, 1);
  CHECK_EQ(steps.times.time_of(first), 2);
  CHECK_EQ(steps.times.time_of(second), 2);
}

TEST(what_a_pause_cuts_off_is_of_no_step) {
  Steps steps;
  const StepId first = steps.mark(10, 2);
  for (int64_t pause = 0; pause < 3; ++pause) steps.mark(20 + pause, 4, false);
  const StepId second = steps.mark(40, 6);
  for (CorrelationId id = 1; id <= 7; ++id) steps.times.add(id, 0, 1);
  CHECK_EQ(steps.times.time_of(first), 2);
  CHECK_EQ(steps.times.time_of(second), 2);
}

TEST(ids_may_wrap_within_a_step) {
  Steps steps;
  const StepId first = steps.mark(10, UINT32_MAX - 2);
  const StepId second = steps.mark(20, 2);
  for (const CorrelationId id : {UINT32_MAX - 2, UINT32_MAX, 1u, 2u, 3u}) steps.times.add(id, 0, 1);
  CHECK_EQ(steps.times.time_of(first), 1);
  CHECK_EQ(steps.times.time_of(second), 3);
}

TEST(steps_of_cleared_phases_are_forgotten_and_their_events_are_of_none) {
  Steps steps;
  const StepId first = steps.mark(10, 2);
  const StepId second = steps.mark(20, 4);
  const StepId third = steps.mark(30, 6);
  steps.forget({second});
  for (CorrelationId id = 1; id <= 6; ++id) steps.times.add(id, 0, 1);
  CHECK_EQ(steps.times.time_of(first), 2);
  CHECK_EQ(steps.times.time_of(third), 2);
  steps.forget({first});
  CHECK_EQ(steps.times.time_of(first), 0);
  CHECK_EQ(steps.times.time_of(second), 0);
  for (CorrelationId id = 1; id <= 6; ++id) steps.times.add(id, 0, 1);
  CHECK_EQ(steps.times.time_of(third), 4);
}
