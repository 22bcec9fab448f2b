/// A thread that runs jobs for callers who wait no longer than a limit, and does work of its own
/// between them, when its time has come. It is started with the first job and never ends.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>

namespace proton {

class JobThread {
 public:
  /// What a caller has the thread do.
  struct Job {
    std::function<void(const Job&)> run;
    std::exception_ptr error;
    bool is_done = false;
    std::atomic<bool> is_cancelled{false};  // nobody waits for it any more
  };

  /// What the thread does besides; all on that thread. None throws.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void begin() = 0;
    /// When `tick` is to be called; kNever: there is nothing to do.
    virtual int64_t next_ns() const = 0;
    virtual void tick() = 0;
    /// After a job or a tick.
    virtual void end_step() = 0;
  };
  static constexpr int64_t kNever = INT64_MAX;

  explicit JobThread(Owner& owner) : owner_(owner) {}

  /// Any thread. False: no thread could be started.
  bool post(std::function<void(const Job&)> run) { return add(std::move(run)) != nullptr; }

  enum class Answer { kDone, kLate, kNoThread };
  /// Has the thread run it; throws what it throws. kLate: it takes longer than the limit, and may
  /// still end.
  Answer ask(std::function<void(const Job&)> run, int64_t limit_ns);

 private:
  std::shared_ptr<Job> add(std::function<void(const Job&)> run);
  void run();

  Owner& owner_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_started_ = false;
  std::deque<std::shared_ptr<Job>> jobs_;
};

/// A right that one thread has at a time, and for which others wait no longer than a limit.
class TimedTurn {
 public:
  bool take(int64_t limit_ns);
  void give_back();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_taken_ = false;
};

}  // namespace proton
