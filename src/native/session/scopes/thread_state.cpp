#include "session/scopes/thread_state.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <unordered_map>

#include "model/losses.h"
#include "session/scopes/process.h"

namespace proton {

constinit thread_local bool is_disowned = false;
constinit thread_local ThreadState* this_thread = nullptr;

namespace {

/// Runs at thread exit, without the GIL.
struct ThreadExit {
  ThreadState* thread = nullptr;
  ~ThreadExit() {
    if (thread == nullptr) return;
    this_thread = nullptr;
    thread->ranges.store(nullptr, std::memory_order_release);
    process.threads.bury(thread);
  }
};
thread_local ThreadExit thread_exit;

/// The system's ids of threads, by their numbers: a trace names threads that have ended too.
class SystemIds {
 public:
  /// The calling thread has this number.
  void add(uint32_t number) noexcept {
    try {
      std::lock_guard lock(mutex_);
      ids_[number] = static_cast<uint64_t>(syscall(SYS_gettid));
    } catch (const std::bad_alloc&) {  // a trace shows the thread without its id
    }
  }
  uint64_t find(uint32_t number) noexcept {
    std::lock_guard lock(mutex_);
    const auto found = ids_.find(number);
    return found == ids_.end() ? 0 : found->second;
  }
  /// Another thread may have held the lock at the fork.
  void reset_after_fork() { new (this) SystemIds; }

 private:
  std::mutex mutex_;
  std::unordered_map<uint32_t, uint64_t> ids_;
};

/// Never destroyed: threads may outlive main.
SystemIds& system_ids() {
  static SystemIds& all = *new SystemIds;
  return all;
}

}  // namespace

ThreadState& ThreadTable::create() {
  reap();
  ThreadState* thread;
  if (!free_.empty()) {
    thread = free_.back();
    free_.pop_back();
  } else {
    thread = new ThreadState;
  }
  thread->number = next_number_++;
  system_ids().add(thread->number);
  live_.push_back(thread);
  this_thread = thread;
  thread->ranges.store(this_ranges, std::memory_order_release);
  thread_exit.thread = thread;
  if (lead() == nullptr) lead(*thread);
  return *thread;
}

void ThreadTable::retire(ThreadState& thread) {
  if (this_thread != &thread) return;
  this_thread = nullptr;
  thread.ranges.store(nullptr, std::memory_order_release);
  thread_exit.thread = nullptr;
  {
    std::lock_guard lock(mutex_);
    dead_.push_back(&thread);
  }
  reap();
}

void ThreadTable::bury(ThreadState* thread) {
  {
    std::lock_guard lock(mutex_);
    dead_.push_back(thread);
  }
  process.hooks.schedule_reap();
}

void ThreadTable::reap() {
  std::vector<ThreadState*> dead;
  {
    std::lock_guard lock(mutex_);
    dead.swap(dead_);
  }
  for (ThreadState* thread : dead) {
    live_.erase(std::remove(live_.begin(), live_.end(), thread), live_.end());
    if (lead() == thread) lead_.store(live_.empty() ? nullptr : live_.front());
    for (ScopeEntry* entry = thread->stack.top; entry != nullptr && entry->home == thread;
         entry = entry->parent) {
      if (!entry->is_closed) process.count_loss(losses::kUnclosedScope);
    }
    release(*thread);
    free_.push_back(thread);
  }
}

void ThreadTable::release(ThreadState& thread) {
  thread.forget_published();
  ContextStack stack = std::move(thread.stack);
  ScopeEntry* task_top = thread.task_top;
  thread.stack = ContextStack();
  thread.task_top = nullptr;
  thread.host_context = nullptr;
  thread.is_in_task = false;
  thread.is_foreign = false;
  thread.forgiven_exits = 0;
  void* host_part = thread.host_part;
  thread.host_part = nullptr;
  drop_entry(stack.top);
  drop_entry(task_top);
  process.hooks.release_thread(host_part);
}

void ThreadTable::forget_others() {
  // Another thread may have held it at the fork; that thread does not exist here.
  new (&mutex_) std::mutex;
  system_ids().reset_after_fork();
  new (&dead_) std::vector<ThreadState*>;
  // The other threads' host objects are leaked on purpose: releasing them could run code that
  // waits for locks those threads held.
  live_.clear();
  free_.clear();
  lead_.store(nullptr);
  if (this_thread != nullptr) {
    live_.push_back(this_thread);
    lead_.store(this_thread);
    system_ids().add(this_thread->number);
  }
}

namespace {

/// The innermost range of a library on a thread, if nothing else is further in.
ContextId range_of(const RangeThread* ranges) {
  return ranges == nullptr ? kRootPath : ranges->context.load(std::memory_order_acquire);
}

}  // namespace

ContextId current_context_unlocked() noexcept {
  if (is_disowned) [[unlikely]]
    return kNoContext;
  if (const ContextId range = range_of(this_ranges); range != kRootPath) return range;
  const ThreadState* thread = this_thread;
  if (thread != nullptr && thread->has_own.load(std::memory_order_relaxed)) {
    return thread->context.load(std::memory_order_relaxed);
  }
  const ThreadState* lead = process.threads.lead();
  if (lead == nullptr) return kRootPath;
  const ContextId range = range_of(lead->ranges.load(std::memory_order_acquire));
  return range != kRootPath ? range : lead->published.load(std::memory_order_acquire);
}

bool is_with_lead_unlocked() noexcept {
  const ThreadState* thread = this_thread;
  if (thread == nullptr || !thread->has_own.load(std::memory_order_relaxed)) return true;
  return thread == process.threads.lead();
}

uint32_t current_thread_number() noexcept {
  constexpr uint32_t kUnseen = 1u << 31;  // apart from the numbers of threads with a state
  if (this_thread != nullptr) return this_thread->number;
  static std::atomic<uint32_t> next{0};
  thread_local const uint32_t number = [] {
    const uint32_t fresh = kUnseen | next.fetch_add(1, std::memory_order_relaxed);
    system_ids().add(fresh);
    return fresh;
  }();
  return number;
}

uint64_t system_thread_id(uint32_t number) noexcept { return system_ids().find(number); }

}  // namespace proton
