/// Samples the program counters of every CUDA context, all the time or in windows, and hands the
/// counts over. Nothing here runs at a launch: contexts are switched on once, a worker reads out.
///
/// Calls of CUPTI that sample are made by one thread at a time, the one that has the turn: the
/// worker, or a thread in a callback of a context or module that comes or goes. Those that switch
/// sampling also close the gate. Waits have limits: what takes longer is put off or given up.
/// Of the hub's locks none is held while the turn is waited for but `control`, and only its decode
/// lock is taken (in Hooks::send) while somebody has the turn.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/cupti/library.h"
#include "backends/cupti/sample_buffer.h"
#include "backends/cupti/sampling_gate.h"

namespace proton::cupti {

struct SamplingOptions {
  uint32_t period_exponent = 14;     // a sample of each SM every 2^14 cycles
  size_t buffer_bytes = 512u << 20;  // of the hardware
  int64_t drain_ns = 200'000'000;    // between two reads
  int64_t window_ns = 0;             // sampled time in every `every_ns`
  int64_t every_ns = 0;              // 0: sampled all the time

  bool operator==(const SamplingOptions&) const = default;
};

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

class Sampler {
 public:
  struct Hooks {
    std::vector<Context> (*contexts)();  // all that are alive
    void (*send)(const SampleBatch& batch);
    void (*lose)(const char* kind, uint64_t count);
    void (*tell)();  // a problem was noted; on any thread, in callbacks of the driver too
  };
  /// Tests shorten them.
  struct Limits {
    int64_t inside_ns = 100'000'000;     // for launches under way to end
    int64_t grace_ns = 50'000'000;       // for those that began before they were watched
    int64_t turn_ns = 2'000'000'000;     // in callbacks, for the turn
    int64_t switch_ns = 10'000'000'000;  // for the worker to switch all contexts
  };

  Sampler(const Library& library, const Hooks& hooks) : library_(library), hooks_(hooks) {}

  SamplingGate& gate() { return gate_; }
  bool is_open() const noexcept { return is_open_.load(std::memory_order_acquire); }
  const SamplingOptions& options() const { return options_; }  // by who opens and closes

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

  /// Why this library cannot sample, as a text for the user; empty: it can. Asks no driver.
  std::string check() const;
  /// Why device 0 cannot be sampled, as a text for the user; empty: it can. Initialises the driver
  /// and makes a context for it: for a process that does nothing else.
  std::string probe();

  SamplingStats stats();
  /// What went wrong since the last call, as lines for the user.
  std::vector<std::string> take_problems();
  void set_limits(const Limits& limits) { limits_ = limits; }

 private:
  struct Sampled {
    Context context;
    uint32_t device_id = 0;
    bool is_started = false;
    bool is_full = false;  // the hardware's buffer was, at the last read
    ReasonTable::Numbers numbers;
    std::unique_ptr<SampleBuffer> configured;  // CUPTI's, until it is disabled
  };
  /// What a caller has the worker do.
  struct Job {
    std::function<void(const Job&)> run;
    std::exception_ptr error;
    bool is_done = false;
    std::atomic<bool> is_cancelled{false};
  };
  /// The right to call CUPTI's sampling functions.
  class Turn {
   public:
    Turn(Sampler& sampler, int64_t limit_ns);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    explicit operator bool() const { return is_taken_; }

   private:
    Sampler& sampler_;
    bool is_taken_;
  };

  // Of sampling_worker.cpp
  std::shared_ptr<Job> post(std::function<void(const Job&)> run);
  bool ask(std::function<void(const Job&)> run, int64_t limit_ns);
  void run_worker();
  void tick();
  void schedule(int64_t now_ns);
  void wait_for_launches(const std::vector<Context>& contexts);

  // With the turn
  bool switch_behind_gate(const std::function<void()>& calls);
  void call(Result (*function)(SamplingContext*), const char* name, Sampled& one);
  void open_all(const Job& job);
  void close_all();
  void adopt(Context context);
  void adopt_late();
  void note_used(Context context);
  void post_adoption(Context context);
  bool is_used(Context context);
  void add(Context context);
  void configure(Sampled& one);
  void start(Sampled& one);
  void stop(Sampled& one);
  void remove(Sampled& one);
  void restart(std::vector<Sampled*> which);
  void read(Sampled& one);
  void read_all();
  void take(Sampled& one, SampleBuffer& buffer);
  void forget_gone();
  Sampled* find(Context context);
  void try_device();
  void expect_functions() const;

  /// On the worker, which has no context of its own; other threads are in a call for one.
  void make_current(Context context);

  void note_problem(std::string text);
  void note_hang() noexcept;

  const Library& library_;
  const Hooks hooks_;
  Limits limits_;
  SamplingGate gate_;
  std::atomic<bool> is_open_{false};
  std::atomic<bool> has_told_hang_{false};
  SamplingOptions options_;

  std::mutex mutex_;  // the next ones
  std::condition_variable changed_;
  bool has_worker_ = false;
  bool is_taken_ = false;  // the turn
  std::deque<std::shared_ptr<Job>> jobs_;
  std::vector<Context> gone_;  // while nobody could have the turn
  std::vector<Context> used_;  // alive, and tried: no launch there is news
  std::vector<std::string> problems_;
  SamplingStats stats_;

  // With the turn
  std::vector<std::unique_ptr<Sampled>> sampled_;
  std::vector<Context> late_;  // to be sampled, but for a launch that took too long
  ReasonTable reasons_;
  std::unique_ptr<SampleBuffer> buffer_;  // to read into
  size_t buffer_width_ = 0;               // the reasons of a record
  bool is_window_ = false;                // contexts are to run

  // The worker's
  inline static thread_local bool is_worker_ = false;
  Context current_ = nullptr;
  int64_t next_ns_ = 0;
  int retry_count_ = 0;  // of a switch that was put off
  int64_t window_end_ns_ = 0;
  int64_t next_window_ns_ = 0;
};

}  // namespace proton::cupti
