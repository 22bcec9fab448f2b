/// Samples the program counters of every CUDA context, all the time or in windows, and hands the
/// counts over. Nothing here runs at a launch: contexts are switched on once, a worker reads out.
///
/// Calls of CUPTI that sample are made by one thread at a time, the one that has the turn: the
/// worker, or a thread in a callback of a context or module that comes or goes. Those that switch
/// sampling also close the gate. Waits have limits: what takes longer is put off or given up.
/// Of the hub's locks none is held while the turn is waited for but `control`, and only that of the
/// sink table is taken while somebody has the turn. `used_mutex_` is held for no call.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "backends/common/job_thread.h"
#include "backends/cupti/driver/contexts.h"
#include "backends/cupti/driver/library.h"
#include "backends/cupti/sampling/sampled_contexts.h"
#include "backends/cupti/sampling/sampling_gate.h"

namespace proton::cupti {

/// When the worker has something to do. By the worker alone.
class SamplingSchedule {
 public:
  int64_t next_ns() const { return next_ns_; }
  /// Sampling begins, with a window where there are any.
  void begin(int64_t now, const SamplingOptions& options);
  /// A window begins.
  void begin_window(int64_t now, const SamplingOptions& options) {
    window_end_ns_ = now + options.window_ns;
  }
  bool is_window_over(int64_t now) const { return now >= window_end_ns_; }
  /// What is to be done now may fail, and is then tried again: each time after twice as long.
  void retry(int64_t now);
  /// It was done; the next read, or the next end or begin of a window.
  void go_on(int64_t now, const SamplingOptions& options, bool is_window);
  /// CUPTI has refused what it had allowed before.
  void give_up(int64_t now);

 private:
  int64_t next_ns_ = 0;
  int retry_count_ = 0;
  int64_t window_end_ns_ = 0;
  int64_t next_window_ns_ = 0;
};

class Sampler : private JobThread::Owner {
 public:
  using Limits = SamplingLimits;

  Sampler(const Library& library, ContextList& contexts, SinkTable& sinks)
      : library_(library), contexts_(contexts), report_(sinks) {}

  SamplingGate& gate() { return gate_; }
  bool is_open() const noexcept { return is_open_.load(std::memory_order_acquire); }
  const SamplingOptions& options() const { return sampled_.options(); }  // by who opens and closes

  /// Samples every context, now and when it comes. Launches must pass the gate already. Throws
  /// BackendError; then nothing is sampled.
  void open(const SamplingOptions& options);
  /// Hands over what is left, and leaves every context as it was.
  void close();
  /// Hands over all samples up to now; `is_whole` also those that CUPTI has not decoded yet, for
  /// which sampling stops for a moment. False: it took longer than the limit.
  bool collect(int64_t limit_ns, bool is_whole);

  // In callbacks, on any thread.
  void on_context_created(Context context) noexcept;
  void on_context_destroyed(Context context) noexcept;
  /// Before a launch: of contexts that are older than the subscription nobody was told.
  void on_context_used(Context context) noexcept;
  void on_module_unload(Context context) noexcept;

  /// Why device 0 cannot be sampled, as a text for the user; empty: it can. Initialises the driver
  /// and makes a context for it: for a process that does nothing else.
  std::string probe();

  SamplingStats stats() { return report_.stats(); }
  /// What went wrong since the last call, as lines for the user.
  std::vector<std::string> take_problems();
  /// Called when there is a problem to tell of, on any thread and in callbacks of the driver.
  void set_problem_hook(void (*hook)()) { report_.set_problem_hook(hook); }
  void set_limits(const Limits& limits) { limits_ = limits; }

 private:
  using Job = JobThread::Job;
  /// The right to call CUPTI's sampling functions.
  class Turn;

  // Of the worker
  void begin() override;
  int64_t next_ns() const override;
  void tick() override;
  void end_step() override;

  bool ask(std::function<void(const Job&)> run, int64_t limit_ns);
  void wait_for_launches();

  // With the turn
  void tick_with_turn();
  void open_all(const Job& job);
  void close_all();
  void adopt(Context context);
  void adopt_late();

  template <typename Call>
  void in_callback(Call call) noexcept;
  bool is_used(Context context);
  void note_used(Context context);
  void post_adoption(Context context);
  void note_hang() noexcept;

  const Library& library_;
  ContextList& contexts_;
  SamplingReport report_;
  Limits limits_;
  SamplingGate gate_;
  std::atomic<bool> is_open_{false};
  std::atomic<bool> has_told_hang_{false};
  JobThread worker_{*this};
  SamplingSchedule schedule_;
  TimedTurn turn_;
  SampledContexts sampled_{library_, gate_, report_, limits_};  // with the turn
  std::vector<Context> late_;  // with the turn: to be sampled, but for a launch that took too long
  std::mutex used_mutex_;
  std::vector<Context> used_;  // alive, and tried: no launch there is news
};

}  // namespace proton::cupti
