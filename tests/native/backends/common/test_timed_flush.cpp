// A flush on a thread of its own: its limit, and its problems as lines.
#include "backends/common/timed_flush.h"

#include <future>
#include <memory>

#include "check.h"

using proton::FlushProgress;
using proton::TimedFlush;

namespace {

constexpr int64_t kLongNs = 60'000'000'000;
constexpr auto kKept = TimedFlush::Problems::kKept;

}  // namespace

TEST(a_flush_that_ends_in_time_tells_its_problems) {
  TimedFlush flush;
  CHECK(flush.run(kLongNs, [](FlushProgress& progress) { progress.add_problem("no"); }, kKept));
  flush.add_problem("also");
  const auto problems = flush.take_problems();
  CHECK_EQ(problems.size(), 2u);
  CHECK_EQ(problems[0], "no");
  CHECK(flush.take_problems().empty());
}

TEST(a_flush_that_takes_too_long_says_what_it_waits_for_and_goes_on) {
  TimedFlush flush;
  auto hold = std::make_shared<std::promise<void>>();
  std::shared_future<void> held = hold->get_future().share();
  auto ended = std::make_shared<std::promise<void>>();
  const auto work = [held, ended](FlushProgress& progress) {
    progress.wait_for("a device");
    held.wait();
    ended->set_value();
  };
  CHECK(!flush.run(20'000'000, work, kKept));
  const auto problems = flush.take_problems();
  CHECK_EQ(problems.size(), 1u);
  CHECK_HAS(problems[0], "waited 20 ms for ");
  CHECK_HAS(problems[0], "events that came later are missing");
  hold->set_value();
  ended->get_future().wait();
}

TEST(a_second_look_tells_no_problem_again) {
  TimedFlush flush;
  const auto work = [](FlushProgress& progress) { progress.add_problem("no"); };
  CHECK(flush.run(kLongNs, work, TimedFlush::Problems::kDropped));
  CHECK(flush.take_problems().empty());
}

TEST(a_flush_that_throws_has_ended) {
  TimedFlush flush;
  CHECK(flush.run(kLongNs, [](FlushProgress&) { throw std::bad_alloc(); }, kKept));
}
