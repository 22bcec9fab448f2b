// When contexts are switched and read: on the worker, in its own time or because a caller asks, who
// waits no longer than a limit.
#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "backends/cupti/sampler.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/quiet_thread.h"
#include "base/text.h"
#include "model/losses.h"

namespace proton::cupti {
namespace {

constexpr int kSwitchTries = 20;
/// After a launch that took too long, before the next try, which holds all others meanwhile;
/// doubled each time.
constexpr int64_t kRetryNs = 10'000'000;
constexpr int kMostDoublings = 9;
/// After CUPTI refused what it had allowed before.
constexpr int64_t kGivenUpNs = 60'000'000'000;

[[noreturn]] void fail_with(std::string reason) {
  throw BackendError("cupti", std::move(reason),
                     "start the program again, and tell which GPU and driver did this "
                     "(`proton doctor`); mode='' times kernels without sampling");
}

}  // namespace

std::shared_ptr<Sampler::Job> Sampler::post(std::function<void(const Job&)> run) {
  auto job = std::make_shared<Job>();
  job->run = std::move(run);
  std::lock_guard lock(mutex_);
  if (!has_worker_) {
    has_worker_ = start_quiet_thread([this] { run_worker(); });
    if (!has_worker_) fail_with("no thread could be started to read samples");
  }
  jobs_.push_back(job);
  changed_.notify_all();
  return job;
}

/// Has the worker run it; throws what it throws. False: it takes longer than the limit, and may
/// still end.
bool Sampler::ask(std::function<void(const Job&)> run, int64_t limit_ns) {
  const std::shared_ptr<Job> job = post(std::move(run));
  {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, std::chrono::nanoseconds(limit_ns), [&] { return job->is_done; })) {
      if (job->error != nullptr) std::rethrow_exception(job->error);
      return true;
    }
    job->is_cancelled.store(true);
  }
  gate_.give_up_if_late();
  note_hang();
  return false;
}

void Sampler::run_worker() {
  is_worker_ = true;
  int mode = kRelaxedCapture;  // other threads may be capturing: not to disturb them
  if (library_.exchange_capture_mode != nullptr) library_.exchange_capture_mode(&mode);
  std::unique_lock lock(mutex_);
  for (;;) {
    const int64_t now = now_ns();
    if (is_open() && now >= next_ns_) {
      lock.unlock();
      tick();
      make_current(nullptr);
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
      make_current(nullptr);  // or it would be the last to hold on to one
      note_hang();
      lock.lock();
      job->is_done = true;
      changed_.notify_all();
    } else if (is_open()) {
      changed_.wait_for(lock, std::chrono::nanoseconds(next_ns_ - now));
    } else {
      changed_.wait(lock);
    }
  }
}

/// What its time has come for: a window's begin or end, or a read.
void Sampler::tick() {
  const int64_t now = now_ns();
  retry_count_ = std::min(retry_count_ + 1, kMostDoublings);
  next_ns_ = now + (kRetryNs << (retry_count_ - 1));
  try {
    const Turn turn(*this, limits_.turn_ns);
    if (!turn || !is_open()) return;
    forget_gone();
    adopt_late();
    const bool is_windowed = options_.every_ns != 0;
    if (is_windowed && !is_window_) {
      is_window_ = true;
      const bool is_done = sampled_.empty() || switch_behind_gate([&] {
                             for (const auto& one : sampled_) start(*one);
                           });
      if (!is_done) {
        is_window_ = false;
        return;
      }
      window_end_ns_ = now_ns() + options_.window_ns;
      std::lock_guard lock(mutex_);
      ++stats_.windows;
    } else if (is_windowed && now >= window_end_ns_) {
      is_window_ = false;
      const bool is_done = sampled_.empty() || switch_behind_gate([&] {
                             for (const auto& one : sampled_) stop(*one);
                           });
      if (!is_done) {
        is_window_ = true;
        return;
      }
      read_all();
    } else {
      read_all();
    }
    retry_count_ = 0;
    schedule(now_ns());
  } catch (const BackendError& error) {
    note_problem(concat("instruction sampling ended: ", error.what(), "; ", error.remedy()));
    hooks_.lose(losses::kLostSampling, 1);
    next_ns_ = now + kGivenUpNs;
  } catch (const std::exception&) {  // out of memory: what CUPTI holds is read next time
  }
  note_hang();
}

void Sampler::schedule(int64_t now) {
  const int64_t read_ns = now + options_.drain_ns;
  if (options_.every_ns == 0) {
    next_ns_ = read_ns;
  } else if (is_window_) {
    next_ns_ = std::min(read_ns, window_end_ns_);
  } else {
    // The next whole period: a late one is no reason to sample twice as much.
    while (next_window_ns_ <= now) next_window_ns_ += options_.every_ns;
    next_ns_ = next_window_ns_;
  }
}

void Sampler::make_current(Context context) {
  if (!is_worker_ || current_ == context) return;
  library_.set_context(context);
  current_ = context;
}

/// A full queue may hold a launch in the driver, until the GPU has done its work, that began before
/// launches had to pass the gate.
void Sampler::wait_for_launches(const std::vector<Context>& contexts) {
  for (Context context : contexts) {
    if (library_.push_context(context) != 0) continue;
    library_.synchronize_context();
    Context popped = nullptr;
    library_.pop_context(&popped);
  }
}

void Sampler::open(const SamplingOptions& options) {
  expect_functions();
  if (gate_.has_hung()) fail_with(concat("sampling was given up: ", gate_.hung()));
  const auto begin = [this, options](const Job& job) {
    wait_for_launches(hooks_.contexts());
    if (job.is_cancelled.load()) return;
    options_ = options;
    open_all(job);
  };
  if (!ask(begin, limits_.switch_ns)) {
    fail_with(concat("instruction sampling did not start within ",
                     limits_.switch_ns / 1'000'000'000, " s",
                     gate_.has_hung() ? ": " + gate_.hung() : ""));
  }
}

void Sampler::open_all(const Job& job) {
  const Turn turn(*this, limits_.switch_ns);
  if (!turn || job.is_cancelled.load()) fail_with("instruction sampling is busy");
  // First: a context that comes from now on is told, and waits for the turn.
  is_window_ = true;
  is_open_.store(true, std::memory_order_release);
  {
    std::lock_guard lock(mutex_);
    used_.clear();
  }
  for (ThreadCell* cell = first_cell(); cell != nullptr; cell = cell->next) {
    cell->sampled_context.store(nullptr, std::memory_order_relaxed);
  }
  bool is_done = false;
  try {
    for (int i = 0; i < kSwitchTries && !is_done && !gate_.has_hung(); ++i) {
      is_done = switch_behind_gate([&] {
        const std::vector<Context> contexts = hooks_.contexts();
        // For launches that nobody saw begin; now that all others wait, they have the processor.
        if (!contexts.empty()) {
          std::this_thread::sleep_for(std::chrono::nanoseconds(limits_.grace_ns));
        }
        for (Context context : contexts) {
          if (find(context) == nullptr) add(context);
        }
      });
    }
    if (!is_done) fail_with("launches took too long to start instruction sampling between them");
  } catch (...) {
    close_all();
    throw;
  }
  const int64_t now = now_ns();
  retry_count_ = 0;
  next_window_ns_ = now;
  window_end_ns_ = now + options_.window_ns;
  schedule(now);
  if (options_.every_ns == 0) return;
  std::lock_guard lock(mutex_);
  ++stats_.windows;
}

void Sampler::close() {
  if (!is_open()) return;
  const auto end = [this](const Job&) {
    const Turn turn(*this, limits_.switch_ns);
    if (turn) close_all();
  };
  const bool is_done = ask(end, limits_.switch_ns);
  if (!is_done) is_open_.store(false, std::memory_order_release);
}

/// With the turn.
void Sampler::close_all() {
  forget_gone();
  bool is_done = false;
  try {
    for (int i = 0; i < kSwitchTries && !is_done && !gate_.has_hung(); ++i) {
      is_done = switch_behind_gate([&] {
        while (!sampled_.empty()) {
          remove(*sampled_.back());
          sampled_.pop_back();
        }
      });
    }
  } catch (const std::exception& error) {
    note_problem(concat("instruction sampling did not end well: ", error.what()));
  }
  if (!sampled_.empty()) {
    hooks_.lose(losses::kLostSampling, sampled_.size());
    if (is_done || !gate_.has_hung()) {
      note_problem("instruction sampling goes on in some CUDA contexts: a launch took too long");
    }
    for (auto& one : sampled_) one.release();  // CUPTI may still write there
    sampled_.clear();
  }
  is_window_ = false;
  late_.clear();
  is_open_.store(false, std::memory_order_release);
  std::lock_guard lock(mutex_);
  stats_.contexts = 0;
}

bool Sampler::collect(int64_t limit_ns, bool is_whole) {
  if (!is_open()) return true;
  auto is_done = std::make_shared<std::atomic<bool>>(false);
  const bool is_in_time = ask(
      [this, is_whole, is_done](const Job&) {
        const Turn turn(*this, limits_.switch_ns);
        if (!turn || !is_open()) return;
        forget_gone();
        std::vector<Sampled*> running;
        for (const auto& one : sampled_) {
          if (one->is_started && is_whole) running.push_back(one.get());
        }
        is_done->store(running.empty() || switch_behind_gate([&] { restart(running); }));
        if (running.empty() || !is_done->load()) read_all();
      },
      std::min(limit_ns, limits_.switch_ns));
  return is_in_time && is_done->load();
}

SamplingStats Sampler::stats() {
  std::lock_guard lock(mutex_);
  return stats_;
}

void Sampler::note_problem(std::string text) {
  constexpr size_t kLimit = 20;
  {
    std::lock_guard lock(mutex_);
    if (problems_.size() >= kLimit) return;
    problems_.push_back(std::move(text));
  }
  hooks_.tell();
}

/// Once: no call of CUPTI's came back in time, and sampling is over.
void Sampler::note_hang() noexcept {
  if (!gate_.has_hung() || has_told_hang_.exchange(true)) return;
  is_open_.store(false, std::memory_order_release);
  hooks_.lose(losses::kLostSampling, 1);
  try {
    note_problem(concat("instruction sampling was given up: ", gate_.hung(),
                        "; samples after that are missing, kernels are still timed"));
  } catch (const std::exception&) {  // out of memory: the loss is counted
  }
}

std::vector<std::string> Sampler::take_problems() {
  note_hang();
  std::lock_guard lock(mutex_);
  return std::exchange(problems_, {});
}

}  // namespace proton::cupti
