/// Runs a flush on a thread of its own, because neither drivers nor their tools take a time limit,
/// and keeps what went wrong as lines for the user. Any thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace proton {

/// How a flush on another thread goes.
class FlushProgress {
 public:
  /// What it waits for from now on, to be told where that takes too long.
  void wait_for(std::string what);
  void add_problem(std::string text);

  void finish();
  /// Appends the problems so far. False: the flush has not finished within the limit, and
  /// `waits_for` says why.
  bool wait(int64_t limit_ns, std::vector<std::string>& problems, std::string& waits_for);

 private:
  std::mutex mutex_;
  std::condition_variable finished_;
  bool is_finished_ = false;
  std::string waits_for_;
  std::vector<std::string> problems_;
};

class TimedFlush {
 public:
  enum class Problems { kKept, kDropped };

  /// False: `work` takes longer than the limit and goes on; it must not refer to what may end.
  bool run(int64_t limit_ns, std::function<void(FlushProgress&)> work, Problems problems);

  void add_problem(std::string text);
  std::vector<std::string> take_problems();
  /// In a forked child.
  void reset_after_fork();

 private:
  std::mutex mutex_;
  std::vector<std::string> problems_;
};

}  // namespace proton
