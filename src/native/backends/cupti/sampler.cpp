// What is done to contexts: switched on and off, read out. The thread that does it has the turn.
#include "backends/cupti/sampler.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "model/losses.h"

namespace proton::cupti {
namespace {

/// Instructions that a buffer holds; more come with the next call.
constexpr size_t kCapacity = 16384;
constexpr int kReadLimit = 1000;  // calls of one read-out
constexpr size_t kScratchBytes = 1u << 20;

/// Set while the thread is in a call of ours: what CUPTI itself makes or unloads meanwhile is not
/// the program's.
thread_local bool is_calling = false;

class CallMark {
 public:
  CallMark() : before_(is_calling) { is_calling = true; }
  ~CallMark() { is_calling = before_; }

 private:
  bool before_;
};

SamplingSetting setting(SamplingAttribute attribute) {
  SamplingSetting one;
  one.attribute = attribute;
  return one;
}

}  // namespace

Sampler::Turn::Turn(Sampler& sampler, int64_t limit_ns) : sampler_(sampler) {
  std::unique_lock lock(sampler.mutex_);
  is_taken_ = sampler.changed_.wait_for(lock, std::chrono::nanoseconds(limit_ns),
                                        [&] { return !sampler.is_taken_; });
  if (is_taken_) sampler.is_taken_ = true;
}

Sampler::Turn::~Turn() {
  if (!is_taken_) return;
  std::lock_guard lock(sampler_.mutex_);
  sampler_.is_taken_ = false;
  sampler_.changed_.notify_all();
}

/// False: a launch took too long, and `calls` was not run.
bool Sampler::switch_behind_gate(const std::function<void()>& calls) {
  if (gate_.has_hung()) return false;
  const CallMark mark;
  const int64_t start_ns = now_ns();
  if (!gate_.close(limits_.inside_ns)) {
    std::lock_guard lock(mutex_);
    ++stats_.put_off;
    return false;
  }
  struct Open {
    SamplingGate& gate;
    ~Open() { gate.open(); }
  };
  {
    const Open open{gate_};
    calls();
  }
  std::lock_guard lock(mutex_);
  ++stats_.switches;
  const auto held_ns = static_cast<uint64_t>(now_ns() - start_ns);
  stats_.longest_hold_ns = std::max(stats_.longest_hold_ns, held_ns);
  return true;
}

void Sampler::call(Result (*function)(SamplingContext*), const char* name, Sampled& one) {
  if (gate_.has_hung()) {  // who waited has gone on: a switch beside a launch would hang, too
    throw BackendError("cupti", concat("instruction sampling was given up: ", gate_.hung()),
                       "start the program again");
  }
  gate_.set_call(name);
  make_current(one.context);
  SamplingContext given{sizeof(SamplingContext), nullptr, one.context};
  library_.check(function(&given), name);
}

Sampler::Sampled* Sampler::find(Context context) {
  for (const auto& one : sampled_) {
    if (one->context == context) return one.get();
  }
  return nullptr;
}

/// Contexts that ended while others had the turn; CUPTI may still write to their buffers.
void Sampler::forget_gone() {
  std::vector<Context> gone;
  {
    std::lock_guard lock(mutex_);
    gone.swap(gone_);
  }
  std::erase_if(sampled_, [&](std::unique_ptr<Sampled>& one) {
    if (std::find(gone.begin(), gone.end(), one->context) == gone.end()) return false;
    one.release();
    return true;
  });
}

void Sampler::add(Context context) {
  auto one = std::make_unique<Sampled>();
  one->context = context;
  library_.check(library_.device_of_context(context, &one->device_id), "cuptiGetDeviceId");
  call(library_.enable_sampling, "cuptiPCSamplingEnable", *one);
  try {
    gate_.set_call("cuptiPCSamplingGetStallReasons");
    one->numbers = reasons_.read(library_, context);
    configure(*one);
    if (is_window_) start(*one);
  } catch (...) {
    SamplingContext given{sizeof(SamplingContext), nullptr, context};
    library_.disable_sampling(&given);
    throw;
  }
  sampled_.push_back(std::move(one));
  std::lock_guard lock(mutex_);
  stats_.contexts = sampled_.size();
}

void Sampler::configure(Sampled& one) {
  const size_t count = one.numbers.all.size();
  one.configured = std::make_unique<SampleBuffer>(kCapacity, count);
  SamplingSetting settings[] = {
      setting(kReasonsAttribute),      setting(kModeAttribute),
      setting(kPeriodAttribute),       setting(kHardwareBytesAttribute),
      setting(kScratchBytesAttribute), setting(kStartStopAttribute),
      setting(kBufferAttribute),
  };
  settings[0].reasons = {count, one.numbers.all.data()};
  settings[1].number = kContinuousMode;
  settings[2].number = options_.period_exponent;
  settings[3].bytes = options_.buffer_bytes;
  settings[4].bytes = kScratchBytes;
  settings[5].number = 1;
  settings[6].buffer = &one.configured->raw();
  gate_.set_call("cuptiPCSamplingSetConfigurationAttribute");
  SamplingSettings given{sizeof(SamplingSettings), nullptr, one.context, std::size(settings),
                         settings};
  const Result result = library_.configure_sampling(&given);
  if (result == kSuccess) return;
  std::string which;
  for (const SamplingSetting& each : settings) {
    if (each.status != kSuccess) which += concat(" attribute ", each.attribute);
  }
  library_.check(result, concat("cuptiPCSamplingSetConfigurationAttribute", which).c_str());
}

void Sampler::start(Sampled& one) {
  call(library_.start_sampling, "cuptiPCSamplingStart", one);
  one.is_started = true;
  one.is_full = false;
}

void Sampler::stop(Sampled& one) {
  if (!one.is_started) return;
  one.is_started = false;
  call(library_.stop_sampling, "cuptiPCSamplingStop", one);
}

/// Gate closed. Leaves the context as it was before us.
void Sampler::remove(Sampled& one) {
  stop(one);
  read(one);
  one.configured->clear();
  call(library_.disable_sampling, "cuptiPCSamplingDisable", one);
  take(one, *one.configured);
}

/// Reads all that these have. Gate closed.
void Sampler::restart(std::vector<Sampled*> which) {
  for (Sampled* one : which) {
    const bool is_running = one->is_started;
    stop(*one);
    read(*one);
    if (is_running && is_window_) start(*one);
  }
}

void Sampler::read(Sampled& one) {
  const CallMark mark;
  const size_t width = one.numbers.all.size();
  if (width > buffer_width_) {
    buffer_ = std::make_unique<SampleBuffer>(kCapacity, width);
    buffer_width_ = width;
  }
  gate_.set_call("cuptiPCSamplingGetData");
  make_current(one.context);
  bool is_full = false;
  for (int i = 0; i < kReadLimit; ++i) {
    buffer_->clear();
    SamplingRead given{sizeof(SamplingRead), nullptr, one.context, &buffer_->raw()};
    const Result result = library_.read_samples(&given);
    if (result != kSuccess && result != kOutOfMemory) {
      note_problem(concat("cuptiPCSamplingGetData failed with ", library_.describe(result),
                          ": samples that CUPTI held are missing"));
      hooks_.lose(losses::kLostSampling, 1);
      break;
    }
    const PcBuffer& raw = buffer_->raw();
    is_full |= raw.is_hardware_full != 0 || result == kOutOfMemory;
    take(one, *buffer_);
    if (raw.remaining_count == 0 || raw.record_count == 0) break;
  }
  one.is_full |= is_full;
  {
    std::lock_guard lock(mutex_);
    ++stats_.reads;
    if (is_full) ++stats_.overflows;
  }
  if (is_full) hooks_.lose(losses::kSampleOverflow, 1);
}

/// Hands over what CUPTI has written.
void Sampler::take(Sampled& one, SampleBuffer& buffer) {
  const PcBuffer& raw = buffer.raw();
  const auto records = buffer.records();
  send_records(records, one.numbers, reasons_.names(), one.device_id, hooks_.send);
  if (raw.dropped_count != 0) hooks_.lose(losses::kDroppedSamples, raw.dropped_count);
  const uint64_t others = raw.non_user_count + count_samples(records, one.numbers, true);
  if (others != 0) hooks_.lose(losses::kNonUserSamples, others);
  std::lock_guard lock(mutex_);
  stats_.samples += count_samples(records, one.numbers, false);
  stats_.dropped += raw.dropped_count;
  stats_.non_user += others;
}

void Sampler::read_all() {
  forget_gone();
  std::vector<Sampled*> full;
  for (const auto& one : sampled_) {
    read(*one);
    // Once full, the hardware's buffer takes no more until it is started again.
    if (one->is_full && one->is_started) full.push_back(one.get());
  }
  if (!full.empty()) switch_behind_gate([&] { restart(full); });
}

void Sampler::adopt(Context context) {
  forget_gone();  // a new context may have the address of one that is gone
  if (!is_open() || find(context) != nullptr) return;
  try {
    if (switch_behind_gate([&] { add(context); })) return;
    late_.push_back(context);  // with the next read
    return;
  } catch (const BackendError& error) {
    note_problem(concat("a CUDA context is not sampled: ", error.what(), "; ", error.remedy()));
  } catch (const std::exception& error) {
    note_problem(concat("a CUDA context is not sampled: ", error.what()));
  }
  hooks_.lose(losses::kLostSampling, 1);
}

/// Those that a long launch kept from being sampled.
void Sampler::adopt_late() {
  for (Context context : std::exchange(late_, {})) {
    if (is_used(context)) adopt(context);
  }
}

bool Sampler::is_used(Context context) {
  std::lock_guard lock(mutex_);
  return std::find(used_.begin(), used_.end(), context) != used_.end();
}

/// From now on launches there are no reason to try it once more.
void Sampler::note_used(Context context) {
  std::lock_guard lock(mutex_);
  std::erase(used_, context);
  used_.push_back(context);
}

/// On the worker, unless it is gone by then.
void Sampler::post_adoption(Context context) {
  note_used(context);
  post([this, context](const Job&) {
    const Turn turn(*this, limits_.turn_ns);
    if (turn && is_used(context)) adopt(context);
  });
}

void Sampler::on_context_created(Context context) noexcept {
  if (!is_open() || is_calling) return;
  try {
    if (!gate_.is_inside()) {
      const Turn turn(*this, limits_.turn_ns);
      note_used(context);
      if (turn) return adopt(context);
    }
    post_adoption(context);
  } catch (...) {  // out of memory
    hooks_.lose(losses::kLostSampling, 1);
  }
}

void Sampler::on_context_used(Context context) noexcept {
  if (!is_open() || is_calling || context == nullptr) return;
  try {
    if (!is_used(context)) post_adoption(context);
  } catch (...) {  // out of memory
    hooks_.lose(losses::kLostSampling, 1);
  }
}

void Sampler::on_context_destroyed(Context context) noexcept {
  {
    std::lock_guard lock(mutex_);
    std::erase(used_, context);
  }
  if (!is_open() || is_calling) return;
  try {
    const Turn turn(*this, limits_.turn_ns);
    if (!turn) {
      {
        std::lock_guard lock(mutex_);
        gone_.push_back(context);
      }
      hooks_.lose(losses::kLostSampling, 1);
      return;
    }
    Sampled* one = find(context);
    if (one == nullptr) return;
    bool is_removed = false;
    try {
      is_removed = !gate_.is_inside() && switch_behind_gate([&] { remove(*one); });
    } catch (const BackendError& error) {
      note_problem(concat("a CUDA context ended while it was sampled: ", error.what()));
    }
    const auto found = std::find_if(sampled_.begin(), sampled_.end(),
                                    [&](const auto& each) { return each.get() == one; });
    if (!is_removed) {
      hooks_.lose(losses::kLostSampling, 1);
      found->release();  // CUPTI may still write there
    }
    sampled_.erase(found);
    std::lock_guard lock(mutex_);
    stats_.contexts = sampled_.size();
  } catch (...) {  // out of memory
    hooks_.lose(losses::kLostSampling, 1);
  }
}

void Sampler::on_module_unload(Context context) noexcept {
  if (!is_open() || is_calling) return;
  try {
    const Turn turn(*this, limits_.turn_ns);
    if (!turn) return;
    forget_gone();
    std::vector<Sampled*> which;
    for (const auto& one : sampled_) {
      if (context == nullptr || one->context == context) which.push_back(one.get());
    }
    if (which.empty()) return;
    const bool is_whole = !gate_.is_inside() && switch_behind_gate([&] { restart(which); });
    if (is_whole) return;
    for (Sampled* one : which) read(*one);
  } catch (const std::exception& error) {
    note_problem(
        concat("a module was unloaded and its last samples were not read: ", error.what()));
  }
}

}  // namespace proton::cupti
