/// What the process knows about each thread: its stack, and the path it last published for
/// readers that hold no lock. Created and reaped on the host path (GIL); `current_path_unlocked`
/// may be called by any thread at any time, so states are recycled and never freed.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "session/scopes/context_stack.h"
#include "session/scopes/range_thread.h"

namespace proton {

struct ThreadState {
  ContextStack stack;                  // of the thread's base context
  ScopeEntry* task_top = nullptr;      // counted: top of the task seen last here; null: none
  const void* host_context = nullptr;  // the host's context object seen last (kept by the host)
  bool is_in_task = false;             // whether host_context has a stack of its own
  bool is_foreign = false;             // started behind Python's back: scopes hang below the lead's
  uint32_t number = 0;                 // in order of appearance
  uint32_t forgiven_exits = 0;         // scopes and states that a fork took away
  void* host_part = nullptr;           // owned by the bindings
  std::atomic<RangeThread*> ranges{nullptr};  // null: it never used ranges of libraries
  // Kept while a session is active, read without a lock:
  std::atomic<PathId> published{kRootPath};   // shadow path and state, for threads that follow
  std::atomic<ContextId> context{kRootPath};  // the same with launch metadata, for this thread
  std::atomic<uint32_t> suffix{0};            // state and launch metadata, of LaunchContexts
  std::atomic<bool> has_own{false};           // whether this thread has anything open
  std::atomic<bool> is_led{false};            // with a suffix: launch metadata is all that is open

  /// A path without state and launch metadata.
  void publish(PathId path, bool is_own) {
    published.store(path, std::memory_order_release);
    context.store(path, std::memory_order_relaxed);
    suffix.store(0, std::memory_order_relaxed);
    has_own.store(is_own, std::memory_order_relaxed);
  }
  void forget_published() { publish(kRootPath, false); }
};

/// The calling thread's state, or null when it has none yet.
extern constinit thread_local ThreadState* this_thread __attribute__((tls_model("initial-exec")));

class ThreadTable {
 public:
  /// Makes the calling thread's state. The caller sets `is_foreign`.
  ThreadState& create();

  /// Live threads in order of appearance. Reap first to leave out the dead.
  const std::vector<ThreadState*>& live() const { return live_; }

  /// Releases what dead threads held. Needs the GIL: it drops references to host objects.
  void reap();

  /// The calling thread becomes the one that threads without scopes follow.
  void lead(ThreadState& thread) { lead_.store(&thread, std::memory_order_release); }
  ThreadState* lead() const { return lead_.load(std::memory_order_acquire); }

  /// In a forked child: only the calling thread is left, and it has no stack.
  void forget_others();

  /// The calling thread is about to end: the host knows, and holds the GIL.
  void retire(ThreadState& thread);

  /// For the thread-exit handler.
  void bury(ThreadState* thread);

 private:
  void release(ThreadState& thread);

  std::vector<ThreadState*> live_;
  std::vector<ThreadState*> free_;
  std::mutex mutex_;  // guards dead_ alone
  std::vector<ThreadState*> dead_;
  std::atomic<ThreadState*> lead_{nullptr};
  uint32_t next_number_ = 0;
};

/// Where the calling thread's launches belong, without any lock: its own shadow path, state and
/// launch metadata, or else the path and state of the lead.
ContextId current_context_unlocked() noexcept;

/// Whether what the calling thread launches is nobody's: its context is kNoContext then.
extern constinit thread_local bool is_disowned __attribute__((tls_model("initial-exec")));

/// Whether the calling thread is the lead, or its launches belong to what the lead has open.
bool is_with_lead_unlocked() noexcept;

/// The calling thread's number, also for one that Python has never seen.
uint32_t current_thread_number() noexcept;

/// Any thread. The system's id of the thread with this number, also when it has ended; 0: unknown.
uint64_t system_thread_id(uint32_t number) noexcept;

}  // namespace proton
