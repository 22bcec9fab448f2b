#include "session/scopes/context_stack.h"

#include "model/losses.h"
#include "session/scopes/process.h"

namespace proton {
namespace {

void recycle(ScopeEntry* entry) {
  if (entry->is_listed) {  // its task ended with the scope open
    process.unlist(*entry);
    if (!entry->is_closed) process.count_loss(losses::kUnclosedScope);
  }
  void* name = entry->name;
  void* owner = entry->owner;
  entry->parent = process.entries.free;
  process.entries.free = entry;
  // Last: releasing may run code of the host that opens scopes itself.
  process.hooks.release(name);
  if (owner != nullptr) process.hooks.release(owner);
}

/// For a thread with ranges of libraries: `entry` was entered in the innermost one.
[[gnu::noinline]] void note_range(ScopeEntry& entry, RangeThread& ranges) {
  entry.range.context = Ranges::innermost(ranges, entry.parent);
  entry.range.owner = &ranges;
  entry.range.serial = ranges.serial.load(std::memory_order_relaxed);
  entry.range.epoch = process.epoch;
}

[[gnu::noinline]] ScopeEntry* fill_pool() { return process.entries.free = new ScopeEntry; }

}  // namespace

ScopeEntry& ContextStack::push(const void* home, void* name, void* owner) {
  ScopeEntry* entry = process.entries.free;
  if (entry == nullptr) [[unlikely]] {
    entry = fill_pool();
  }
  process.entries.free = entry->parent;
  entry->parent = top;
  entry->references = 1;
  entry->epoch = 0;
  entry->has_frames_path = false;
  entry->is_closed = false;
  entry->is_timed = false;
  entry->home = home;
  entry->name = name;
  entry->owner = owner;
  entry->start_ns = 0;
  entry->scope_id = 0;
  entry->captured_nodes = kUnknownCount;
  entry->has_metrics = false;
  entry->range.context = kRootPath;
  entry->range.owner = nullptr;
  top = entry;
  if (RangeThread* ranges = this_ranges) [[unlikely]] {
    note_range(*entry, *ranges);
  }
  return *entry;
}

ScopeEntry* ContextStack::pop() {
  ScopeEntry* entry = top;
  top = share_entry(entry->parent);
  return entry;
}

ScopeEntry* ContextStack::find(const void* home, const void* owner) const {
  for (ScopeEntry* entry = top; entry != nullptr && entry->home == home; entry = entry->parent) {
    if (entry->owner == owner && !entry->is_closed) return entry;
  }
  return nullptr;
}

void drop_entry(ScopeEntry* entry) {
  while (entry != nullptr && --entry->references == 0) {
    ScopeEntry* parent = entry->parent;
    recycle(entry);
    entry = parent;
  }
}

}  // namespace proton
