#include "backends/cupti/flusher.h"

#include <new>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"

namespace proton::cupti {
namespace {

constexpr int64_t kValuesLimitNs = 10'000'000'000;

}  // namespace

bool Flusher::hand_over(int64_t limit_ns, const Options& options) {
  const auto work = [this, options](FlushProgress& progress) {
    if (options.synchronize) contexts_.wait_for_gpu(progress);
    progress.wait_for("CUPTI to hand over its events");
    const Library& library = subscription_.library();
    std::lock_guard lock(mutex_);
    Result result = library.flush_all(0);
    if (options.is_forced) result = library.flush_all(kFlushForced);
    if (result == kSuccess) return;
    progress.add_problem(concat("cuptiActivityFlushAll failed with ", library.describe(result),
                                ": events that it still held are missing"));
  };
  return timed_.run(limit_ns, work, options.problems);
}

bool Flusher::flush(int64_t limit_ns, bool synchronize) {
  try {
    reader_.update_clock(subscription_.read_clocks());
  } catch (const Error&) {  // the clocks stay as they were
  }
  const int64_t until_ns = now_ns() + limit_ns;
  const ValueId newest = values_.values().newest();
  const int64_t known_ns = reader_.begin_flush();
  const LaunchMoment before = note_moment(launches_.cells());
  const bool is_done = hand_over(limit_ns, {.synchronize = synchronize, .is_forced = synchronize});
  std::string problem = sampled_sinks_.collect(limit_ns, synchronize);
  if (!problem.empty()) timed_.add_problem(std::move(problem));
  const bool is_complete = is_done && synchronize;
  FinishedReads finished;
  if (is_complete) finished.until = newest;
  if (is_done) finished.replays_before_ns = known_ns;
  reader_.finish_flush(is_complete, finished);
  if (is_complete) count_unrecorded(before, until_ns);
  return is_done;
}

void Flusher::count_unrecorded(const LaunchMoment& before, int64_t until_ns) {
  UnrecordedLaunches unrecorded = find_unrecorded(launches_, sinks_, before);
  if (unrecorded.is_empty()) return;
  const LaunchMoment now = note_moment(launches_.cells());
  const Options again{
      .synchronize = true, .is_forced = true, .problems = TimedFlush::Problems::kDropped};
  if (!hand_over(until_ns - now_ns(), again)) return;
  reader_.count_dropped();
  proton::count_unrecorded(launches_, sinks_, std::move(unrecorded), now);
}

void Flusher::finish_captured_values() {
  if (!values_.values().has_captured()) return;
  const ValueId newest = values_.values().newest();
  const bool is_done = hand_over(kValuesLimitNs, {.synchronize = true, .is_forced = true});
  reader_.send_values({.until = is_done ? newest : 0});
}

void Flusher::sweep() {
  const int64_t known_ns = reader_.begin_flush();
  {
    std::lock_guard lock(mutex_);
    subscription_.library().flush_all(0);
  }
  reader_.send_values({.replays_before_ns = known_ns});
}

bool Flusher::let_go() {
  std::lock_guard lock(mutex_);
  return subscription_.let_go();
}

void Flusher::reset_after_fork() {
  new (&mutex_) std::mutex;
  timed_.reset_after_fork();
}

}  // namespace proton::cupti
