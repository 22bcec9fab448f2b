#include "frameworks/torch/observer.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

#include "frameworks/torch/operator_thread.h"

namespace proton {
namespace {

constinit thread_local OperatorThread* this_operators __attribute__((tls_model("initial-exec"))) =
    nullptr;  // a pointer: more finds no room beside torch

/// All threads, and the sums of those that ended.
struct Threads {
  std::mutex mutex;
  std::vector<OperatorThread*> all;
  std::unordered_map<ContextId, OperatorSum> ended;
  uint64_t ended_generation = 0;
};

/// Callbacks of one kind, registered with torch once and then switched.
struct Switch {
  uint64_t handle = 0;
  bool is_on = false;
  ObserverTier least;  // from which tier on
  RecordScope scope;
};

struct State {
  ObserverParts parts;
  Threads threads;
  std::mutex switch_mutex;
  std::array<Switch, 3> switches;
  std::atomic<bool> is_forked{false};
  std::atomic<void (*)(const RecordFunction*, RecordScope)> watch{nullptr};
  pthread_key_t thread_key{};
};

State& state = *new State;

void add_sums(OperatorThread& thread, double ns_per_tick,
              std::unordered_map<ContextId, OperatorSum>& sums) {
  thread.sites().each([&](Site& site) {
    if (site.context == kNoContext) return;
    const uint64_t ticks = site.ticks.load(std::memory_order_relaxed);
    const uint64_t calls = site.calls.load(std::memory_order_relaxed);
    if (calls == site.taken_calls && ticks == site.taken_ticks) return;
    OperatorSum& sum =
        sums.try_emplace(site.context, OperatorSum{site.context, 0, 0}).first->second;
    sum.calls += calls - site.taken_calls;
    sum.time_ns +=
        static_cast<int64_t>(static_cast<double>(ticks - site.taken_ticks) * ns_per_tick + 0.5);
    site.taken_calls = calls;
    site.taken_ticks = ticks;
  });
}

/// Sums of threads that ended under an earlier generation are void.
void follow_generation(Threads& threads) {
  const uint64_t generation = state.parts.generation();
  if (threads.ended_generation != generation) threads.ended.clear();
  threads.ended_generation = generation;
}

void end_thread(void* ended) {
  auto* const thread = static_cast<OperatorThread*>(ended);
  this_operators = nullptr;
  const double ns_per_tick = state.parts.clock.ns_per_tick();
  {
    std::lock_guard lock(state.threads.mutex);
    follow_generation(state.threads);
    if (thread->is_current()) add_sums(*thread, ns_per_tick, state.threads.ended);
    std::erase(state.threads.all, thread);
  }
  delete thread;
}

[[gnu::noinline]] OperatorThread& make_current(OperatorThread* thread) {
  std::lock_guard lock(state.threads.mutex);
  if (thread == nullptr) {
    thread = this_operators = new OperatorThread(state.parts);
    state.threads.all.push_back(thread);
    pthread_setspecific(state.thread_key, thread);
  } else {
    thread->renew();
  }
  return *thread;
}

inline OperatorThread& current_thread() {
  OperatorThread* const thread = this_operators;
  if (thread != nullptr && thread->is_current()) [[likely]] {
    return *thread;
  }
  return make_current(thread);
}

void turn(Switch& callbacks, bool is_on) {
  if (callbacks.is_on == is_on) return;
  const TorchLibrary& library = state.parts.library;
  (is_on ? library.reenable_callback : library.disable_callback)(callbacks.handle);
  callbacks.is_on = is_on;
}

/// Something begins while no contexts are kept. Either a calibration watches, or torch had looked
/// up its callbacks before they were switched off, or this is a forked child, which may not switch
/// them off while it forks and does it now.
[[gnu::noinline]] void begin_unobserved(const RecordFunction* function, RecordScope scope) {
  if (const auto watch = state.watch.load()) return watch(function, scope);
  if (!state.is_forked.exchange(false)) return;
  std::lock_guard lock(state.switch_mutex);
  for (Switch& each : state.switches) turn(each, state.parts.tier.load() >= each.least);
}

inline bool is_observing(const RecordFunction* function, RecordScope scope) {
  if (state.parts.tier.load(std::memory_order_relaxed) != ObserverTier::kOff) [[likely]] {
    return true;
  }
  begin_unobserved(function, scope);
  return false;
}

const char* name_of(const RecordFunction* function) {
  const char* const name = state.parts.library.name(function);
  return name == nullptr ? "" : name;
}

uint64_t field(const RecordFunction* function, size_t place) {
  uint64_t value;
  std::memcpy(&value, reinterpret_cast<const char*>(function) + place * sizeof value, sizeof value);
  return value;
}

RecordCallback::Object on_operator(const RecordFunction* function) {
  if (!is_observing(function, RecordScope::kFunction)) return {};
  const auto number = static_cast<int64_t>(field(function, state.parts.fields.number));
  current_thread().begin_operator(function, name_of(function), number);
  return {};
}

RecordCallback::Object on_scope(const RecordFunction* function) {
  if (!is_observing(function, RecordScope::kUser)) return {};
  const auto is_async = state.parts.library.is_async;
  if (is_async != nullptr && is_async(function)) return {};  // it ends on some other thread
  current_thread().begin_scope(function, name_of(function));
  return {};
}

RecordCallback::Object on_node(const RecordFunction* function) {
  if (!is_observing(function, RecordScope::kBackward)) return {};
  const auto number = static_cast<int64_t>(field(function, state.parts.fields.number));
  const uint64_t forward_thread = field(function, state.parts.fields.forward_thread);
  current_thread().begin_node(function, name_of(function), number, forward_thread);
  return {};
}

void on_end(const RecordFunction* function, void*) {
  if (this_operators != nullptr) this_operators->end(function);
}

Switch add_switch(RecordScope scope, RecordCallback::Start start, ObserverTier least) {
  RecordCallback callback{start, on_end};
  callback.flags[static_cast<size_t>(scope)] = true;
  if (scope == RecordScope::kFunction)
    callback.flags[static_cast<size_t>(RecordScope::kScript)] = true;
  const uint64_t handle = state.parts.library.add_callback(callback);
  state.parts.library.disable_callback(handle);
  return {handle, false, least, scope};
}

}  // namespace

TorchObserver& torch_observer = *new TorchObserver;

void TorchObserver::open(const TorchLibrary& library) {
  set_tier(ObserverTier::kOff);
  const auto before = std::exchange(state.parts.library, library).add_callback;
  if (before == library.add_callback) return;
  if (before == nullptr) pthread_key_create(&state.thread_key, end_thread);
  // Few of them: torch looks at all whenever it starts a backward node, at those that are off too.
  state.switches = {add_switch(RecordScope::kBackward, on_node, ObserverTier::kBlame),
                    add_switch(RecordScope::kFunction, on_operator, ObserverTier::kOps),
                    add_switch(RecordScope::kUser, on_scope, ObserverTier::kOps)};
}

void TorchObserver::watch(RecordScope scope, void (*start)(const RecordFunction*, RecordScope)) {
  std::lock_guard lock(state.switch_mutex);
  state.watch.store(start);
  for (Switch& each : state.switches) turn(each, each.scope == scope);
}

void TorchObserver::attach(const TorchLibrary& library, const RecordFields& fields,
                           const ObserverHost& host) {
  open(library);
  state.parts.fields = fields;
  state.parts.host = host;
  clear();
}

void TorchObserver::set_tier(ObserverTier tier) {
  if (state.parts.library.add_callback == nullptr) return;
  std::lock_guard lock(state.switch_mutex);
  state.is_forked.store(false);
  state.watch.store(nullptr);
  state.parts.tier.store(tier);
  for (Switch& each : state.switches) turn(each, tier >= each.least);
}

ObserverTier TorchObserver::tier() const { return state.parts.tier.load(); }

std::vector<OperatorSum> TorchObserver::take_sums() {
  if (state.parts.library.add_callback == nullptr) return {};
  const double ns_per_tick = state.parts.clock.ns_per_tick();
  std::lock_guard lock(state.threads.mutex);
  follow_generation(state.threads);
  std::unordered_map<ContextId, OperatorSum> sums;
  sums.swap(state.threads.ended);
  for (OperatorThread* thread : state.threads.all) {
    if (thread->is_current()) add_sums(*thread, ns_per_tick, sums);
  }
  std::vector<OperatorSum> taken;
  taken.reserve(sums.size());
  for (const auto& [context, sum] : sums) taken.push_back(sum);
  std::ranges::sort(taken, {}, &OperatorSum::context);
  return taken;
}

ObserverCounts TorchObserver::counts() const {
  return {state.parts.backward_nodes.load(), state.parts.backward_launches.load(),
          state.parts.backward_by_neighbour.load(), state.parts.unknown_forward.load()};
}

void TorchObserver::clear() {
  state.parts.clearings.fetch_add(1);
  state.parts.rings.clear();
  state.parts.backward_nodes = 0;
  state.parts.backward_launches = 0;
  state.parts.backward_by_neighbour = 0;
  state.parts.unknown_forward = 0;
}

void TorchObserver::reset_after_fork() noexcept {
  this_operators = nullptr;  // leaked, as what other threads held: they may have been changing it
  if (state.parts.library.add_callback == nullptr) return;
  new (&state.threads) Threads;
  new (&state.switch_mutex) std::mutex;
  new (&state.parts.rings) ForwardRings;
  state.parts.tier.store(ObserverTier::kOff);
  state.is_forked.store(true);
}

ContextId TorchObserver::context() noexcept {
  if (this_operators == nullptr || tier() == ObserverTier::kOff) return kNoContext;
  try {
    return current_thread().context();
  } catch (...) {  // out of memory
    return kNoContext;
  }
}

void TorchObserver::note_launch(ContextId context) noexcept {
  if (tier() != ObserverTier::kBlame) return;
  try {
    current_thread().note_launch(context);
  } catch (...) {  // out of memory: its number has no place
  }
}

}  // namespace proton
