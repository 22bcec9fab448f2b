#include "backends/common/timed_flush.h"

#include <chrono>
#include <memory>
#include <new>
#include <thread>
#include <utility>

#include "base/text.h"

namespace proton {

void FlushProgress::wait_for(std::string what) {
  std::lock_guard lock(mutex_);
  waits_for_ = std::move(what);
}

void FlushProgress::add_problem(std::string text) {
  std::lock_guard lock(mutex_);
  problems_.push_back(std::move(text));
}

void FlushProgress::finish() {
  std::lock_guard lock(mutex_);
  is_finished_ = true;
  finished_.notify_all();
}

bool FlushProgress::wait(int64_t limit_ns, std::vector<std::string>& problems,
                         std::string& waits_for) {
  std::unique_lock lock(mutex_);
  const bool is_finished =
      finished_.wait_for(lock, std::chrono::nanoseconds(limit_ns), [&] { return is_finished_; });
  problems.insert(problems.end(), problems_.begin(), problems_.end());
  waits_for = waits_for_;
  return is_finished;
}

bool TimedFlush::run(int64_t limit_ns, std::function<void(FlushProgress&)> work,
                     Problems problems) {
  auto progress = std::make_shared<FlushProgress>();
  std::thread worker([progress, work = std::move(work)] {
    try {
      work(*progress);
    } catch (const std::exception&) {  // out of memory: there is nothing left to say it with
    }
    progress->finish();
  });
  std::vector<std::string> lines;
  std::string waits_for;
  const bool is_finished = progress->wait(limit_ns, lines, waits_for);
  if (is_finished) {
    worker.join();
  } else {
    worker.detach();  // it ends when the driver lets it
    const bool is_short = limit_ns < 1'000'000'000;
    lines.push_back(concat("waited ", limit_ns / (is_short ? 1'000'000 : 1'000'000'000),
                           is_short ? " ms for " : " s for ", waits_for,
                           "; events that came later are missing"));
  }
  if (problems == Problems::kKept) {
    for (std::string& line : lines) add_problem(std::move(line));
  }
  return is_finished;
}

void TimedFlush::add_problem(std::string text) {
  std::lock_guard lock(mutex_);
  problems_.push_back(std::move(text));
}

std::vector<std::string> TimedFlush::take_problems() {
  std::lock_guard lock(mutex_);
  return std::exchange(problems_, {});
}

void TimedFlush::reset_after_fork() { new (&mutex_) std::mutex; }

}  // namespace proton
