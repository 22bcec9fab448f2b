/// The open scopes, states and launch metadata of one thread or task. Scopes are a linked list of
/// pooled entries with counted references, so that a task can share its creator's path and go on
/// from there. Host path only (GIL). Names and owners are host objects that the core never looks
/// into: it interns names and releases both through HostHooks (process.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "model/ids.h"
#include "session/metrics/metric_table.h"

namespace proton {

inline constexpr uint64_t kUnknownCount = UINT64_MAX;

/// Where a scope stands among the ranges of libraries.
struct RangePosition {
  ContextId context = kRootPath;  // the innermost range that it was entered in
  uint32_t epoch = 0;             // of `context`
  const void* owner = nullptr;    // the RangeThread of `serial`
  uint64_t serial = 0;            // of the range that its thread began last before it
};

/// One open scope.
struct ScopeEntry {
  ScopeEntry* parent = nullptr;  // counted
  uint32_t references = 1;       // of stacks that end here and entries above
  uint32_t epoch = 0;            // `path` is good if this is the process's epoch
  PathId path = kRootPath;
  PathId frames_path = kRootPath;  // Python frames at entry
  bool has_frames_path = false;    // within `epoch`
  bool is_closed = false;          // left, but another entry still stands above it
  bool is_timed = false;
  bool has_metrics = false;                 // given at entry
  bool is_listed = false;                   // in the process's list of scopes open in tasks
  const void* home = nullptr;               // the thread or task that opened it
  void* name = nullptr;                     // counted host object
  void* owner = nullptr;                    // counted host object; null: opened by enter_scope
  int64_t start_ns = 0;                     // 0: no clock was read at entry
  uint64_t scope_id = 0;                    // 0: entered while nothing was recording
  uint64_t captured_nodes = kUnknownCount;  // graphs and nodes the thread had made at entry
  uint64_t launch_count = 0;                // launches it had made then
  uint32_t thread_number = 0;
  RangePosition range;
  struct Neighbours {
    ScopeEntry* next = nullptr;
    ScopeEntry* previous = nullptr;
  } listed;  // in that list
};

/// A label on the work below the current scope; the innermost counts.
struct StateEntry {
  std::string name;
  const void* home;
  std::shared_ptr<const StateEntry> parent;
};

/// Launch metadata of the kernel being launched: its name (empty: none given) and metrics.
struct OpEntry {
  std::string name;
  SampleList metrics;
  const void* home;
  std::shared_ptr<const OpEntry> parent;
  CorrelationId launch = 0;     // the thread's last one before it
  uint64_t captured_nodes = 0;  // what the thread had made of graphs before it
  mutable uint32_t id = 0;      // of LaunchContexts, if `id_epoch` is the process's epoch
  mutable uint32_t id_epoch = 0;
};

struct ContextStack {
  ScopeEntry* top = nullptr;  // counted
  std::shared_ptr<const StateEntry> state;
  std::shared_ptr<const OpEntry> op;

  /// Puts a new entry on top; takes over the caller's references to `name` and `owner`.
  ScopeEntry& push(const void* home, void* name, void* owner);

  /// Takes the top entry off; the caller owns the reference and ends it with `drop_entry`.
  ScopeEntry* pop();

  /// The innermost open entry of `home` that `owner` made (null: enter_scope), or null.
  ScopeEntry* find(const void* home, const void* owner) const;
};

/// How many scopes and states are open on a stack.
inline uint32_t count_open(const ContextStack& stack) {
  uint32_t count = 0;
  for (const ScopeEntry* entry = stack.top; entry != nullptr; entry = entry->parent) ++count;
  for (const StateEntry* state = stack.state.get(); state != nullptr; state = state->parent.get()) {
    ++count;
  }
  return count;
}

inline ScopeEntry* share_entry(ScopeEntry* entry) {
  if (entry != nullptr) ++entry->references;
  return entry;
}

/// Ends one reference; entries that nobody needs go back to the pool.
void drop_entry(ScopeEntry* entry);

}  // namespace proton
