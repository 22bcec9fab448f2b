/// The executable graphs that were made while CUPTI traced whole graphs. Launching another one then
/// crashes the process inside CUPTI (seen with 13.0 and driver 580), so such a launch must find
/// that kind of tracing off.
#pragma once

#include <atomic>
#include <mutex>
#include <unordered_set>

namespace proton::cupti {

class GraphExecs {
 public:
  /// Whole graphs are traced from now on, or no more; forgets what it knew.
  void set_traced(bool is_traced);
  bool is_traced() const noexcept { return is_traced_.load(std::memory_order_relaxed); }

  void add(void* exec);
  void remove(void* exec) noexcept;
  /// Whether `exec` may be launched as things are.
  bool allows(void* exec) noexcept;

  /// How often tracing was switched off for the sake of an older graph.
  void count_refusal() noexcept { refusal_count_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t refusal_count() const noexcept { return refusal_count_.load(); }

  void reset_after_fork();

 private:
  std::atomic<bool> is_traced_{false};
  std::atomic<uint64_t> refusal_count_{0};
  std::mutex mutex_;
  std::unordered_set<void*> known_;
};

}  // namespace proton::cupti
