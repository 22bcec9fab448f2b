#include "backends/cupti/sampling/sampled_contexts.h"

#include <algorithm>
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

thread_local bool is_in_call = false;
thread_local bool is_worker = false;

class CallMark {
 public:
  CallMark() : before_(is_in_call) { is_in_call = true; }
  ~CallMark() { is_in_call = before_; }

 private:
  bool before_;
};

SamplingSetting setting(SamplingAttribute attribute) {
  SamplingSetting one;
  one.attribute = attribute;
  return one;
}

}  // namespace

bool SampledContexts::is_calling() noexcept { return is_in_call; }

void SampledContexts::begin_worker() noexcept { is_worker = true; }

void SampledContexts::make_current(Context context) {
  if (!is_worker || current_ == context) return;
  library_.set_context(context);
  current_ = context;
}

void SampledContexts::note_gone(Context context) {
  std::lock_guard lock(gone_mutex_);
  gone_.push_back(context);
}

bool SampledContexts::switch_behind_gate(const std::function<void()>& calls) {
  if (gate_.has_hung()) return false;
  const CallMark mark;
  const int64_t start_ns = now_ns();
  if (!gate_.close(limits_.inside_ns)) {
    report_.count([](SamplingStats& stats) { ++stats.put_off; });
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
  const auto held_ns = static_cast<uint64_t>(now_ns() - start_ns);
  report_.count([&](SamplingStats& stats) {
    ++stats.switches;
    stats.longest_hold_ns = std::max(stats.longest_hold_ns, held_ns);
  });
  return true;
}

bool SampledContexts::keep_trying(const std::function<void()>& calls) {
  constexpr int kTries = 20;
  for (int i = 0; i < kTries && !gate_.has_hung(); ++i) {
    if (switch_behind_gate(calls)) return true;
  }
  return false;
}

void SampledContexts::count_contexts() {
  report_.count([this](SamplingStats& stats) { stats.contexts = sampled_.size(); });
}

void SampledContexts::call(Result (*function)(SamplingContext*), const char* name, Sampled& one) {
  if (gate_.has_hung()) {  // who waited has gone on: a switch beside a launch would hang, too
    throw BackendError("cupti", concat("instruction sampling was given up: ", gate_.hung()),
                       "start the program again");
  }
  gate_.set_call(name);
  make_current(one.context);
  SamplingContext request{sizeof(SamplingContext), nullptr, one.context};
  library_.check(function(&request), name);
}

SampledContexts::Sampled* SampledContexts::find(Context context) {
  for (const auto& one : sampled_) {
    if (one->context == context) return one.get();
  }
  return nullptr;
}

void SampledContexts::forget_gone() {
  std::vector<Context> gone;
  {
    std::lock_guard lock(gone_mutex_);
    gone.swap(gone_);
  }
  std::erase_if(sampled_, [&](std::unique_ptr<Sampled>& one) {
    if (std::find(gone.begin(), gone.end(), one->context) == gone.end()) return false;
    one.release();
    return true;
  });
}

void SampledContexts::add(Context context) {
  auto one = std::make_unique<Sampled>();
  one->context = context;
  library_.check(library_.device_of_context(context, &one->device_id), "cuptiGetDeviceId");
  call(library_.enable_sampling, "cuptiPCSamplingEnable", *one);
  try {
    gate_.set_call("cuptiPCSamplingGetStallReasons");
    one->numbers = reasons_.read(library_, context);
    configure(*one);
    if (is_running_) start(*one);
  } catch (...) {
    SamplingContext request{sizeof(SamplingContext), nullptr, context};
    library_.disable_sampling(&request);
    throw;
  }
  sampled_.push_back(std::move(one));
  count_contexts();
}

void SampledContexts::configure(Sampled& one) {
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
  SamplingSettings request{sizeof(SamplingSettings), nullptr, one.context, std::size(settings),
                           settings};
  const Result result = library_.configure_sampling(&request);
  if (result == kSuccess) return;
  std::string which;
  for (const SamplingSetting& each : settings) {
    if (each.status != kSuccess) which += concat(" attribute ", each.attribute);
  }
  library_.check(result, concat("cuptiPCSamplingSetConfigurationAttribute", which).c_str());
}

void SampledContexts::start(Sampled& one) {
  call(library_.start_sampling, "cuptiPCSamplingStart", one);
  one.is_started = true;
  one.is_full = false;
}

void SampledContexts::stop(Sampled& one) {
  if (!one.is_started) return;
  one.is_started = false;
  call(library_.stop_sampling, "cuptiPCSamplingStop", one);
}

/// Gate closed. Leaves the context as it was before us.
void SampledContexts::remove(Sampled& one) {
  stop(one);
  read(one);
  one.configured->clear();
  call(library_.disable_sampling, "cuptiPCSamplingDisable", one);
  take(one, *one.configured);
}

void SampledContexts::start_all() {
  for (const auto& one : sampled_) start(*one);
}

void SampledContexts::stop_all() {
  for (const auto& one : sampled_) stop(*one);
}

/// Reads all that these have. Gate closed.
void SampledContexts::restart(const std::vector<Sampled*>& which) {
  for (Sampled* one : which) {
    const bool was_started = one->is_started;
    stop(*one);
    read(*one);
    if (was_started && is_running_) start(*one);
  }
}

void SampledContexts::read(Sampled& one) {
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
    SamplingRead request{sizeof(SamplingRead), nullptr, one.context, &buffer_->raw()};
    const Result result = library_.read_samples(&request);
    if (result != kSuccess && result != kOutOfMemory) {
      report_.note_problem(concat("cuptiPCSamplingGetData failed with ", library_.describe(result),
                                  ": samples that CUPTI held are missing"));
      report_.count_lost(losses::kLostSampling, 1);
      break;
    }
    const PcBuffer& raw = buffer_->raw();
    is_full |= raw.is_hardware_full != 0 || result == kOutOfMemory;
    take(one, *buffer_);
    if (raw.remaining_count == 0 || raw.record_count == 0) break;
  }
  one.is_full |= is_full;
  report_.count([&](SamplingStats& stats) {
    ++stats.reads;
    if (is_full) ++stats.overflows;
  });
  if (is_full) report_.count_lost(losses::kSampleOverflow, 1);
}

/// Hands over what CUPTI has written.
void SampledContexts::take(Sampled& one, SampleBuffer& buffer) {
  const PcBuffer& raw = buffer.raw();
  const auto records = buffer.records();
  send_records(records, one.numbers, reasons_.names(), one.device_id,
               [this](const SampleBatch& batch) { report_.send(batch); });
  const uint64_t others = raw.non_user_count + count_samples(records, one.numbers, true);
  report_.count_lost(losses::kDroppedSamples, raw.dropped_count);
  report_.count_lost(losses::kNonUserSamples, others);
  report_.count([&](SamplingStats& stats) {
    stats.samples += count_samples(records, one.numbers, false);
    stats.dropped += raw.dropped_count;
    stats.non_user += others;
  });
}

void SampledContexts::read_all() {
  forget_gone();
  std::vector<Sampled*> full;
  for (const auto& one : sampled_) {
    read(*one);
    // Once full, the hardware's buffer takes no more until it is started again.
    if (one->is_full && one->is_started) full.push_back(one.get());
  }
  if (!full.empty()) switch_behind_gate([&] { restart(full); });
}

bool SampledContexts::read_whole() {
  std::vector<Sampled*> running;
  for (const auto& one : sampled_) {
    if (one->is_started) running.push_back(one.get());
  }
  const bool is_done = running.empty() || switch_behind_gate([&] { restart(running); });
  if (running.empty() || !is_done) read_all();
  return is_done;
}

void SampledContexts::read_before_unload(Context context) {
  std::vector<Sampled*> which;
  for (const auto& one : sampled_) {
    if (context == nullptr || one->context == context) which.push_back(one.get());
  }
  if (which.empty()) return;
  const bool is_whole = !gate_.is_inside() && switch_behind_gate([&] { restart(which); });
  if (is_whole) return;
  for (Sampled* one : which) read(*one);
}

bool SampledContexts::end(Context context) {
  Sampled* one = find(context);
  if (one == nullptr) return true;
  bool is_removed = false;
  try {
    is_removed = !gate_.is_inside() && switch_behind_gate([&] { remove(*one); });
  } catch (const BackendError& error) {
    report_.note_problem(concat("a CUDA context ended while it was sampled: ", error.what()));
  }
  const auto entry = std::find_if(sampled_.begin(), sampled_.end(),
                                  [&](const auto& each) { return each.get() == one; });
  if (!is_removed) entry->release();  // CUPTI may still write there
  sampled_.erase(entry);
  count_contexts();
  return is_removed;
}

void SampledContexts::end_all() {
  forget_gone();
  bool is_done = false;
  try {
    is_done = keep_trying([&] {
      while (!sampled_.empty()) {
        remove(*sampled_.back());
        sampled_.pop_back();
      }
    });
  } catch (const std::exception& error) {
    report_.note_problem(concat("instruction sampling did not end well: ", error.what()));
  }
  if (!sampled_.empty()) {
    report_.count_lost(losses::kLostSampling, sampled_.size());
    if (is_done || !gate_.has_hung()) {
      report_.note_problem(
          "instruction sampling goes on in some CUDA contexts: a launch took too long");
    }
    for (auto& one : sampled_) one.release();  // CUPTI may still write there
    sampled_.clear();
  }
  is_running_ = false;
  count_contexts();
}

}  // namespace proton::cupti
