#include "session/scopes/process.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/call_tree.h"
#include "model/ids.h"
#include "session/scopes/host_booking.h"
#include "session/scopes/launch_contexts.h"
#include "session/scopes/scope_events.h"

namespace proton {
namespace {

HostHooks null_hooks() {
  return {
      [](void*) -> NameId { return process.names.intern("?"); },
      [](void*) {},
      [](uint32_t) -> std::string { return "?"; },
      [](uint32_t) { return false; },
      [](ThreadState&) -> PathId { return kRootPath; },
      [] { return current_context_unlocked(); },
      [] { return current_context_unlocked(); },
      [] { return true; },
      [] {},
      [](void*) {},
      [] {},
      [] {},
      [] {},
  };
}

/// What captured graphs still refer to when the process's tables are cleared: carried over as text
/// and put into the new tables, so that replays in a later session find where they were captured.
/// Memory stays bounded by the graphs that exist.
class KeptContexts {
 public:
  /// Before the tables are cleared.
  KeptContexts();
  /// Afterwards, in the new epoch.
  void restore();

 private:
  struct Path {
    PathId parent;
    FrameKind kind;
    std::string name;
    bool is_library;
    PathId moved = kRootPath;
  };
  struct Context {
    PathId path;
    uint32_t op;
  };

  void keep(ContextId context);
  void keep_path(PathId path);
  PathId moved(PathId path) const;

  std::map<PathId, Path> paths_;                     // parents first: their ids are lower
  std::unordered_map<ContextId, Context> contexts_;  // those with launch metadata
  std::unordered_map<ContextId, PathId> ranges_;
  std::unordered_map<ContextId, ContextPair> pairs_;
  std::unordered_map<uint32_t, Op> ops_;
};

KeptContexts::KeptContexts() {
  if (process.graphs.contexts == nullptr) return;
  for (const ContextId context : process.graphs.contexts()) {
    if (const ContextPair* pair = process.contexts.find_pair(context)) {
      pairs_.try_emplace(context, *pair);
      keep(pair->framework);
      keep(pair->python);
    } else {
      keep(context);
    }
  }
  std::vector<PathId> paths;  // texts are made without the metrics' lock: that may run host code
  process.captured_metrics.move_paths([&](PathId path) {
    paths.push_back(path);
    return path;
  });
  for (const PathId path : paths) keep_path(path);
}

void KeptContexts::keep(ContextId context) {
  const PathId path = process.ranges.path(process.contexts.path(context));
  keep_path(path);
  if (is_range(context)) ranges_.try_emplace(context, path);
  uint32_t op_id = 0;
  const Op* op = process.contexts.op(context, op_id);
  if (op == nullptr) return;
  contexts_.try_emplace(context, Context{path, op_id});
  ops_.try_emplace(op_id, *op);
}

void KeptContexts::keep_path(PathId path) {
  if (path >= process.paths.size()) return;
  for (; path != kRootPath && !paths_.contains(path); path = process.paths.parent(path)) {
    const FrameId frame = process.paths.frame(path);
    paths_.emplace(path, Path{process.paths.parent(path), frame.kind(), process.frame_name(frame),
                              process.is_library(frame)});
  }
}

PathId KeptContexts::moved(PathId path) const {
  const auto found = paths_.find(path);
  return found == paths_.end() ? kRootPath : found->second.moved;
}

void KeptContexts::restore() {
  for (auto& [old, path] : paths_) {
    const NameId name = process.names.intern(path.name);
    process.frame_texts.mark(name, path.is_library);
    const FrameId frame = FrameId::named(path.kind, name);
    path.moved = process.paths.child(moved(path.parent), frame);
  }
  std::unordered_map<ContextId, ContextId> launches;
  std::unordered_map<uint32_t, uint32_t> ops;
  for (auto& [old, op] : ops_) ops.emplace(old, process.contexts.add_op(std::move(op)));
  for (const auto& [old, context] : contexts_) {
    launches.emplace(old, process.contexts.intern(moved(context.path), ops.at(context.op)));
  }
  process.captured_metrics.move_paths([this](PathId path) { return moved(path); });
  if (process.graphs.move_contexts == nullptr) return;
  const auto move = [&](ContextId context) -> ContextId {
    if (context >= kUnknownContext) return context;
    if (const auto launch = launches.find(context); launch != launches.end()) {
      return launch->second;
    }
    const auto range = ranges_.find(context);
    return moved(range == ranges_.end() ? context : range->second);
  };
  process.graphs.move_contexts(process.epoch, [&](ContextId context) {
    const auto pair = pairs_.find(context);
    if (pair == pairs_.end()) return move(context);
    return process.contexts.pair(move(pair->second.framework), move(pair->second.python));
  });
}

}  // namespace

Process& process = *new Process;

Process::Process() : hooks(null_hooks()), capture(hooks.capture_launch) {}

std::string Process::frame_name(FrameId frame) const {
  switch (frame.kind()) {
    case FrameKind::kRoot:
      return "ROOT";
    case FrameKind::kPython:
      if (!frame.is_position()) return names.text(frame.number());
      if (frame.number() < frame_texts.by_position.size() &&
          frame_texts.by_position[frame.number()] != kUnknownText) {
        return names.text(frame_texts.by_position[frame.number()]);
      }
      return hooks.frame_text(frame.number());
    default:
      return names.text(frame.number());
  }
}

bool Process::is_library(FrameId frame) const {
  if (frame.kind() != FrameKind::kPython) return false;
  NameId text = frame.number();
  if (frame.is_position()) {
    if (text >= frame_texts.by_position.size()) return false;
    text = frame_texts.by_position[text];
  }
  return text < frame_texts.is_library.size() && frame_texts.is_library[text] != 0;
}

void Process::resolve_frames() {
  // The tables may grow, or even be cleared, while the host makes a text.
  for (; frame_texts.path_count < paths.size(); ++frame_texts.path_count) {
    const FrameId frame = paths.frame(static_cast<PathId>(frame_texts.path_count));
    if (!frame.is_position()) continue;
    const uint32_t position = frame.number();
    if (position < frame_texts.by_position.size() &&
        frame_texts.by_position[position] != kUnknownText)
      continue;
    const uint32_t before = epoch;
    const std::string text = hooks.frame_text(position);
    if (epoch != before) return resolve_frames();
    const bool is_library = hooks.is_library_frame(position);
    if (epoch != before) return resolve_frames();
    if (position >= frame_texts.by_position.size())
      frame_texts.by_position.resize(position + 1, kUnknownText);
    frame_texts.by_position[position] = names.intern(text);
    frame_texts.mark(frame_texts.by_position[position], is_library);
  }
}

void Process::list(ScopeEntry& entry) {
  entry.is_listed = true;
  entry.listed.previous = nullptr;
  entry.listed.next = entries.in_tasks;
  if (entries.in_tasks != nullptr) entries.in_tasks->listed.previous = &entry;
  entries.in_tasks = &entry;
}

void Process::unlist(ScopeEntry& entry) {
  entry.is_listed = false;
  if (entry.listed.next != nullptr) entry.listed.next->listed.previous = entry.listed.previous;
  if (entry.listed.previous != nullptr) {
    entry.listed.previous->listed.next = entry.listed.next;
  } else {
    entries.in_tasks = entry.listed.next;
  }
}

void Process::count_loss(const char* kind, uint64_t count) {
  for (HostBooking* session : active_sessions) session->count_loss(kind, count);
}

void Process::add_session(HostBooking& session) { open_sessions.push_back(&session); }

void Process::remove_session(HostBooking& session) {
  std::erase(open_sessions, &session);
  update_active();
  if (!open_sessions.empty()) return;
  KeptContexts kept;
  ++epoch;
  paths.clear();
  names.clear();
  invalid_names.clear();
  frame_texts = {};
  hooks.clear_names();
  contexts.clear();
  ranges.clear();
  kept.restore();
  for (ThreadState* thread : threads.live()) thread->forget_published();
}

bool Process::has_active(bool (*is_it)(ContextKind)) const {
  return std::ranges::any_of(active_sessions,
                             [&](const HostBooking* session) { return is_it(session->context()); });
}

ContextId (*Process::choose_capture() const)() {
  if (!has_active(is_framework)) return hooks.capture_launch;
  if (!has_active(is_python)) return hooks.capture_framework;
  return [] {
    const ContextId python = process.hooks.capture_launch();
    return process.contexts.pair(process.hooks.capture_framework(), python);
  };
}

void Process::update_active() {
  active_sessions.clear();
  needs_clock = false;
  for (HostBooking* session : open_sessions) {
    if (!session->is_active()) continue;
    active_sessions.push_back(session);
    needs_clock = needs_clock || session->data() == DataKind::kTrace;
  }
  capture.store(choose_capture(), std::memory_order_relaxed);
  ranges.follow_sessions(active_sessions);
  hooks.follow_sessions();
}

void Process::reset_after_fork() {
  for (HostBooking* session : open_sessions) session->abandon();
  open_sessions.clear();
  active_sessions.clear();
  needs_clock = false;
  for (ScopeEntry* entry = entries.in_tasks; entry != nullptr; entry = entry->listed.next) {
    entry->is_listed = false;
  }
  entries.in_tasks = nullptr;
  ++epoch;
  ++fork_count;
  captured_metrics.reset_after_fork();
  contexts.reset_after_fork();
  threads.forget_others();
  ranges.reset_after_fork();
  if (this_thread == nullptr) return;
  ContextStack& stack = this_thread->stack;
  for (ScopeEntry* entry = stack.top; entry != nullptr; entry = entry->parent) {
    entry->is_listed = false;
  }
  this_thread->forgiven_exits += count_open(stack);
  new (&stack) ContextStack;  // not destroyed: that could run host code
  this_thread->task_top = nullptr;
  this_thread->forget_published();
}

}  // namespace proton
