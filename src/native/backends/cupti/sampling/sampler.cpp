#include "backends/cupti/sampling/sampler.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "model/losses.h"

namespace proton::cupti {
namespace {

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

std::string line_of(const BackendError& error) {
  return concat(error.what(), "; ", error.remedy());
}

}  // namespace

void SamplingSchedule::begin(int64_t now, const SamplingOptions& options) {
  retry_count_ = 0;
  next_window_ns_ = now;
  begin_window(now, options);
  go_on(now, options, true);
}

void SamplingSchedule::retry(int64_t now) {
  retry_count_ = std::min(retry_count_ + 1, kMostDoublings);
  next_ns_ = now + (kRetryNs << (retry_count_ - 1));
}

void SamplingSchedule::go_on(int64_t now, const SamplingOptions& options, bool is_window) {
  retry_count_ = 0;
  const int64_t read_ns = now + options.drain_ns;
  if (options.every_ns == 0) {
    next_ns_ = read_ns;
  } else if (is_window) {
    next_ns_ = std::min(read_ns, window_end_ns_);
  } else {
    // The next whole period: a late one is no reason to sample twice as much.
    while (next_window_ns_ <= now) next_window_ns_ += options.every_ns;
    next_ns_ = next_window_ns_;
  }
}

void SamplingSchedule::give_up(int64_t now) { next_ns_ = now + kGivenUpNs; }

class Sampler::Turn {
 public:
  Turn(Sampler& sampler, int64_t limit_ns)
      : turn_(sampler.turn_), is_taken_(turn_.take(limit_ns)) {}
  ~Turn() {
    if (is_taken_) turn_.give_back();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  explicit operator bool() const { return is_taken_; }

 private:
  TimedTurn& turn_;
  const bool is_taken_;
};

void Sampler::begin() {
  SampledContexts::begin_worker();
  RelaxedCapture::keep(library_);
}

int64_t Sampler::next_ns() const { return is_open() ? schedule_.next_ns() : JobThread::kNever; }

void Sampler::end_step() {
  sampled_.make_current(nullptr);  // or it would be the last to hold on to one
  note_hang();
}

/// What its time has come for: a window's begin or end, or a read.
void Sampler::tick() {
  const int64_t now = now_ns();
  schedule_.retry(now);
  try {
    const Turn turn(*this, limits_.turn_ns);
    if (turn && is_open()) tick_with_turn();
  } catch (const BackendError& error) {
    report_.note_problem(concat("instruction sampling ended: ", line_of(error)));
    report_.count_lost(losses::kLostSampling, 1);
    schedule_.give_up(now);
  } catch (const std::exception&) {  // out of memory: what CUPTI holds is read next time
  }
}

void Sampler::tick_with_turn() {
  sampled_.forget_gone();
  adopt_late();
  const bool is_windowed = options().every_ns != 0;
  const bool begins = is_windowed && !sampled_.is_running();
  const bool ends = is_windowed && !begins && schedule_.is_window_over(now_ns());
  if (begins || ends) {
    sampled_.set_running(begins);
    const bool is_done = sampled_.is_empty() || sampled_.switch_behind_gate([&] {
      begins ? sampled_.start_all() : sampled_.stop_all();
    });
    if (!is_done) return sampled_.set_running(!begins);
  }
  if (begins) {
    schedule_.begin_window(now_ns(), options());
    report_.count([](SamplingStats& stats) { ++stats.windows; });
  } else {
    sampled_.read_all();
  }
  schedule_.go_on(now_ns(), options(), sampled_.is_running());
}

/// Has the worker run it; throws what it throws. False: it takes longer than the limit, and may
/// still end.
bool Sampler::ask(std::function<void(const Job&)> run, int64_t limit_ns) {
  const JobThread::Answer answer = worker_.ask(std::move(run), limit_ns);
  if (answer == JobThread::Answer::kNoThread) {
    fail_with("no thread could be started to read samples");
  }
  if (answer == JobThread::Answer::kDone) return true;
  gate_.give_up_if_late();
  note_hang();
  return false;
}

/// A full queue may hold a launch in the driver, until the GPU has done its work, that began before
/// launches had to pass the gate.
void Sampler::wait_for_launches() {
  for (Context context : contexts_.all()) {
    if (library_.push_context(context) != 0) continue;
    library_.synchronize_context();
    Context popped = nullptr;
    library_.pop_context(&popped);
  }
}

void Sampler::open(const SamplingOptions& options) {
  if (gate_.has_hung()) fail_with(concat("sampling was given up: ", gate_.hung()));
  const auto begin = [this, options](const Job& job) {
    wait_for_launches();
    if (job.is_cancelled.load()) return;
    sampled_.set_options(options);
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
  sampled_.set_running(true);
  is_open_.store(true, std::memory_order_release);
  {
    std::lock_guard lock(used_mutex_);
    used_.clear();
  }
  visit_cells(
      [](ThreadCell& cell) { cell.sampled_context.store(nullptr, std::memory_order_relaxed); });
  try {
    const bool is_done = sampled_.keep_trying([&] {
      const std::vector<Context> contexts = contexts_.all();
      // For launches that nobody saw begin; now that all others wait, they have the processor.
      if (!contexts.empty()) {
        std::this_thread::sleep_for(std::chrono::nanoseconds(limits_.grace_ns));
      }
      for (Context context : contexts) {
        if (!sampled_.has(context)) sampled_.add(context);
      }
    });
    if (!is_done) fail_with("launches took too long to start instruction sampling between them");
  } catch (...) {
    close_all();
    throw;
  }
  schedule_.begin(now_ns(), options());
  if (options().every_ns != 0) report_.count([](SamplingStats& stats) { ++stats.windows; });
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

void Sampler::close_all() {
  sampled_.end_all();
  late_.clear();
  is_open_.store(false, std::memory_order_release);
}

bool Sampler::collect(int64_t limit_ns, bool is_whole) {
  if (!is_open()) return true;
  auto is_done = std::make_shared<std::atomic<bool>>(false);
  const auto read = [this, is_whole, is_done](const Job&) {
    const Turn turn(*this, limits_.switch_ns);
    if (!turn || !is_open()) return;
    sampled_.forget_gone();
    if (!is_whole) sampled_.read_all();
    is_done->store(!is_whole || sampled_.read_whole());
  };
  return ask(read, std::min(limit_ns, limits_.switch_ns)) && is_done->load();
}

void Sampler::adopt(Context context) {
  sampled_.forget_gone();  // a new context may have the address of one that is gone
  if (!is_open() || sampled_.has(context)) return;
  try {
    if (sampled_.switch_behind_gate([&] { sampled_.add(context); })) return;
    late_.push_back(context);  // with the next read
    return;
  } catch (const BackendError& error) {
    report_.note_problem(concat("a CUDA context is not sampled: ", line_of(error)));
  } catch (const std::exception& error) {
    report_.note_problem(concat("a CUDA context is not sampled: ", error.what()));
  }
  report_.count_lost(losses::kLostSampling, 1);
}

/// Those that a long launch kept from being sampled.
void Sampler::adopt_late() {
  for (Context context : std::exchange(late_, {})) {
    if (is_used(context)) adopt(context);
  }
}

bool Sampler::is_used(Context context) {
  std::lock_guard lock(used_mutex_);
  return std::find(used_.begin(), used_.end(), context) != used_.end();
}

/// From now on launches there are no reason to try it once more.
void Sampler::note_used(Context context) {
  std::lock_guard lock(used_mutex_);
  std::erase(used_, context);
  used_.push_back(context);
}

/// On the worker, unless it is gone by then.
void Sampler::post_adoption(Context context) {
  note_used(context);
  const bool is_posted = worker_.post([this, context](const Job&) {
    const Turn turn(*this, limits_.turn_ns);
    if (turn && is_used(context)) adopt(context);
  });
  if (!is_posted) fail_with("no thread could be started to read samples");
}

/// Where contexts are sampled, and the callback is not of a call of ours.
template <typename Call>
void Sampler::in_callback(Call call) noexcept {
  if (!is_open() || SampledContexts::is_calling()) return;
  try {
    call();
  } catch (...) {  // out of memory
    report_.count_lost(losses::kLostSampling, 1);
  }
}

void Sampler::on_context_created(Context context) noexcept {
  in_callback([&] {
    if (!gate_.is_inside()) {
      const Turn turn(*this, limits_.turn_ns);
      note_used(context);
      if (turn) return adopt(context);
    }
    post_adoption(context);
  });
}

void Sampler::on_context_used(Context context) noexcept {
  if (context == nullptr) return;
  in_callback([&] {
    if (!is_used(context)) post_adoption(context);
  });
}

void Sampler::on_context_destroyed(Context context) noexcept {
  {
    std::lock_guard lock(used_mutex_);
    std::erase(used_, context);
  }
  in_callback([&] {
    const Turn turn(*this, limits_.turn_ns);
    if (!turn) sampled_.note_gone(context);
    if (!turn || !sampled_.end(context)) report_.count_lost(losses::kLostSampling, 1);
  });
}

void Sampler::on_module_unload(Context context) noexcept {
  if (!is_open() || SampledContexts::is_calling()) return;
  try {
    const Turn turn(*this, limits_.turn_ns);
    if (!turn) return;
    sampled_.forget_gone();
    sampled_.read_before_unload(context);
  } catch (const std::exception& error) {
    report_.note_problem(
        concat("a module was unloaded and its last samples were not read: ", error.what()));
  }
}

std::string Sampler::probe() {
  try {
    const auto try_it = [this](const Job&) {
      const Turn turn(*this, limits_.turn_ns);
      if (turn && !is_open()) try_sampling(library_);
    };
    if (ask(try_it, limits_.switch_ns)) return "";
    return concat("CUPTI did not answer within ", limits_.switch_ns / 1'000'000'000,
                  " s; see `nvidia-smi` for what the GPU does");
  } catch (const BackendError& error) {
    return line_of(error);
  }
}

/// Once: no call of CUPTI's came back in time, and sampling is over.
void Sampler::note_hang() noexcept {
  if (!gate_.has_hung() || has_told_hang_.exchange(true)) return;
  is_open_.store(false, std::memory_order_release);
  report_.count_lost(losses::kLostSampling, 1);
  try {
    report_.note_problem(concat("instruction sampling was given up: ", gate_.hung(),
                                "; samples after that are missing, kernels are still timed"));
  } catch (const std::exception&) {  // out of memory: the loss is counted
  }
}

std::vector<std::string> Sampler::take_problems() {
  note_hang();
  return report_.take_problems();
}

}  // namespace proton::cupti
