#include "session/scopes/scope_events.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/launch_count.h"
#include "base/text.h"
#include "session/scopes/host_booking.h"

namespace proton {
namespace {

// Rare paths are marked noinline: inlined, they would make every enter and exit save registers.

constexpr std::string_view kMetadataPrefix = "__proton_launch_metadata:";

inline void resolve(ScopeEntry* entry, PathId parent) {
  if (entry->range.context != kRootPath && entry->range.epoch == process.epoch) [[unlikely]] {
    parent = process.ranges.path(entry->range.context);
  }
  entry->path = process.paths.child(parent, FrameId::scope(process.hooks.intern(entry->name)));
  entry->epoch = process.epoch;
  entry->has_frames_path = false;
}

/// With its parents, which were pushed while nothing recorded. A loop, not a recursion: scopes nest
/// 10 000 deep.
[[gnu::noinline]] PathId resolve_all(ScopeEntry* entry) {
  std::vector<ScopeEntry*> pending;
  ScopeEntry* at = entry;
  for (; at != nullptr && at->epoch != process.epoch; at = at->parent) pending.push_back(at);
  PathId path = at == nullptr ? kRootPath : at->path;
  for (auto it = pending.rbegin(); it != pending.rend(); ++it) {
    resolve(*it, path);
    path = (*it)->path;
  }
  return path;
}

/// Python frames at entry, or those of now for a scope entered before the session was active.
[[gnu::noinline]] PathId frames_path_of(ThreadState& thread, ScopeEntry& entry) {
  path_of(&entry);
  if (!entry.has_frames_path) {
    entry.frames_path = process.hooks.capture_frames(thread);
    entry.has_frames_path = true;
  }
  return entry.frames_path;
}

ValuePlace place_of(const DeviceSample& sample) {
  ValuePlace place;
  place.metric = sample.metric;
  place.kind = process.metric_names.name(sample.metric).kind;
  place.is_integer = std::holds_alternative<int64_t>(sample.zero) ||
                     std::holds_alternative<std::vector<int64_t>>(sample.zero);
  return place;
}

PathId in_state(PathId path, const ContextStack* stack) {
  return stack == nullptr ? path : path_with_state(path, *stack);
}

std::vector<ValueTarget> active_targets(uint64_t scope_id) {
  std::vector<ValueTarget> targets;
  for (HostBooking* session : process.active_sessions) {
    targets.push_back({&session->sink(), session->phase(), scope_id});
  }
  return targets;
}

/// Tells the backend which scope the values on devices belong to.
[[gnu::noinline]] void commit_values(ThreadState& thread, ScopeEntry& entry,
                                     const SampleList& metrics, const ContextStack* stack) {
  if (metrics.device().empty() || process.values.commit == nullptr) return;
  const std::vector<ValueTarget> targets = active_targets(entry.scope_id);
  const PathId shadow = in_state(path_of(&entry), stack);
  // Sessions that record a framework have their scopes where those of kind `shadow` have them.
  const bool with_frames = process.has_active(is_python);
  const bool with_framework = process.has_active(is_framework);
  for (const DeviceSample& sample : metrics.device()) {
    ValuePlace place = place_of(sample);
    place.shadow = shadow;
    place.python = with_frames ? in_state(frames_path_of(thread, entry), stack) : shadow;
    if (with_framework) place.python = process.contexts.pair(shadow, place.python);
    process.values.commit(sample.id, place, targets);
  }
}

PathId path_in(const HostBooking& session, ThreadState& thread, ScopeEntry& entry) {
  return session.context() == ContextKind::kPython ? frames_path_of(thread, entry)
                                                   : path_of(&entry);
}

/// Calls `book` with every active session; the first Error that one threw, after the last of them.
template <typename Book>
inline std::exception_ptr book_in_all(Book book) {
  std::exception_ptr first_error;
  for (HostBooking* session : process.active_sessions) {
    try {
      book(*session);
    } catch (const Error&) {
      if (!first_error) first_error = std::current_exception();
    }
  }
  return first_error;
}

bool is_lead() { return this_thread != nullptr && this_thread == process.threads.lead(); }

bool has_captured_since(uint64_t count) {
  return count != kUnknownCount && count_captured() != count &&
         process.graphs.node_count != nullptr;
}

/// The graph node that stands for what was captured since `count` was so; 0: nothing.
uint64_t captured_since(uint64_t count) {
  return has_captured_since(count) ? process.graphs.node_since(is_lead(), count) : 0;
}

/// The graph node whose runs the metrics of a scope count with; 0: they count once.
uint64_t metric_node(const ThreadState& thread, const ScopeEntry& entry) {
  if (!has_captured_since(entry.captured_nodes)) [[likely]] {
    return 0;
  }
  if (entry.thread_number != thread.number) return 0;  // entered on another one
  return process.graphs.metric_node_since(is_lead(), entry.captured_nodes, entry.launch_count);
}

/// The metrics of a captured scope count whenever `node` runs.
void attach_metrics(ThreadState& thread, ScopeEntry& entry, uint64_t node,
                    const SampleList& metrics, const ContextStack* stack) {
  if (metrics.size() == 0) return;  // but for values on a device
  CapturedScope scope{in_state(path_of(&entry), stack)};
  for (const HostBooking* session : process.active_sessions) {
    if (session->context() != ContextKind::kPython) continue;
    scope.python = in_state(frames_path_of(thread, entry), stack);
  }
  scope.metrics = to_op_metrics(metrics);
  process.captured_metrics.add(node, std::move(scope));
  if (!process.graphs.report_runs(node)) process.captured_metrics.forget(node);
}

/// A scope with metrics was left in which `node` was captured: they count whenever it runs, in the
/// sessions that see graphs.
[[gnu::noinline]] void record_captured(ThreadState& thread, ScopeEntry& entry, int64_t end_ns,
                                       uint64_t node, const SampleList& metrics,
                                       const ContextStack* stack) {
  SampleList given;  // at entry
  bool is_captured = false;
  const std::exception_ptr first_error = book_in_all([&](HostBooking& session) {
    const PathId path = path_in(session, thread, entry);
    const PathId place = in_state(path, stack);
    if (!session.counts_replays()) return session.book_scope(path, place, entry, end_ns, metrics);
    is_captured = true;
    SampleList taken = session.take_metrics(entry);
    if (given.empty()) given = std::move(taken);
    session.book_scope(path, place, entry, end_ns, SampleList());
  });
  if (is_captured) {
    given.add_all(metrics);
    attach_metrics(thread, entry, node, given, stack);
  }
  commit_values(thread, entry, metrics, stack);
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace

uint64_t count_captured() {
  const GraphHooks& graphs = process.graphs;
  if (graphs.node_count == nullptr) return kUnknownCount;
  const bool asks_lead = is_lead();
  if (asks_lead && graphs.lead_node_count != nullptr) [[likely]] {
    return graphs.lead_node_count->load(std::memory_order_relaxed);
  }
  return graphs.node_count(asks_lead);
}

PathId path_with_state(PathId path, const ContextStack& stack) {
  return stack.state == nullptr ? path : path_with_state(path, std::string_view(stack.state->name));
}

PathId path_with_state(PathId path, std::string_view name) {
  if (name.starts_with(kMetadataPrefix)) {  // a frame that viewers drop, then the kernel's
    const std::string_view metadata = kMetadataPrefix.substr(0, kMetadataPrefix.size() - 1);
    path = process.paths.child(path, FrameId::state(process.names.intern(metadata)));
    name.remove_prefix(kMetadataPrefix.size());
  }
  return process.paths.child(path, FrameId::state(process.names.intern(name)));
}

std::string metadata_state(std::string_view kernel) {
  const size_t size = kMetadataPrefix.size() - (kernel.empty() ? 1 : 0);
  return concat(kMetadataPrefix.substr(0, size), kernel);
}

PathId resolve_path(ScopeEntry* entry) {
  const ScopeEntry* parent = entry->parent;
  if (parent != nullptr && parent->epoch != process.epoch) [[unlikely]] {
    return resolve_all(entry);
  }
  resolve(entry, parent == nullptr ? kRootPath : parent->path);
  return entry->path;
}

ScopeEntry* effective_top(const ThreadState& thread, const ContextStack& stack) {
  if (stack.top != nullptr) return stack.top;
  const ThreadState* lead = process.threads.lead();
  if (lead == nullptr || lead == &thread) return nullptr;
  return lead->task_top != nullptr ? lead->task_top : lead->stack.top;
}

PathId scope_path(const ThreadState& thread, const ContextStack& stack) {
  const auto with_ranges = [](const ThreadState& of, ScopeEntry* top) {
    RangeThread* ranges = of.ranges.load(std::memory_order_acquire);
    const ContextId range = ranges == nullptr ? kRootPath : Ranges::innermost(*ranges, top);
    return range == kRootPath ? path_of(top) : process.ranges.path(range);
  };
  const PathId own = with_ranges(thread, stack.top);
  if (stack.top != nullptr || own != kRootPath) return own;
  const ThreadState* lead = process.threads.lead();
  return lead == nullptr || lead == &thread ? kRootPath
                                            : with_ranges(*lead, effective_top(thread, stack));
}

PathId launch_path(ThreadState& thread, const ContextStack& stack, ContextKind context) {
  if (is_framework(context)) {
    const PathId path = process.contexts.path(process.hooks.capture_framework());
    return path >= kUnknownContext ? kRootPath : process.ranges.path(path);
  }
  const bool with_frames = context == ContextKind::kPython;
  const PathId path =
      with_frames ? process.hooks.capture_frames(thread) : scope_path(thread, stack);
  if (stack.state == nullptr && stack.top == nullptr) {
    const ThreadState* lead = process.threads.lead();
    if (lead != nullptr && lead != &thread) return path_with_state(path, lead->stack);
  }
  return path_with_state(path, stack);
}

ContextSource context_source() {
  return {
      current_context_unlocked,
      []() noexcept { return process.capture.load(std::memory_order_relaxed)(); },
      current_thread_number,
      []() noexcept { return process.epoch.load(std::memory_order_relaxed); },
      is_with_lead_unlocked,
      [](uint64_t node) noexcept { process.captured_metrics.forget(node); },
  };
}

[[gnu::noinline]] void publish_more(ThreadState& thread, const ContextStack& stack) {
  PathId path = path_of(stack.top);
  if (RangeThread* ranges = thread.ranges.load(std::memory_order_relaxed)) [[unlikely]] {
    const bool has_more = stack.state != nullptr || stack.op != nullptr;
    const ContextId range = has_more ? Ranges::innermost(*ranges, stack.top) : kRootPath;
    if (range != kRootPath) path = process.ranges.path(range);
    Ranges::follow_host(*ranges, stack.top, has_more);
  }
  if (stack.state != nullptr) path = path_with_state(path, stack);
  if (stack.state == nullptr && stack.op == nullptr) {
    return thread.publish(path, stack.top != nullptr);
  }
  thread.published.store(path, std::memory_order_release);
  const ThreadState* lead = process.threads.lead();
  if (stack.top == nullptr && stack.state == nullptr && path == kRootPath && lead != nullptr) {
    const RangeThread* ranges = lead->ranges.load(std::memory_order_acquire);
    const ContextId range = ranges == nullptr ? kRootPath : ranges->context.load();
    path = range != kRootPath ? process.ranges.path(range) : lead->published.load();
  }
  thread.context.store(process.contexts.intern(path, stack.op.get()), std::memory_order_relaxed);
  thread.suffix.store(process.contexts.intern_suffix(stack), std::memory_order_relaxed);
  thread.is_led.store(stack.top == nullptr && stack.state == nullptr, std::memory_order_relaxed);
  thread.has_own.store(true, std::memory_order_relaxed);
}

void publish_all() {
  for (ThreadState* thread : process.threads.live()) {
    if (thread->task_top != nullptr) {
      const PathId path = path_of(thread->task_top);
      thread->published.store(path, std::memory_order_release);
      thread->context.store(path, std::memory_order_relaxed);
      thread->has_own.store(true, std::memory_order_relaxed);
      RangeThread* ranges = thread->ranges.load(std::memory_order_acquire);
      if (ranges != nullptr) Ranges::follow_host(*ranges, thread->task_top, false);
    } else {
      publish(*thread, thread->stack);
    }
  }
}

void record_enter(ThreadState& thread, const ContextStack& stack, ScopeEntry& entry) {
  const PathId path = path_of(&entry);
  entry.scope_id = ++process.next_scope_id;
  entry.thread_number = thread.number;
  entry.captured_nodes = count_captured();
  entry.launch_count = this_launch_count->load(std::memory_order_relaxed);
  publish(thread, stack);
  for (HostBooking* session : process.active_sessions) {
    session->enter_path(session->context() == ContextKind::kPython ? frames_path_of(thread, entry)
                                                                   : path);
  }
  if (process.needs_clock || entry.is_timed) entry.start_ns = now_ns();
}

void record_exit(ThreadState& thread, ScopeEntry& entry, const SampleList& metrics,
                 const ContextStack* stack) {
  const bool has_metrics = !metrics.empty() || entry.has_metrics;
  if (!has_metrics && !is_exit_wanted(entry)) return;
  const int64_t end_ns = process.needs_clock || entry.is_timed ? now_ns() : 0;
  const uint64_t node = has_metrics ? metric_node(thread, entry) : 0;
  if (node != 0) [[unlikely]] {
    return record_captured(thread, entry, end_ns, node, metrics, stack);
  }
  const std::exception_ptr first_error = book_in_all([&](HostBooking& session) {
    if (session.data() == DataKind::kTree && !has_metrics && !entry.is_timed) return;
    const PathId path = path_in(session, thread, entry);
    session.book_scope(path, in_state(path, stack), entry, end_ns, metrics);
  });
  if (!metrics.device().empty()) [[unlikely]] {
    commit_values(thread, entry, metrics, stack);
  }
  if (first_error) [[unlikely]] {
    std::rethrow_exception(first_error);
  }
}

void record_metrics(ThreadState& thread, ScopeEntry& entry, const SampleList& metrics,
                    const ContextStack* stack) {
  entry.has_metrics = true;
  const std::exception_ptr first_error = book_in_all([&](HostBooking& session) {
    session.book_metrics(in_state(path_in(session, thread, entry), stack), entry, metrics);
  });
  commit_values(thread, entry, metrics, stack);
  if (first_error) std::rethrow_exception(first_error);
}

void record_launch(const OpEntry& op) {
  const ValueHooks& values = process.values;
  if (op.metrics.device().empty() || values.commit == nullptr) return;
  const uint64_t node = captured_since(op.captured_nodes);
  if (node == 0 && values.last_launch() == op.launch) return drop_values(op.metrics);
  const std::vector<ValueTarget> targets = active_targets(0);
  for (const DeviceSample& sample : op.metrics.device()) {
    ValuePlace place = place_of(sample);
    place.is_of_kernel = true;
    if (sample.is_captured) {
      place.kernel_node = node;
    } else {
      place.kernel_launch = values.last_launch();
    }
    values.commit(sample.id, place, targets);
  }
}

void drop_values(const SampleList& metrics) {
  if (process.values.drop == nullptr) return;
  for (const DeviceSample& sample : metrics.device()) process.values.drop(sample.id);
}

}  // namespace proton
