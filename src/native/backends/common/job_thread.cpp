#include "backends/common/job_thread.h"

#include <chrono>
#include <utility>

#include "base/clock.h"
#include "base/quiet_thread.h"

namespace proton {

std::shared_ptr<JobThread::Job> JobThread::add(std::function<void(const Job&)> run) {
  auto job = std::make_shared<Job>();
  job->run = std::move(run);
  std::lock_guard lock(mutex_);
  if (!is_started_) is_started_ = start_quiet_thread([this] { this->run(); });
  if (!is_started_) return nullptr;
  jobs_.push_back(job);
  changed_.notify_all();
  return job;
}

JobThread::Answer JobThread::ask(std::function<void(const Job&)> run, int64_t limit_ns) {
  const std::shared_ptr<Job> job = add(std::move(run));
  if (job == nullptr) return Answer::kNoThread;
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, std::chrono::nanoseconds(limit_ns), [&] { return job->is_done; })) {
    if (job->error != nullptr) std::rethrow_exception(job->error);
    return Answer::kDone;
  }
  job->is_cancelled.store(true);
  return Answer::kLate;
}

void JobThread::run() {
  owner_.begin();
  std::unique_lock lock(mutex_);
  for (;;) {
    const int64_t now = now_ns();
    const int64_t next = owner_.next_ns();
    if (now >= next) {
      lock.unlock();
      owner_.tick();
      owner_.end_step();
      lock.lock();
    } else if (!jobs_.empty()) {
      const std::shared_ptr<Job> job = jobs_.front();
      jobs_.pop_front();
      lock.unlock();
      try {
        if (!job->is_cancelled.load()) job->run(*job);
      } catch (...) {
        job->error = std::current_exception();
      }
      owner_.end_step();
      lock.lock();
      job->is_done = true;
      changed_.notify_all();
    } else if (next != kNever) {
      changed_.wait_for(lock, std::chrono::nanoseconds(next - now));
    } else {
      changed_.wait(lock);
    }
  }
}

bool TimedTurn::take(int64_t limit_ns) {
  std::unique_lock lock(mutex_);
  const bool is_free =
      changed_.wait_for(lock, std::chrono::nanoseconds(limit_ns), [&] { return !is_taken_; });
  if (is_free) is_taken_ = true;
  return is_free;
}

void TimedTurn::give_back() {
  std::lock_guard lock(mutex_);
  is_taken_ = false;
  changed_.notify_all();
}

}  // namespace proton
