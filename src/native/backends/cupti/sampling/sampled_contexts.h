/// The CUDA contexts whose program counters are sampled: switched on and off, read out. Calls are
/// made by one thread at a time, the one that has Sampler's turn; those that switch sampling also
/// close the gate, so that nobody launches meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backends/common/sink_table.h"
#include "backends/cupti/driver/library.h"
#include "backends/cupti/sampling/sample_buffer.h"
#include "backends/cupti/sampling/sampling_gate.h"

namespace proton::cupti {

struct SamplingStats {
  uint64_t samples = 0;  // of the program's kernels
  uint64_t dropped = 0;
  uint64_t non_user = 0;
  uint64_t overflows = 0;  // reads that found the hardware's buffer full
  uint64_t reads = 0;
  uint64_t windows = 0;
  uint64_t switches = 0;         // times that launches were held
  uint64_t put_off = 0;          // times they could not be, because one took too long
  uint64_t longest_hold_ns = 0;  // of launches
  uint64_t contexts = 0;         // sampled now
};

/// What sampling tells: samples and losses to the sinks that sample, problems and figures to who
/// asks. Any thread, callbacks of the driver too; its lock is held for no call.
class SamplingReport {
 public:
  explicit SamplingReport(SinkTable& sinks) : sinks_(sinks) {}

  /// Called when there is a problem to tell of.
  void set_problem_hook(void (*hook)()) { problem_hook_.store(hook); }

  void send(const SampleBatch& batch) {
    sinks_.visit_active(kNeedsSamples, [&](EventSink& sink) { sink.on_samples(batch); });
  }
  void count_lost(const char* kind, uint64_t count) {
    if (count == 0) return;
    sinks_.visit_active(kNeedsSamples, [&](EventSink& sink) { sink.on_loss(kind, count); });
  }

  /// As a line for the user; more than some are of no use.
  void note_problem(std::string text) {
    {
      std::lock_guard lock(mutex_);
      if (problems_.size() >= kProblemLimit) return;
      problems_.push_back(std::move(text));
    }
    if (const auto hook = problem_hook_.load()) hook();
  }
  std::vector<std::string> take_problems() {
    std::lock_guard lock(mutex_);
    return std::exchange(problems_, {});
  }

  /// Has `change` change the figures.
  template <typename Change>
  void count(Change&& change) {
    std::lock_guard lock(mutex_);
    change(stats_);
  }
  SamplingStats stats() {
    std::lock_guard lock(mutex_);
    return stats_;
  }

 private:
  static constexpr size_t kProblemLimit = 20;

  SinkTable& sinks_;
  std::atomic<void (*)()> problem_hook_{nullptr};
  std::mutex mutex_;
  std::vector<std::string> problems_;
  SamplingStats stats_;
};

struct SamplingOptions {
  uint32_t period_exponent = 14;     // a sample of each SM every 2^14 cycles
  size_t buffer_bytes = 512u << 20;  // of the hardware
  int64_t drain_ns = 200'000'000;    // between two reads
  int64_t window_ns = 0;             // sampled time in every `every_ns`
  int64_t every_ns = 0;              // 0: sampled all the time

  bool operator==(const SamplingOptions&) const = default;
};

/// Tests shorten them.
struct SamplingLimits {
  int64_t inside_ns = 100'000'000;     // for launches under way to end
  int64_t grace_ns = 50'000'000;       // for those that began before they were watched
  int64_t turn_ns = 2'000'000'000;     // in callbacks, for the turn
  int64_t switch_ns = 10'000'000'000;  // for the worker to switch all contexts
};

class SampledContexts {
 public:
  SampledContexts(const Library& library, SamplingGate& gate, SamplingReport& report,
                  const SamplingLimits& limits)
      : library_(library), gate_(gate), report_(report), limits_(limits) {}

  // Without the turn
  /// Whether this thread is in a call of ours: what CUPTI itself makes or unloads meanwhile is not
  /// the program's.
  static bool is_calling() noexcept;
  /// A context ended while others had the turn; CUPTI may still write to its buffers.
  void note_gone(Context context);

  /// By the worker, which has no context of its own; other threads are in a call for one.
  static void begin_worker() noexcept;
  void make_current(Context context);

  /// Closes the gate for `calls`. False: a launch took too long, and they were not made.
  bool switch_behind_gate(const std::function<void()>& calls);
  /// The same, tried again some times.
  bool keep_trying(const std::function<void()>& calls);

  void set_options(const SamplingOptions& options) { options_ = options; }
  const SamplingOptions& options() const { return options_; }
  /// Whether contexts are to run, as they are added and started again.
  void set_running(bool is_running) { is_running_ = is_running; }
  bool is_running() const { return is_running_; }

  bool is_empty() const { return sampled_.empty(); }
  bool has(Context context) { return find(context) != nullptr; }
  void forget_gone();

  // Behind the gate; throw BackendError
  void add(Context context);
  void start_all();
  void stop_all();

  /// Reads what CUPTI has ready, and starts those again whose buffer was full.
  void read_all();
  /// Reads all that they have, for which sampling stops for a moment. False: a launch took too
  /// long, and only what was ready was read.
  bool read_whole();
  /// The same of one context, or of all where it is null, before a module goes.
  void read_before_unload(Context context);
  /// The context is about to go. False: its last samples are lost.
  bool end(Context context);
  /// Hands over what is left, and leaves every context as it was.
  void end_all();

 private:
  struct Sampled {
    Context context;
    uint32_t device_id = 0;
    bool is_started = false;
    bool is_full = false;  // the hardware's buffer was, at the last read
    ReasonTable::Numbers numbers;
    std::unique_ptr<SampleBuffer> configured;  // CUPTI's, until it is disabled
  };

  void call(Result (*function)(SamplingContext*), const char* name, Sampled& one);
  void configure(Sampled& one);
  void start(Sampled& one);
  void stop(Sampled& one);
  void remove(Sampled& one);
  void restart(const std::vector<Sampled*>& which);
  void read(Sampled& one);
  void take(Sampled& one, SampleBuffer& buffer);
  Sampled* find(Context context);
  void count_contexts();

  const Library& library_;
  SamplingGate& gate_;
  SamplingReport& report_;
  const SamplingLimits& limits_;
  SamplingOptions options_;
  std::vector<std::unique_ptr<Sampled>> sampled_;
  ReasonTable reasons_;
  std::unique_ptr<SampleBuffer> buffer_;  // to read into
  size_t buffer_width_ = 0;               // the reasons of a record
  bool is_running_ = false;
  Context current_ = nullptr;  // the worker's
  std::mutex gone_mutex_;
  std::vector<Context> gone_;
};

}  // namespace proton::cupti
