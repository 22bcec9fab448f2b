/// What all sessions of the process share: names, paths, threads, and the list of sessions.
/// Host path only (GIL), except where a member says otherwise.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/string_table.h"
#include "model/device_value.h"
#include "model/ids.h"
#include "model/sampled_code.h"
#include "session/metrics/metric_names.h"
#include "session/scopes/captured_metrics.h"
#include "session/scopes/context_stack.h"
#include "session/scopes/launch_contexts.h"
#include "session/scopes/path_table.h"
#include "session/scopes/ranges.h"
#include "session/scopes/thread_state.h"

namespace proton {

class HostBooking;
enum class ContextKind : uint8_t;

/// What a backend that reads metric values from devices is told: where one belongs, or that it is
/// of no use. Null: no backend does.
struct ValueHooks {
  void (*commit)(ValueId id, const ValuePlace& place, std::span<const ValueTarget> targets);
  void (*drop)(ValueId id);
  CorrelationId (*last_launch)() noexcept;  // of the calling thread
};

/// What the core asks of its host (Python, or a test). All but `capture_launch`,
/// `capture_framework`, `holds_lock` and `schedule_reap` are called under the GIL.
struct HostHooks {
  NameId (*intern)(void* name);                   // of a host string, in Process::names
  void (*release)(void* object);                  // end a counted reference
  std::string (*frame_text)(uint32_t position);   // `file:line@function`
  bool (*is_library_frame)(uint32_t position);    // of code that is not the program's own
  PathId (*capture_frames)(ThreadState& thread);  // path of the calling thread's Python frames
  ContextId (*capture_launch)();  // any thread: frames, state and launch metadata of the caller
  /// The same for sessions that record a framework: scopes, frames, modules, operators.
  ContextId (*capture_framework)();
  bool (*holds_lock)();     // any thread: whether it holds the GIL
  void (*schedule_reap)();  // any thread: have ThreadTable::reap called soon
  void (*release_thread)(void* host_part);
  void (*follow_sessions)();  // others are active now
  void (*drain_operators)();  // hand their sums to the active sessions
  void (*clear_names)();  // forget what is cached about names and frames: their tables are cleared
};

/// What a backend tells that sees graphs being captured; all null while there is none.
struct GraphHooks {
  /// How many graphs and nodes the calling thread has made; the lead answers for those who follow
  /// it.
  uint64_t (*node_count)(bool is_lead) noexcept = nullptr;
  /// The node that stands for what was captured since `count` was so; 0: nothing.
  uint64_t (*node_since)(bool is_lead, uint64_t count) noexcept = nullptr;
  /// The node whose runs the metrics of a scope count with: it was entered when `count` was so and
  /// the thread had made so many launches. 0: they count once.
  uint64_t (*metric_node_since)(bool is_lead, uint64_t count, uint64_t launches) noexcept = nullptr;
  /// Events tell from now on when `node` or a clone of it runs. False: it is gone.
  bool (*report_runs)(uint64_t node) noexcept = nullptr;
  /// The contexts that nodes refer to, and what has become of them when the tables were cleared.
  std::vector<ContextId> (*contexts)() = nullptr;
  void (*move_contexts)(uint32_t epoch, const std::function<ContextId(ContextId)>& move) = nullptr;
  /// What `node_count` answers the lead, to be read in place: every scope asks.
  const std::atomic<uint64_t>* lead_node_count = nullptr;
};

struct Process {
  static constexpr NameId kUnknownText = UINT32_MAX;

  StringTable names;
  PathTable paths;
  MetricNames metric_names;
  ThreadTable threads;
  HostHooks hooks;
  LaunchContexts contexts;
  Ranges ranges;                   // says itself what needs the GIL
  std::atomic<uint32_t> epoch{1};  // grows when the tables are cleared; older path ids are void
  GraphHooks graphs;
  CapturedMetrics captured_metrics;
  ValueHooks values{};
  std::atomic<FindCode> find_code{nullptr};  // of whoever keeps loaded modules; null: nobody
  uint32_t fork_count = 0;  // forks that led to this process; stacks of before are the parent's
  uint64_t next_scope_id = 0;
  bool needs_clock = false;  // a trace session is active
  /// Any thread: where a launch belongs, for sessions whose paths have frames.
  std::atomic<ContextId (*)()> capture{nullptr};
  std::vector<HostBooking*> open_sessions;  // between construction and close
  std::vector<HostBooking*> active_sessions;
  std::vector<uint8_t> invalid_names;  // by NameId: 1 where text was replaced
  struct FrameTexts {
    std::vector<NameId> by_position;  // kUnknownText: not asked for yet
    std::vector<uint8_t> is_library;  // by NameId of such a text
    size_t path_count = 0;            // of paths whose frames are there
    void mark(NameId text, bool is_of_library) {
      if (!is_of_library) return;
      if (text >= is_library.size()) is_library.resize(text + 1);
      is_library[text] = 1;
    }
  } frame_texts;
  struct Entries {
    ScopeEntry* free = nullptr;      // pool
    ScopeEntry* in_tasks = nullptr;  // scopes open in tasks, linked
  } entries;

  Process();
  bool is_recording() const { return !active_sessions.empty(); }

  /// Asks the host for the texts of all Python frames seen so far. Before a snapshot takes its
  /// session's mutex: the host may run code of the program's (a garbage collection) that leaves
  /// scopes, and those count in sessions.
  void resolve_frames();

  /// Whether a frame is a Python frame of a library; its text is known.
  bool is_library(FrameId frame) const;

  /// What libraries and frameworks did so far, to the active sessions.
  void drain() {
    ranges.drain();
    hooks.drain_operators();
  }

  /// The name of a path's last frame. That of a Python frame is asked for unless it is resolved.
  std::string frame_name(FrameId frame) const;

  void list(ScopeEntry& entry);
  void unlist(ScopeEntry& entry);

  /// In every active session.
  void count_loss(const char* kind, uint64_t count = 1);

  void add_session(HostBooking& session);
  void remove_session(HostBooking& session);  // the last one out clears the tables
  void update_active();                       // after a session was activated or deactivated
  /// Whether an active session has a kind that `is_it` is true of.
  bool has_active(bool (*is_it)(ContextKind)) const;

  /// In a forked child, safe in a pthread_atfork handler: sessions and stacks of the parent are
  /// forgotten, not released.
  void reset_after_fork();

 private:
  ContextId (*choose_capture() const)();
};

/// Never destroyed: threads may outlive main.
extern Process& process;

}  // namespace proton
