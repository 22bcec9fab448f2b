/// Scopes meet sessions: what entering and leaving a scope does in every active session.
/// Host path only (GIL).
#pragma once

#include <string>
#include <string_view>

#include "model/event_sink.h"
#include "session/scopes/context_stack.h"
#include "session/scopes/host_booking.h"
#include "session/scopes/process.h"

namespace proton {

/// Interns the names of `entry` and of those above it that were pushed while nothing recorded.
PathId resolve_path(ScopeEntry* entry);

/// The shadow path down to `entry`.
inline PathId path_of(ScopeEntry* entry) {
  if (entry == nullptr) return kRootPath;
  return entry->epoch == process.epoch ? entry->path : resolve_path(entry);
}

/// The entry that the thread's work hangs below: its own top, or else the lead's.
ScopeEntry* effective_top(const ThreadState& thread, const ContextStack& stack);

/// The path of the innermost scope or range of the thread, or else of the lead's.
PathId scope_path(const ThreadState& thread, const ContextStack& stack);

/// The path of the thread's work in a session of this kind, with the state.
PathId launch_path(ThreadState& thread, const ContextStack& stack, ContextKind context);

/// `path`, with a frame for the innermost state of the stack, or for the state of that name.
PathId path_with_state(PathId path, const ContextStack& stack);
PathId path_with_state(PathId path, std::string_view state);
/// The state of work for the metrics of a kernel, or of a scope where `kernel` is empty.
std::string metadata_state(std::string_view kernel);

/// Makes the path of a thread known that has states, launch metadata or ranges of libraries.
void publish_more(ThreadState& thread, const ContextStack& stack);

/// Makes the thread's path known to readers without a lock.
inline void publish(ThreadState& thread, const ContextStack& stack) {
  if (stack.state != nullptr || stack.op != nullptr ||
      thread.ranges.load(std::memory_order_relaxed) != nullptr) [[unlikely]] {
    return publish_more(thread, stack);
  }
  thread.publish(path_of(stack.top), stack.top != nullptr);
}

/// Publishes every thread's path: a session has just become active.
void publish_all();

/// How many graph nodes were captured for what the calling thread has open.
uint64_t count_captured();

/// After a push, while a session is active.
void record_enter(ThreadState& thread, const ContextStack& stack, ScopeEntry& entry);

/// Whether an active session wants to know that `entry` was left, even without metrics.
inline bool is_exit_wanted(const ScopeEntry& entry) {
  return process.needs_clock || entry.is_timed || entry.has_metrics;
}

/// After the pop, while a session is active. Books everything it can, then throws the first Error.
/// Metrics stand on the frame of the state of `stack`, where kernels are; null: on the scope's.
void record_exit(ThreadState& thread, ScopeEntry& entry, const SampleList& metrics,
                 const ContextStack* stack = nullptr);

/// Books metrics on an entry that stays open.
void record_metrics(ThreadState& thread, ScopeEntry& entry, const SampleList& metrics,
                    const ContextStack* stack = nullptr);

/// After the launch that an op is the metadata of: says where its values on devices belong.
void record_launch(const OpEntry& op);

/// Lets go of values on devices that will not be booked.
void drop_values(const SampleList& metrics);

/// For backends: asks this process where a launch belongs.
ContextSource context_source();

/// Calls `visit` with every scope that is open now, in threads and tasks.
template <typename Visit>
void for_each_open(Visit visit) {
  for (ThreadState* thread : process.threads.live()) {
    ScopeEntry* entry = thread->stack.top;
    for (; entry != nullptr && entry->home == thread; entry = entry->parent) {
      if (!entry->is_closed) visit(*entry);
    }
  }
  for (ScopeEntry* entry = process.entries.in_tasks; entry != nullptr; entry = entry->listed.next) {
    if (!entry->is_closed) visit(*entry);
  }
}

}  // namespace proton
