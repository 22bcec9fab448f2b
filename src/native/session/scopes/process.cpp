#include "session/scopes/process.h"

#include <algorithm>

#include "session/scopes/kept_contexts.h"
#include "session/scopes/scope_events.h"
#include "session/session.h"

namespace proton {
namespace {

HostHooks null_hooks() {
  return {
      [](void*) -> NameId { return process.names.intern("?"); },
      [](void*) {},
      [](uint32_t) -> std::string { return "?"; },
      [](ThreadState&) -> PathId { return kRootPath; },
      [] { return current_context_unlocked(); },
      [] { return true; },
      [] {},
      [](void*) {},
      [] {},
  };
}

}  // namespace

Process& process = *new Process;

Process::Process() : hooks(null_hooks()) {}

std::string Process::frame_name(FrameId frame) const {
  switch (frame.kind()) {
    case FrameKind::kRoot:
      return "ROOT";
    case FrameKind::kPython:
      if (!frame.is_position()) return names.text(frame.number());
      if (frame.number() < frame_texts.size() && frame_texts[frame.number()] != kUnknownText) {
        return names.text(frame_texts[frame.number()]);
      }
      return hooks.frame_text(frame.number());
    default:
      return names.text(frame.number());
  }
}

void Process::resolve_frames() {
  // The tables may grow, or even be cleared, while the host makes a text.
  for (; resolved_paths < paths.size(); ++resolved_paths) {
    const FrameId frame = paths.frame(static_cast<PathId>(resolved_paths));
    if (!frame.is_position()) continue;
    const uint32_t position = frame.number();
    if (position < frame_texts.size() && frame_texts[position] != kUnknownText) continue;
    const uint32_t before = epoch;
    const std::string text = hooks.frame_text(position);
    if (epoch != before) return resolve_frames();
    if (position >= frame_texts.size()) frame_texts.resize(position + 1, kUnknownText);
    frame_texts[position] = names.intern(text);
  }
}

void Process::list(ScopeEntry& entry) {
  entry.is_listed = true;
  entry.previous_listed = nullptr;
  entry.next_listed = task_entries;
  if (task_entries != nullptr) task_entries->previous_listed = &entry;
  task_entries = &entry;
}

void Process::unlist(ScopeEntry& entry) {
  entry.is_listed = false;
  if (entry.next_listed != nullptr) entry.next_listed->previous_listed = entry.previous_listed;
  if (entry.previous_listed != nullptr) {
    entry.previous_listed->next_listed = entry.next_listed;
  } else {
    task_entries = entry.next_listed;
  }
}

void Process::count_loss(const char* kind, uint64_t count) {
  for (Session* session : active_sessions) session->count_loss(kind, count);
}

void Process::add_session(Session& session) { open_sessions.push_back(&session); }

void Process::remove_session(Session& session) {
  std::erase(open_sessions, &session);
  update_active();
  if (!open_sessions.empty()) return;
  KeptContexts kept;
  ++epoch;
  paths.clear();
  names.clear();
  invalid_names.clear();
  frame_texts.clear();
  resolved_paths = 0;
  hooks.clear_names();
  contexts.clear();
  ranges.clear();
  kept.restore();
  for (ThreadState* thread : threads.live()) thread->forget_published();
}

void Process::update_active() {
  active_sessions.clear();
  needs_clock = false;
  for (Session* session : open_sessions) {
    if (!session->is_active()) continue;
    active_sessions.push_back(session);
    needs_clock = needs_clock || session->data() == DataKind::kTrace;
  }
  ranges.follow_sessions(active_sessions);
}

void Process::reset_after_fork() {
  for (Session* session : open_sessions) session->abandon();
  open_sessions.clear();
  active_sessions.clear();
  needs_clock = false;
  for (ScopeEntry* entry = task_entries; entry != nullptr; entry = entry->next_listed) {
    entry->is_listed = false;
  }
  task_entries = nullptr;
  ++epoch;
  ++fork_count;
  riders.reset_after_fork();
  threads.forget_others();
  ranges.reset_after_fork();
  if (this_thread == nullptr) return;
  ContextStack& stack = this_thread->stack;
  for (ScopeEntry* entry = stack.top; entry != nullptr; entry = entry->parent) {
    entry->is_listed = false;
    ++this_thread->forgiven_exits;
  }
  for (const StateEntry* state = stack.state.get(); state != nullptr; state = state->parent.get()) {
    ++this_thread->forgiven_exits;
  }
  new (&stack) ContextStack;  // not destroyed: that could run host code
  this_thread->task_top = nullptr;
  this_thread->forget_published();
}

}  // namespace proton
