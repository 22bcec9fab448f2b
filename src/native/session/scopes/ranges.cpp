#include "session/scopes/ranges.h"

#include <new>
#include <utility>

#include "base/clock.h"
#include "model/losses.h"
#include "session/scopes/host_booking.h"
#include "session/scopes/process.h"

namespace proton {
namespace {

constexpr unsigned kSerialBits = 40;  // of a started range's number; the thread's is above

/// Runs at thread exit, without the GIL.
struct RangesExit {
  RangeThread* thread = nullptr;
  ~RangesExit() {
    if (thread == nullptr || this_ranges != thread) return;
    this_ranges = nullptr;
    if (this_thread != nullptr) this_thread->ranges.store(nullptr, std::memory_order_release);
    process.ranges.bury(thread);
  }
};
thread_local RangesExit ranges_exit;

}  // namespace

// ---- any thread ----

RangeThread& Ranges::here() {
  if (this_ranges != nullptr) return *this_ranges;
  RangeThread* thread;
  {
    std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      thread = free_.back();
      free_.pop_back();
    } else {
      thread = new RangeThread;
      thread->index = static_cast<uint32_t>(threads_.size());
      threads_.push_back(thread);
    }
  }
  this_ranges = thread;
  ranges_exit.thread = thread;
  if (this_thread != nullptr) this_thread->ranges.store(thread, std::memory_order_release);
  return *thread;
}

OpenRange Ranges::prepare(RangeThread& thread, const RangeStart& start, bool is_started) {
  OpenRange range{};
  range.serial = thread.serial.load(std::memory_order_relaxed) + 1;
  range.domain = start.domain;
  range.is_started = is_started;
  range.frames = kNoContext;
  range.category = start.category;
  range.payload = start.payload;
  if (keeps_spans()) {
    range.start_ns = now_ns();
    thread.number.store(current_thread_number(), std::memory_order_relaxed);
  }
  if (wants_frames_.load(std::memory_order_relaxed) && process.hooks.holds_lock()) {
    range.frames = process.contexts.path(process.hooks.capture_launch());
  }
  return range;
}

/// Gives the range its place; the thread's lock is held. True: it was not seen there before.
bool Ranges::place(RangeThread& thread, const RangeStart& start, ContextId parent,
                   OpenRange& range) {
  bool is_first_use;
  thread.follow_epoch(epoch_.load(std::memory_order_acquire));
  range.name = thread.name_of(start, table_);
  range.context =
      thread.child(parent, range.name, tick_.load(std::memory_order_relaxed), table_, is_first_use);
  return is_first_use;
}

OpenRange Ranges::begin(const RangeStart& start, bool is_started) {
  RangeThread& thread = here();
  OpenRange range = prepare(thread, start, is_started);
  const bool records = records_.load(std::memory_order_relaxed);
  const ContextId parent = records ? process.contexts.path(current_context_unlocked()) : kRootPath;
  bool is_first_use = false;
  {
    std::lock_guard lock(thread.mutex);
    if (records) is_first_use = place(thread, start, parent, range);
    for (size_t i = thread.open.size(); i-- > 0;) {
      if (thread.open[i].domain != range.domain || thread.open[i].is_started) continue;
      range.level = thread.open[i].level + 1;
      break;
    }
    thread.open.push_back(range);
    thread.serial.store(range.serial, std::memory_order_relaxed);
    if (records && range.payload.kind != RangePayload::Kind::kNone &&
        keeps_sums_.load(std::memory_order_relaxed)) {
      thread.add_sum(range, false);
    }
    thread.update();
  }
  if (is_first_use) note_first_use(range.context);
  return range;
}

template <typename Result, typename Call>
Result Ranges::guarded(Result failed, Call call) noexcept {
  try {
    return call();
  } catch (...) {  // out of memory
    failed_.fetch_add(1, std::memory_order_relaxed);
    return failed;
  }
}

int Ranges::push(const RangeStart& start) noexcept {
  return guarded(-1, [&] { return begin(start, false).level; });
}

uint64_t Ranges::start(const RangeStart& start) noexcept {
  return guarded(uint64_t{0}, [&] {
    const uint64_t serial = begin(start, true).serial;
    return uint64_t{here().index + 1} << kSerialBits | serial;
  });
}

/// Takes a range off; the thread's lock is held.
void Ranges::finish(RangeThread& thread, size_t at) {
  const OpenRange range = thread.open[at];
  thread.open.erase(thread.open.begin() + static_cast<ptrdiff_t>(at));
  thread.update();
  if (range.context == kRootPath || !keeps_spans()) return;
  thread.spans.push_back({range, thread.number.load(), now_ns(), false});
}

/// Ends the innermost range that `is_it` is true of; its level, or -1 (and counted): there is none.
template <typename IsIt>
int Ranges::end_innermost(RangeThread* thread, IsIt is_it) {
  if (thread != nullptr) {
    std::lock_guard lock(thread->mutex);
    for (size_t at = thread->open.size(); at-- > 0;) {
      if (!is_it(thread->open[at])) continue;
      const int level = thread->open[at].level;
      finish(*thread, at);
      return level;
    }
  }
  if (records_.load(std::memory_order_relaxed)) unmatched_.fetch_add(1, std::memory_order_relaxed);
  return -1;
}

int Ranges::pop(uint32_t domain) noexcept {
  return guarded(-1, [&] {
    return end_innermost(&here(), [&](const OpenRange& range) {
      return range.domain == domain && !range.is_started;
    });
  });
}

void Ranges::end(uint64_t number) noexcept {
  guarded(-1, [&] {
    RangeThread* thread = nullptr;
    {
      const uint64_t index = (number >> kSerialBits) - 1;
      std::lock_guard lock(mutex_);
      if (index < threads_.size()) thread = threads_[index];
    }
    const uint64_t serial = number & ((uint64_t{1} << kSerialBits) - 1);
    return end_innermost(
        thread, [&](const OpenRange& range) { return range.is_started && range.serial == serial; });
  });
}

void Ranges::mark(const RangeStart& start) noexcept {
  if (!records_.load(std::memory_order_relaxed)) return;
  guarded(0, [&] {
    RangeThread& thread = here();
    OpenRange range = prepare(thread, start, false);
    const ContextId parent = process.contexts.path(current_context_unlocked());
    bool is_first_use;
    {
      std::lock_guard lock(thread.mutex);
      is_first_use = place(thread, start, parent, range);
      if (keeps_sums_.load(std::memory_order_relaxed)) thread.add_sum(range, true);
      if (keeps_spans()) {
        thread.spans.push_back({range, thread.number.load(), range.start_ns, true});
      }
    }
    if (is_first_use) note_first_use(range.context);
    return 0;
  });
}

ContextId Ranges::below(ContextId parent, FrameKind kind, std::string_view name) noexcept {
  return guarded(parent, [&] { return table_.child(parent, table_.intern(name), kind); });
}

void Ranges::note_first_use(ContextId context) {
  {
    std::lock_guard lock(mutex_);
    first_uses_.push_back(context);
  }
  // At once where that is allowed, so that nodes stand in the order of the calls.
  if (process.hooks.holds_lock()) drain_first_uses();
}

void Ranges::bury(RangeThread* thread) noexcept {
  std::lock_guard lock(thread->mutex);
  const size_t before = thread->open.size();
  std::erase_if(thread->open, [](const OpenRange& range) { return !range.is_started; });
  thread->is_dead = true;
  thread->update();
  // Ranges that were started may still be ended by other threads, but hold no work of this one.
  thread->context.store(kRootPath, std::memory_order_release);
  if (before != thread->open.size() && records_.load(std::memory_order_relaxed)) {
    unclosed_.fetch_add(before - thread->open.size(), std::memory_order_relaxed);
  }
}

// ---- under the GIL ----

std::vector<RangeThread*> Ranges::threads() {
  std::lock_guard lock(mutex_);
  return threads_;
}

namespace {

/// The number of the range begun last before `top`; an entry of another thread's is older than all.
uint64_t serial_before(const RangeThread& thread, const ScopeEntry* top) {
  return top != nullptr && top->range.owner == &thread ? top->range.serial : 0;
}

}  // namespace

ContextId Ranges::innermost(RangeThread& thread, const ScopeEntry* top) {
  if (thread.depth.load(std::memory_order_relaxed) == 0) return kRootPath;
  std::lock_guard lock(thread.mutex);
  return thread.innermost_after(serial_before(thread, top));
}

void Ranges::follow_host(RangeThread& thread, const ScopeEntry* top, bool has_more) {
  // With nothing open the number may stay: whatever begins next has a greater one.
  if (thread.depth.load(std::memory_order_relaxed) == 0) return;
  std::lock_guard lock(thread.mutex);
  thread.host_serial =
      has_more ? thread.serial.load(std::memory_order_relaxed) : serial_before(thread, top);
  thread.update();
}

void Ranges::drain_first_uses() {
  std::vector<ContextId> seen;
  {
    std::lock_guard lock(mutex_);
    seen.swap(first_uses_);
  }
  for (const ContextId context : seen) {
    const PathId path = table_.path(context);
    for (HostBooking* session : process.active_sessions) {
      if (session->context() != ContextKind::kPython) session->add_path(path);
    }
  }
}

void Ranges::drain() {
  drain_first_uses();
  for (RangeThread* thread : threads()) {
    std::vector<RangeSpan> spans;
    std::vector<RangeSum> sums;
    bool is_free = false;
    {
      std::lock_guard lock(thread->mutex);
      spans.swap(thread->spans);
      sums = thread->take_sums();
      if (thread->is_dead && thread->open.empty()) {
        is_free = true;
        thread->is_dead = false;
      }
    }
    for (HostBooking* session : process.active_sessions) {
      for (const RangeSpan& span : spans) session->book_range(span);
      for (const RangeSum& sum : sums) session->book_range_sum(sum);
    }
    if (is_free) {
      std::lock_guard lock(mutex_);
      free_.push_back(thread);
    }
  }
  const std::pair<std::atomic<uint64_t>*, const char*> counters[] = {
      {&unmatched_, losses::kUnmatchedRange},
      {&unclosed_, losses::kUnclosedRange},
      {&failed_, losses::kInternal},
  };
  for (const auto& [counter, kind] : counters) {
    if (const uint64_t count = counter->exchange(0)) process.count_loss(kind, count);
  }
}

void Ranges::follow_sessions(const std::vector<HostBooking*>& active) {
  bool has_trace = false, has_tree = false, has_frames = false;
  for (const HostBooking* session : active) {
    (session->data() == DataKind::kTrace ? has_trace : has_tree) = true;
    has_frames = has_frames || session->context() == ContextKind::kPython;
  }
  keeps_spans_.store(has_trace, std::memory_order_relaxed);
  keeps_sums_.store(has_tree, std::memory_order_relaxed);
  wants_frames_.store(has_frames, std::memory_order_relaxed);
  records_.store(!active.empty(), std::memory_order_relaxed);
}

void Ranges::restart() {
  for (RangeThread* thread : threads()) {
    std::lock_guard lock(thread->mutex);
    thread->clear();
  }
  next_tick();
}

void Ranges::clear() {
  {
    std::lock_guard lock(mutex_);
    first_uses_.clear();
  }
  table_.clear();
  epoch_.store(table_.epoch(), std::memory_order_release);
  for (RangeThread* thread : threads()) {
    std::lock_guard lock(thread->mutex);
    for (OpenRange& range : thread->open) range.context = kRootPath;
    thread->spans.clear();
    thread->take_sums();
    thread->update();
  }
}

std::vector<RangeSpan> Ranges::open_spans() {
  std::vector<RangeSpan> spans;
  const int64_t end_ns = now_ns();
  for (RangeThread* thread : threads()) {
    std::lock_guard lock(thread->mutex);
    for (const OpenRange& range : thread->open) {
      if (range.context != kRootPath) {
        spans.push_back({range, thread->number.load(), end_ns, false});
      }
    }
  }
  return spans;
}

void Ranges::reset_after_fork() noexcept {
  // Leaked, not released: another thread may have been in the middle of a change.
  new (&mutex_) std::mutex;
  new (&first_uses_) std::vector<ContextId>;
  new (&threads_) std::vector<RangeThread*>;
  new (&free_) std::vector<RangeThread*>;
  table_.reset_after_fork();
  epoch_.store(table_.epoch());
  records_.store(false);
  keeps_spans_.store(false);
  this_ranges = nullptr;
  if (this_thread != nullptr) this_thread->ranges.store(nullptr);
}

}  // namespace proton
