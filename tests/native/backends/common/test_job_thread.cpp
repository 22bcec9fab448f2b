// A thread that runs jobs within limits and ticks between them, and the turn that threads take.
#include "backends/common/job_thread.h"

#include <future>
#include <new>
#include <stdexcept>
#include <thread>

#include "base/clock.h"
#include "check.h"

using proton::JobThread;
using proton::TimedTurn;

namespace {

constexpr int64_t kPatienceNs = 60'000'000'000;

class CountingOwner final : public JobThread::Owner {
 public:
  void begin() override { ++begins; }
  int64_t next_ns() const override { return next.load(); }
  void tick() override {
    next.store(JobThread::kNever);
    ticked.set_value();
  }
  void end_step() override { ++steps; }

  std::atomic<int> begins{0}, steps{0};
  std::atomic<int64_t> next{JobThread::kNever};
  std::promise<void> ticked;
};

/// Never freed: the thread never ends.
JobThread& make_thread(CountingOwner*& owner) {
  owner = new CountingOwner;
  return *new JobThread(*owner);
}

}  // namespace

TEST(a_job_runs_on_the_thread_and_its_errors_come_back) {
  CountingOwner* owner = nullptr;
  JobThread& jobs = make_thread(owner);
  std::thread::id where;
  const auto note = [&](const JobThread::Job&) { where = std::this_thread::get_id(); };
  CHECK(jobs.ask(note, kPatienceNs) == JobThread::Answer::kDone);
  CHECK(where != std::this_thread::get_id());
  CHECK_EQ(owner->begins.load(), 1);
  CHECK_EQ(owner->steps.load(), 1);
  const auto fail = [](const JobThread::Job&) { throw std::runtime_error("no"); };
  CHECK_THROWS(jobs.ask(fail, kPatienceNs), std::runtime_error);
}

TEST(a_caller_waits_no_longer_than_its_limit_and_a_job_that_waits_is_cancelled) {
  CountingOwner* owner = nullptr;
  JobThread& jobs = make_thread(owner);
  auto hold = std::make_shared<std::promise<void>>();
  std::shared_future<void> held = hold->get_future().share();
  CHECK(jobs.post([held](const JobThread::Job&) { held.wait(); }));
  auto has_run = std::make_shared<std::atomic<bool>>(false);
  const auto late = [has_run](const JobThread::Job&) { has_run->store(true); };
  CHECK(jobs.ask(late, 10'000'000) == JobThread::Answer::kLate);
  hold->set_value();
  CHECK(jobs.ask([](const JobThread::Job&) {}, kPatienceNs) == JobThread::Answer::kDone);
  CHECK(!has_run->load());
}

TEST(the_thread_ticks_when_its_time_has_come) {
  CountingOwner* owner = nullptr;
  JobThread& jobs = make_thread(owner);
  CHECK(jobs.post([owner](const JobThread::Job&) { owner->next.store(proton::now_ns()); }));
  owner->ticked.get_future().wait();
}

TEST(a_turn_is_had_by_one_thread_at_a_time) {
  TimedTurn turn;
  CHECK(turn.take(kPatienceNs));
  CHECK(!turn.take(1'000'000));
  std::thread other([&] { turn.give_back(); });
  CHECK(turn.take(kPatienceNs));
  other.join();
}
