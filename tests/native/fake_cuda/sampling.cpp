/// Sampling of program counters: who is sampled, what launches yield, and the rule that no switch
/// runs beside a launch.
#include "sampling.h"

#include <algorithm>
#include <cstring>

#include "fake_cuda.h"

namespace fake {

Sampling& sampling() {
  static Sampling* const only = new Sampling();  // never freed, as the state
  return *only;
}

namespace {

/// Whether a thread is in a launch. Never freed; few threads in a test.
struct LaunchFlag {
  std::atomic<int> depth{0};
  LaunchFlag* next = nullptr;
};
std::atomic<LaunchFlag*> launch_flags{nullptr};
std::atomic<int> switch_count{0};  // under way

LaunchFlag& my_flag() {
  static thread_local LaunchFlag* const mine = [] {
    auto* flag = new LaunchFlag;
    flag->next = launch_flags.load();
    while (!launch_flags.compare_exchange_weak(flag->next, flag)) {
    }
    return flag;
  }();
  return *mine;
}

/// One call that switches sampling: notes launches that are under way, and takes its time.
class Switch {
 public:
  explicit Switch(const char* name) : name_(name) {
    switch_count.fetch_add(1);
    look();
    sleep_ns(state().options.switch_delay_ns.load());
  }
  ~Switch() {
    look();
    switch_count.fetch_sub(1);
  }
  Switch(const Switch&) = delete;
  Switch& operator=(const Switch&) = delete;

 private:
  void look() const {
    for (LaunchFlag* flag = launch_flags.load(); flag != nullptr; flag = flag->next) {
      if (flag->depth.load() == 0) continue;
      violate(std::string(name_) + " called while a thread is in a launch");
      return;
    }
  }
  const char* name_;
};

/// Pairs of names as an H200 has them; after them two that are none. CUPTI's numbers of them have
/// gaps.
constexpr const char* kReasons[] = {
    "barrier",
    "branch_resolving",
    "dispatch_stall",
    "drain",
    "imc_miss",
    "lg_throttle",
    "long_scoreboard",
    "math_pipe_throttle",
    "membar",
    "mio_throttle",
    "misc",
    "no_instructions",
    "not_selected",
    "selected",
    "short_scoreboard",
    "sleeping",
    "tex_throttle",
    "wait",
    "warpgroup_arrive",
};
constexpr size_t kReasonCount = std::size(kReasons);
constexpr size_t kNameCount = 2 * kReasonCount + 2;
uint32_t number_of(size_t name) { return static_cast<uint32_t>(5 + 3 * name); }

std::string name_of_reason(size_t name) {
  if (name == 2 * kReasonCount) return "smsp__pcsamp_sample_count";
  if (name > 2 * kReasonCount) return "smsp__pcsamp_samples_data_dropped";
  const std::string text = std::string("smsp__pcsamp_warps_issue_stalled_") + kReasons[name / 2];
  return name % 2 == 0 ? text : text + "_not_issued";
}

/// Holds a context's sampling for one call; two at once break a rule.
class Held {
 public:
  Held(void* context, const char* name) : context_(static_cast<Context*>(context)) {
    const std::lock_guard lock(sampling().mutex);
    ContextSampling& one = sampling().contexts[context_];
    if (one.is_busy) violate(std::string(name) + " called during another call for its context");
    if (context_ == nullptr || context_->is_destroyed.load()) {
      violate(std::string(name) + " called for a context that is gone");
    }
    one.is_busy = true;
  }
  ~Held() {
    const std::lock_guard lock(sampling().mutex);
    sampling().contexts[context_].is_busy = false;
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  Context* context_;
};

/// Moves up to `buffer.capacity` instructions into the buffer. Sampling's mutex held.
void hand_over(ContextSampling& one, PcBuffer& buffer) {
  buffer.record_count = 0;
  buffer.sample_count = one.sample_count;
  buffer.dropped_count = one.dropped_count;
  buffer.non_user_count = one.non_user_count;
  buffer.is_hardware_full = one.is_full ? 1 : 0;
  one.sample_count = one.dropped_count = one.non_user_count = 0;
  while (!one.pcs.empty() && buffer.record_count < buffer.capacity) {
    const auto first = one.pcs.begin();
    PcRecord& record = buffer.records[buffer.record_count++];
    if (record.size != sizeof(PcRecord) || record.stalls == nullptr) {
      violate("a record without its size or its place for reasons");
      return;
    }
    record.cubin_crc = std::get<0>(first->first);
    record.function_name = std::get<1>(first->first);
    record.pc_offset = std::get<2>(first->first);
    record.correlation_id = 0;
    record.stall_count = 0;
    for (const auto& [reason, count] : first->second) {
      record.stalls[record.stall_count++] = {reason, count};
    }
    one.pcs.erase(first);
  }
  buffer.remaining_count = one.pcs.size();
}

}  // namespace

LaunchMark::LaunchMark(uint32_t cbid) : is_launch_(cbid == kLaunchKernel || cbid == kGraphLaunch) {
  if (!is_launch_) return;
  my_flag().depth.fetch_add(1);
  if (switch_count.load() != 0) violate("a launch began while sampling was being switched");
}

LaunchMark::~LaunchMark() {
  if (is_launch_) my_flag().depth.fetch_sub(1);
}

/// As measured: once sampling was on, code that first runs while it is off and kernels are not
/// timed is nobody's for ever, or until cuptiFinalize.
void sample_launch(const Function& function, Context& context) {
  Sampling& all = sampling();
  if (!all.was_enabled.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(all.mutex);
  const auto found = all.contexts.find(&context);
  const bool is_enabled = found != all.contexts.end() && found->second.is_enabled;
  const bool is_met = is_enabled || is_kind_on(kConcurrentKernel);
  const bool is_known = all.is_known.emplace(function.name, is_met).first->second;
  if (!is_enabled || !found->second.is_started) return;
  ContextSampling& one = found->second;
  Options& options = state().options;
  const auto other = static_cast<uint64_t>(options.non_user_samples.load());
  one.non_user_count += other;
  one.sample_count += other;
  const auto rules = all.rules.find(function.name);
  if (rules == all.rules.end()) return;
  if (!is_known) {
    for (const SampleRule& rule : rules->second) {
      one.non_user_count += rule.samples;
      one.sample_count += rule.samples;
    }
    return;
  }
  const char* name = all.names.insert(function.name).first->c_str();
  const auto limit = static_cast<uint64_t>(options.hardware_samples.load());
  for (const SampleRule& rule : rules->second) {
    if (options.drop_samples.load() > 0) {
      options.drop_samples.fetch_sub(1);
      one.dropped_count += rule.samples;
      continue;
    }
    if (limit != 0 && one.sample_count + rule.samples > limit) one.is_full = true;
    if (one.is_full) {  // until it is stopped and started
      one.dropped_count += rule.samples;
      continue;
    }
    one.sample_count += rule.samples;
    PcCounts& counts = one.pcs[{function.cubin_crc, name, rule.pc}];
    counts[number_of(2 * rule.reason)] += rule.samples;
    if (rule.latency != 0) counts[number_of(2 * rule.reason + 1)] += rule.latency;
  }
}

void expect_unsampled(Context& context) {
  Sampling& all = sampling();
  const std::lock_guard lock(all.mutex);
  const auto found = all.contexts.find(&context);
  if (found == all.contexts.end()) return;
  // Without a subscriber nobody could know of it.
  if (found->second.is_enabled && (found->second.is_started || state().is_subscribed.load())) {
    violate("a context was destroyed while it was sampled");
  }
  if (found->second.is_started) all.started_count.fetch_sub(1);
  all.contexts.erase(found);
}

}  // namespace fake

using namespace fake;

namespace {

/// As measured: nothing is known of a context before it is switched on.
bool is_enabled(void* context) {
  const std::lock_guard lock(sampling().mutex);
  const auto found = sampling().contexts.find(static_cast<Context*>(context));
  return found != sampling().contexts.end() && found->second.is_enabled;
}

}  // namespace

FAKE_EXPORT(cuptiPCSamplingEnable, SamplingContext* given) {
  FAKE_ENTER(cuptiPCSamplingEnable);
  constexpr int kMigNotSupported = 43;
  if (state().options.is_mig.load() != 0) return kMigNotSupported;
  const Switch call("cuptiPCSamplingEnable");
  const Held held(given->context, "cuptiPCSamplingEnable");
  const std::lock_guard lock(sampling().mutex);
  ContextSampling& one = sampling().contexts[static_cast<Context*>(given->context)];
  if (one.is_enabled) {
    violate("cuptiPCSamplingEnable called twice");
    return kInvalidOperation;
  }
  one = ContextSampling();
  one.is_enabled = one.is_busy = true;
  sampling().was_enabled.store(true);
  return 0;
}

FAKE_EXPORT(cuptiPCSamplingSetConfigurationAttribute, SamplingSettings* given) {
  FAKE_ENTER(cuptiPCSamplingSetConfigurationAttribute);
  const Held held(given->context, "cuptiPCSamplingSetConfigurationAttribute");
  const std::lock_guard lock(sampling().mutex);
  ContextSampling& one = sampling().contexts[static_cast<Context*>(given->context)];
  if (!one.is_enabled || one.is_started) return kInvalidOperation;
  for (size_t i = 0; i < given->count; ++i) {
    SamplingSetting& setting = given->settings[i];
    setting.status = 0;
    const bool is_bad_period =
        setting.attribute == kPeriodSetting && (setting.number < 5 || setting.number > 31);
    const bool is_bad_mode = setting.attribute == kModeSetting && setting.number != 1;
    if (is_bad_period || is_bad_mode) {
      setting.status = kInvalidParameter;
      return kInvalidParameter;
    }
    if (setting.attribute == kPeriodSetting) one.period = setting.number;
    if (setting.attribute == kReasonsSetting) one.reason_count = setting.reasons.count;
    if (setting.attribute == kBufferSetting) one.buffer = static_cast<PcBuffer*>(setting.buffer);
  }
  one.is_configured = one.buffer != nullptr && one.reason_count == kNameCount;
  return one.is_configured ? 0 : int{kInvalidParameter};
}

FAKE_EXPORT(cuptiPCSamplingStart, SamplingContext* given) {
  FAKE_ENTER(cuptiPCSamplingStart);
  const Switch call("cuptiPCSamplingStart");
  const Held held(given->context, "cuptiPCSamplingStart");
  const std::lock_guard lock(sampling().mutex);
  ContextSampling& one = sampling().contexts[static_cast<Context*>(given->context)];
  if (!one.is_configured || one.is_started) {
    violate("cuptiPCSamplingStart called where sampling is not configured, or runs");
    return kInvalidOperation;
  }
  one.is_started = true;
  one.is_full = false;
  sampling().started_count.fetch_add(1);
  return 0;
}

FAKE_EXPORT(cuptiPCSamplingStop, SamplingContext* given) {
  FAKE_ENTER(cuptiPCSamplingStop);
  const Switch call("cuptiPCSamplingStop");
  const Held held(given->context, "cuptiPCSamplingStop");
  const std::lock_guard lock(sampling().mutex);
  ContextSampling& one = sampling().contexts[static_cast<Context*>(given->context)];
  if (!one.is_started) {
    violate("cuptiPCSamplingStop called where sampling does not run");
    return kInvalidOperation;
  }
  one.is_started = false;
  sampling().started_count.fetch_sub(1);
  return 0;
}

FAKE_EXPORT(cuptiPCSamplingGetData, SamplingRead* given) {
  FAKE_ENTER(cuptiPCSamplingGetData);
  const Held held(given->context, "cuptiPCSamplingGetData");
  const std::lock_guard lock(sampling().mutex);
  ContextSampling& one = sampling().contexts[static_cast<Context*>(given->context)];
  auto* buffer = static_cast<PcBuffer*>(given->buffer);
  if (!one.is_configured || buffer == nullptr || buffer->size != sizeof(PcBuffer)) {
    return kInvalidOperation;
  }
  if (buffer == one.buffer) {
    violate("cuptiPCSamplingGetData given the configured buffer");
    return kInvalidParameter;
  }
  if (one.is_started && state().options.late_samples.load() != 0) {
    buffer->record_count = buffer->remaining_count = 0;
    return 0;
  }
  hand_over(one, *buffer);
  constexpr int kOutOfMemory = 8;
  return buffer->is_hardware_full != 0 ? kOutOfMemory : 0;
}

FAKE_EXPORT(cuptiPCSamplingDisable, SamplingContext* given) {
  FAKE_ENTER(cuptiPCSamplingDisable);
  const Switch call("cuptiPCSamplingDisable");
  const Held held(given->context, "cuptiPCSamplingDisable");
  const std::lock_guard lock(sampling().mutex);
  ContextSampling& one = sampling().contexts[static_cast<Context*>(given->context)];
  if (!one.is_enabled) {
    violate("cuptiPCSamplingDisable called where sampling is not enabled");
    return kInvalidOperation;
  }
  if (one.is_started) sampling().started_count.fetch_sub(1);
  if (one.buffer != nullptr) hand_over(one, *one.buffer);
  one = ContextSampling();
  one.is_busy = true;
  return 0;
}

FAKE_EXPORT(cuptiPCSamplingGetNumStallReasons, ReasonCount* given) {
  FAKE_ENTER(cuptiPCSamplingGetNumStallReasons);
  if (!is_enabled(given->context)) return kInvalidOperation;
  *given->count = state().options.zero_reasons.load() != 0 ? 0 : kNameCount;
  return 0;
}

FAKE_EXPORT(cuptiPCSamplingGetStallReasons, ReasonNames* given) {
  FAKE_ENTER(cuptiPCSamplingGetStallReasons);
  if (!is_enabled(given->context)) return kInvalidOperation;
  if (given->count < kNameCount) return kInvalidParameter;
  for (size_t name = 0; name < kNameCount; ++name) {
    given->numbers[name] = number_of(name);
    std::strcpy(given->names[name], name_of_reason(name).c_str());
  }
  return 0;
}

FAKE_EXPORT(cuptiGetCubinCrc, CubinCrc* given) {
  FAKE_ENTER(cuptiGetCubinCrc);
  if (given->cubin == nullptr || given->cubin_size == 0) return kInvalidParameter;
  given->crc = fake_cubin_crc(given->cubin, given->cubin_size);
  return 0;
}

FAKE_VISIBLE uint64_t fake_cubin_crc(const void* cubin, uint64_t bytes) {
  uint64_t crc = 14695981039346656037u;
  for (uint64_t i = 0; i < bytes; ++i) {
    crc = (crc ^ static_cast<const uint8_t*>(cubin)[i]) * 1099511628211u;
  }
  return crc;
}

FAKE_VISIBLE int fake_sample(const char* kernel, uint64_t pc, const char* reason, uint32_t samples,
                             uint32_t latency) {
  const auto* found = std::find_if(std::begin(kReasons), std::end(kReasons),
                                   [&](const char* one) { return std::strcmp(one, reason) == 0; });
  if (found == std::end(kReasons) || latency > samples) return -1;
  const std::lock_guard lock(sampling().mutex);
  const auto number = static_cast<size_t>(found - std::begin(kReasons));
  sampling().rules[kernel].push_back({pc, number, samples, latency});
  return 0;
}

FAKE_VISIBLE int64_t fake_sampled_contexts(int is_started) {
  const std::lock_guard lock(sampling().mutex);
  int64_t count = 0;
  for (const auto& [context, one] : sampling().contexts) {
    count += is_started != 0 ? one.is_started : one.is_enabled;
  }
  return count;
}

FAKE_VISIBLE uint32_t fake_sampling_period(void* context) {
  const std::lock_guard lock(sampling().mutex);
  const auto found = sampling().contexts.find(static_cast<Context*>(context));
  return found == sampling().contexts.end() ? 0 : found->second.period;
}
