/// Options, failures, counters and broken rules: what tests set and ask.
#include <pthread.h>
#include <time.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "driver.h"
#include "fake_cuda.h"
#include "sampling.h"

namespace fake {

namespace {

/// FAKE_CUDA_SETTINGS, for a process that a test cannot reach: "option=value,function=code,...".
void set_from_environment(State& made) {
  const char* const given = std::getenv("FAKE_CUDA_SETTINGS");
  std::istringstream words(given == nullptr ? "" : given);
  for (std::string word; std::getline(words, word, ',');) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const int value = equals == std::string::npos ? 0 : std::atoi(word.c_str() + equals + 1);
    if (Option* const option = made.options.find(name)) {
      option->store(value);
    } else if (Call* const call = Call::find(name)) {
      call->fail(value, 0, -1);
    } else {
      made.violations += "FAKE_CUDA_SETTINGS names " + name + ", which there is not\n";
    }
  }
}

}  // namespace

// Never freed: threads of the program may still call at exit.
State& state() {
  static State* const only = [] {
    pthread_atfork(nullptr, nullptr, [] { state().is_child.store(true); });
    auto* const made = new State();
    set_from_environment(*made);
    return made;
  }();
  return *only;
}

Local& local() {
  static thread_local Local here;
  const uint64_t epoch = state().epoch.load(std::memory_order_relaxed);
  if (here.epoch != epoch) {
    here = Local();
    here.epoch = epoch;
  }
  return here;
}

void violate(const std::string& text) noexcept {
  State& all = state();
  all.counters.violations.fetch_add(1);
  if (all.is_child.load()) return;  // the mutex may be held by a thread that is not here
  const std::lock_guard lock(all.mutex);
  all.violations += text + "\n";
}

Call::Call(const char* name) : name_(name), is_cupti_(std::strncmp(name, "cupti", 5) == 0) {
  all().push_back(this);
}

std::vector<Call*>& Call::all() {
  static std::vector<Call*> calls;
  return calls;
}

Call* Call::find(const std::string& name) {
  for (Call* call : all()) {
    if (name == call->name_) return call;
  }
  return nullptr;
}

int Call::enter() noexcept {
  count_.fetch_add(1, std::memory_order_relaxed);
  if (state().is_child.load(std::memory_order_relaxed)) {
    violate(std::string(name_) + " called in a forked child");
    return is_cupti_ ? int{kNotInitialized} : int{kCudaNotInitialized};
  }
  if (!is_cupti_ && local().is_in_buffer_callback) {
    violate(std::string(name_) + " called inside a buffer callback");
  }
  return code_.load(std::memory_order_relaxed) == 0 ? 0 : refuse();
}

int Call::refuse() noexcept {
  if (skip_.fetch_sub(1) > 0) return 0;
  const int64_t left = times_.load();
  if (left == 0) return 0;
  if (left > 0) times_.fetch_sub(1);
  return code_.load();
}

void Call::fail(int code, int64_t skip, int64_t times) {
  skip_.store(skip);
  times_.store(times);
  code_.store(code);
}

void Call::reset() {
  count_.store(0);
  fail(0, 0, 0);
}

void Options::reset() {
  for (Option* option : {&is_mig,
                         &clock_offset_ns,
                         &clock_drift_ppb,
                         &gpu_skew_ns,
                         &hold,
                         &reverse_records,
                         &reverse_buffers,
                         &manual_worker,
                         &scribble,
                         &drop_next,
                         &silent_nodes,
                         &flush_delay_ns,
                         &completion_delay_ns,
                         &launch_delay_ns,
                         &switch_delay_ns,
                         &late_samples,
                         &zero_reasons,
                         &hardware_samples,
                         &drop_samples,
                         &non_user_samples,
                         &memory_bytes,
                         &free_delay_ns}) {
    option->store(0);
  }
  device_count.store(1);
  driver_version.store(13000);
  compute_capability.store(90);
  queue_limit.store(8);
  per_thread_buffers.store(kCuptiVersion >= 130000 ? 1 : 0);
}

Option* Options::find(const std::string& name) {
  const std::map<std::string, Option*> named{
      {"device_count", &device_count},
      {"driver_version", &driver_version},
      {"compute_capability", &compute_capability},
      {"is_mig", &is_mig},
      {"clock_offset_ns", &clock_offset_ns},
      {"clock_drift_ppb", &clock_drift_ppb},
      {"gpu_skew_ns", &gpu_skew_ns},
      {"hold", &hold},
      {"per_thread_buffers", &per_thread_buffers},
      {"reverse_records", &reverse_records},
      {"reverse_buffers", &reverse_buffers},
      {"manual_worker", &manual_worker},
      {"scribble", &scribble},
      {"queue_limit", &queue_limit},
      {"drop_next", &drop_next},
      {"silent_nodes", &silent_nodes},
      {"flush_delay_ns", &flush_delay_ns},
      {"completion_delay_ns", &completion_delay_ns},
      {"launch_delay_ns", &launch_delay_ns},
      {"switch_delay_ns", &switch_delay_ns},
      {"late_samples", &late_samples},
      {"zero_reasons", &zero_reasons},
      {"hardware_samples", &hardware_samples},
      {"drop_samples", &drop_samples},
      {"non_user_samples", &non_user_samples},
      {"memory_bytes", &memory_bytes},
      {"free_delay_ns", &free_delay_ns},
  };
  const auto found = named.find(name);
  return found == named.end() ? nullptr : found->second;
}

void Counters::reset() {
  for (Counter* counter :
       {&callbacks, &records, &delivered, &dropped, &buffers_requested, &buffers_completed,
        &worker_completions, &flush_completions, &violations}) {
    counter->store(0);
  }
}

Counter* Counters::find(const std::string& name) {
  const std::map<std::string, Counter*> named{
      {"callbacks", &callbacks},
      {"records", &records},
      {"delivered", &delivered},
      {"dropped", &dropped},
      {"buffers_requested", &buffers_requested},
      {"buffers_completed", &buffers_completed},
      {"worker_completions", &worker_completions},
      {"flush_completions", &flush_completions},
      {"violations", &violations},
  };
  const auto found = named.find(name);
  return found == named.end() ? nullptr : found->second;
}

namespace {

uint64_t read_clock(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

uint64_t cupti_now() {
  State& all = state();
  if (const TimestampFunction given = all.timestamp.load(std::memory_order_relaxed)) return given();
  // CUPTI's own clock counts from 1970, as CLOCK_REALTIME did when the driver was opened.
  static const uint64_t first = read_clock(CLOCK_MONOTONIC);
  static const uint64_t base = read_clock(CLOCK_REALTIME) - first;
  const uint64_t host = read_clock(CLOCK_MONOTONIC);
  const double drift = static_cast<double>(host - first) * 1e-9 *
                       static_cast<double>(all.options.clock_drift_ppb.load());
  return host + base + static_cast<uint64_t>(all.options.clock_offset_ns.load()) +
         static_cast<uint64_t>(static_cast<int64_t>(drift));
}

uint64_t gpu_now() { return cupti_now() + static_cast<uint64_t>(state().options.gpu_skew_ns); }

void sleep_ns(int64_t ns) {
  if (ns <= 0) return;
  timespec left{ns / 1'000'000'000, ns % 1'000'000'000};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

}  // namespace fake

using namespace fake;

FAKE_VISIBLE int fake_set_option(const char* name, int64_t value) {
  Option* option = state().options.find(name);
  if (option == nullptr) return -1;
  option->store(value);
  return 0;
}

FAKE_VISIBLE int fake_set_failure(const char* function, int code, int64_t skip, int64_t times) {
  Call* call = Call::find(function);
  if (call == nullptr) return -1;
  call->fail(code, skip, times);
  return 0;
}

FAKE_VISIBLE int64_t fake_counter(const char* name) {
  State& all = state();
  if (const Counter* counter = all.counters.find(name)) return counter->load();
  if (const Call* call = Call::find(name)) return call->count();
  const std::string asked = name;
  if (asked == "correlation") return all.correlation.load();
  if (asked == "is_subscribed") return all.is_subscribed.load();
  if (asked == "has_hw_trace") return all.has_hw_trace.load();
  if (asked == "flush_period_ms") return all.flush_period_ms.load();
  int64_t count = 0;
  if (asked == "enabled_callbacks") {
    for (auto& domain : all.enabled) {
      for (auto& flag : domain) count += flag.load();
    }
    return count;
  }
  if (asked == "enabled_kinds") {
    for (auto& flag : all.kinds) count += flag.load();
    return count;
  }
  if (asked == "buffers_held") {
    const std::lock_guard lock(all.mutex);
    return static_cast<int64_t>(all.held.size());
  }
  return -1;
}

FAKE_VISIBLE const char* fake_violations(void) {
  static thread_local std::string text;
  State& all = state();
  if (all.is_child.load()) return "(in a forked child)";
  const std::lock_guard lock(all.mutex);
  text = all.violations;
  return text.c_str();
}

FAKE_VISIBLE uint32_t fake_cupti_version(void) { return kCuptiVersion; }

FAKE_VISIBLE void fake_set_holder(const char* name) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  all.subscriber_name = name == nullptr ? "" : name;
  all.is_subscribed.store(name != nullptr);
  all.callback.store(nullptr);
}

FAKE_VISIBLE void fake_clear(void) {
  State& all = state();
  {
    const std::lock_guard lock(sampling().mutex);
    sampling().rules.clear();
  }
  for (Call* call : Call::all()) call->reset();
  Local& here = local();
  if (here.context != nullptr && here.context->is_destroyed.load()) here.context = nullptr;
  const std::lock_guard lock(all.mutex);
  all.options.reset();
  all.counters.reset();
  all.taken_drops.store(0);
  all.violations.clear();
  if (all.callback.load() != nullptr) return;
  all.is_subscribed.store(false);
  all.subscriber_name.clear();
}

FAKE_VISIBLE void fake_reset(void) {
  stop_worker();
  fake_clear();
  {  // before the state's mutex, which who holds this one may take to note a broken rule
    const std::lock_guard sampled(sampling().mutex);
    sampling().contexts.clear();
    sampling().is_known.clear();
    sampling().was_enabled.store(false);
    sampling().started_count.store(0);
  }
  State& all = state();
  const std::lock_guard lock(all.mutex);
  all.epoch.fetch_add(1);
  all.callback.store(nullptr);
  all.is_subscribed.store(false);
  for (auto& domain : all.enabled) {
    for (auto& flag : domain) flag.store(0);
  }
  for (auto& flag : all.kinds) flag.store(0);
  all.request.store(nullptr);
  all.done.store(nullptr);
  all.timestamp.store(nullptr);
  all.flush_period_ms.store(0);
  all.has_hw_trace.store(false);
  all.correlation.store(0);
  all.taken_drops.store(0);
  all.subscriber_name.clear();
  all.slots.clear();
  all.shared_slot.current = Buffer();
  all.held.clear();
  all.queue.clear();
  all.waiting_buffers.store(0);
  all.streams.clear();
  all.primaries.clear();
  all.contexts.clear();
  all.graphs.clear();
  all.violations.clear();
  all.next_stream.store(13);
  all.next_context = 1;
  all.next_graph = 1;
}
