/// Ranges that libraries mark by NVTX, as scopes. They begin and end on any thread, mostly without
/// the GIL: their contexts come from a table of their own (RangeTable), kernels find the
/// innermost one by one load, and what the host side of sessions keeps of them (nodes, spans,
/// payloads) waits with its thread until somebody under the GIL drains it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "model/ids.h"
#include "session/scopes/range_thread.h"

namespace proton {

class HostBooking;
struct ScopeEntry;

class Ranges {
 public:
  // Any thread, with or without the GIL; none throws.
  /// The level of the range within its thread and domain, from 0.
  int push(const RangeStart& start) noexcept;
  /// The level of the range that ended; -1 (and counted): none is open in the domain.
  int pop(uint32_t domain) noexcept;
  /// A number for `end`, which any thread may call.
  uint64_t start(const RangeStart& start) noexcept;
  void end(uint64_t number) noexcept;
  void mark(const RangeStart& start) noexcept;
  bool keeps_spans() const { return keeps_spans_.load(std::memory_order_relaxed); }

  /// The context of an operator, or of a marker of backward work.
  ContextId below(ContextId parent, FrameKind kind, std::string_view name) noexcept;

  // Under the GIL
  /// The path of a range's context; of any other, itself.
  PathId path(ContextId context) { return table_.path(context); }
  void resolve_all() { table_.resolve_all(); }
  /// The innermost range that the thread began after entering `top`; kRootPath: none.
  static ContextId innermost(RangeThread& thread, const ScopeEntry* top);
  /// The thread's innermost scope is `top` now; `has_more`: a state or launch metadata stands below
  /// everything else.
  static void follow_host(RangeThread& thread, const ScopeEntry* top, bool has_more);
  /// Hands what has ended and what was used for the first time to the active sessions.
  void drain();
  /// After a session was activated or began a phase: every use is a first one again.
  void next_tick() { tick_.fetch_add(1, std::memory_order_relaxed); }
  /// What the active sessions want to know.
  void follow_sessions(const std::vector<HostBooking*>& active);
  /// Calls begin to arrive after a while in which they did not: nothing is known to be open.
  void restart();
  /// The path table was cleared: ranges that are open are passed over from now on.
  void clear();
  /// The ranges that are open now and were recorded, as if they ended now.
  std::vector<RangeSpan> open_spans();
  void reset_after_fork() noexcept;

  /// For the thread-exit handler.
  void bury(RangeThread* thread) noexcept;

 private:
  RangeThread& here();
  OpenRange prepare(RangeThread& thread, const RangeStart& start, bool is_started);
  bool place(RangeThread& thread, const RangeStart& start, ContextId parent, OpenRange& range);
  OpenRange begin(const RangeStart& start, bool is_started);
  void finish(RangeThread& thread, size_t at);
  /// What `call` returns, or `failed`: an exception is counted.
  template <typename Result, typename Call>
  Result guarded(Result failed, Call call) noexcept;
  template <typename IsIt>  // bool(const OpenRange&)
  int end_innermost(RangeThread* thread, IsIt is_it);
  void note_first_use(ContextId context);
  void drain_first_uses();
  std::vector<RangeThread*> threads();

  RangeTable table_;
  std::atomic<bool> records_{false};
  std::atomic<bool> keeps_spans_{false};
  std::atomic<bool> keeps_sums_{false};
  std::atomic<bool> wants_frames_{false};
  std::atomic<uint32_t> tick_{1};
  std::atomic<uint32_t> epoch_{1};
  std::atomic<uint64_t> unmatched_{0};
  std::atomic<uint64_t> unclosed_{0};
  std::atomic<uint64_t> failed_{0};
  std::mutex mutex_;  // guards what follows; taken after a thread's, never before
  std::vector<ContextId> first_uses_;
  std::vector<RangeThread*> threads_;  // never freed, used again
  std::vector<RangeThread*> free_;
};

}  // namespace proton
