/// Activity buffers: asked for on the launching thread, filled in place, handed back full by a
/// worker thread or, at a flush, by the thread that flushes.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "driver.h"
#include "fake_cuda.h"

namespace fake {
namespace {

Slot& my_slot() {
  State& all = state();
  if (all.options.per_thread_buffers.load(std::memory_order_relaxed) == 0) return all.shared_slot;
  Local& here = local();
  if (here.slot == nullptr) {
    auto slot = std::make_unique<Slot>();
    here.slot = slot.get();
    const std::lock_guard lock(all.mutex);
    all.slots.push_back(std::move(slot));
  }
  return *here.slot;
}

/// Asks the profiler for a buffer. Slot held.
bool request_buffer(Buffer& buffer) {
  State& all = state();
  const BufferRequest request = all.request.load(std::memory_order_acquire);
  if (request == nullptr) return false;
  buffer = Buffer();
  all.counters.buffers_requested.fetch_add(1, std::memory_order_relaxed);
  Local& here = local();
  here.is_in_buffer_callback = true;
  request(&buffer.bytes, &buffer.size, &buffer.max_records);
  here.is_in_buffer_callback = false;
  if (buffer.bytes == nullptr || buffer.size == 0) {
    buffer = Buffer();
    return false;
  }
  if (reinterpret_cast<uintptr_t>(buffer.bytes) % 8 != 0) {
    violate("a buffer that is not aligned to 8 bytes");
  }
  bool is_new = false;
  {
    const std::lock_guard lock(all.mutex);
    is_new = all.held.insert(buffer.bytes).second;
  }
  if (!is_new) violate("a buffer handed over that the driver still holds");
  if (all.options.scribble.load() != 0) {
    if (all.has_zeroed_buffers.load() == 0) {
      std::memset(buffer.bytes, 0xcd, buffer.size);
    } else if (std::any_of(buffer.bytes, buffer.bytes + buffer.size, [](uint8_t b) { return b; })) {
      violate("a buffer that was said to be zeroed and is not");
    }
  }
  return true;
}

/// Zeroes the times of records that were not finished when they had to be handed over.
void blank_incomplete(Buffer& buffer) {
  for (size_t at = 0; at < buffer.used;) {
    uint32_t kind = 0;
    std::memcpy(&kind, buffer.bytes + at, sizeof kind);
    if (at >= buffer.first_incomplete && kind != kExternalCorrelation && kind != kDriverApi) {
      std::memset(buffer.bytes + at + (kind == kGraphTrace ? 8 : 16), 0, 16);
    }
    at += record_size(kind);
  }
}

void reverse_records(Buffer& buffer) {
  std::vector<std::pair<size_t, size_t>> parts;
  for (size_t at = 0; at < buffer.used;) {
    uint32_t kind = 0;
    std::memcpy(&kind, buffer.bytes + at, sizeof kind);
    parts.emplace_back(at, record_size(kind));
    at += record_size(kind);
  }
  const std::vector<uint8_t> old(buffer.bytes, buffer.bytes + buffer.used);
  size_t to = 0;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    std::memcpy(buffer.bytes + to, old.data() + part->first, part->second);
    to += part->second;
  }
}

/// Hands a buffer back. No lock of ours is held: the profiler may ask for its dropped records.
void deliver(Buffer buffer, Counter& by) {
  State& all = state();
  sleep_ns(all.options.completion_delay_ns.load());
  if (buffer.first_incomplete != SIZE_MAX) blank_incomplete(buffer);
  if (all.options.reverse_records.load() != 0) reverse_records(buffer);
  {
    const std::lock_guard lock(all.mutex);
    all.held.erase(buffer.bytes);
  }
  all.counters.buffers_completed.fetch_add(1);
  all.counters.delivered.fetch_add(static_cast<int64_t>(buffer.records));
  by.fetch_add(1);
  if (const BufferDone done = all.done.load(std::memory_order_acquire)) {
    Local& here = local();
    here.is_in_buffer_callback = true;
    done(nullptr, 0, buffer.bytes, buffer.size, buffer.used);
    here.is_in_buffer_callback = false;
  }
  const std::lock_guard lock(all.queue_mutex);
  all.waiting_buffers.fetch_sub(1);
  all.queue_changed.notify_all();
}

/// Takes the next deliverable full buffer. Queue held.
bool take(Buffer& buffer, bool is_forced) {
  State& all = state();
  if (all.options.reverse_buffers.load() != 0) {
    for (size_t i = all.queue.size(); i-- > 0;) {
      if (!is_forced && all.queue[i].first_incomplete != SIZE_MAX) continue;
      buffer = all.queue[i];
      all.queue.erase(all.queue.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    return false;
  }
  const auto found = std::find_if(all.queue.begin(), all.queue.end(), [&](const Buffer& one) {
    return is_forced || one.first_incomplete == SIZE_MAX;
  });
  if (found == all.queue.end()) return false;
  buffer = *found;
  all.queue.erase(found);
  return true;
}

void drain_slots(bool is_forced, std::vector<Buffer>& taken) {
  State& all = state();
  std::vector<Slot*> slots{&all.shared_slot};
  {
    const std::lock_guard lock(all.mutex);
    for (auto& slot : all.slots) slots.push_back(slot.get());
  }
  for (Slot* slot : slots) {
    const std::lock_guard lock(slot->mutex);
    if (slot->current.bytes == nullptr) continue;
    if (!is_forced && slot->current.first_incomplete != SIZE_MAX) continue;
    taken.push_back(slot->current);
    all.waiting_buffers.fetch_add(1);
    slot->current = Buffer();
  }
}

void run_worker() {
  State& all = state();
  std::unique_lock lock(all.queue_mutex);
  while (!all.is_stopping) {
    Buffer buffer;
    const bool may_take = all.is_asked || all.options.manual_worker.load() == 0;
    if (may_take && take(buffer, false)) {
      all.is_delivering = true;
      lock.unlock();
      deliver(buffer, all.counters.worker_completions);
      lock.lock();
      all.is_delivering = false;
      ++all.worker_turn;
      all.queue_changed.notify_all();
      continue;
    }
    if (all.is_asked) {
      all.is_asked = false;
      all.queue_changed.notify_all();
    }
    const uint32_t period_ms = all.flush_period_ms.load();
    if (period_ms == 0) {
      all.queue_changed.wait(lock);
      continue;
    }
    if (all.queue_changed.wait_for(lock, std::chrono::milliseconds(period_ms)) ==
        std::cv_status::timeout) {
      std::vector<Buffer> taken;
      lock.unlock();
      drain_slots(false, taken);
      for (const Buffer& one : taken) deliver(one, all.counters.worker_completions);
      lock.lock();
    }
  }
}

/// Queue held.
void ensure_worker() {
  State& all = state();
  if (!all.worker.joinable()) all.worker = std::thread(run_worker);
}

struct StopAtExit {
  ~StopAtExit() {
    if (!state().is_child.load()) stop_worker();
  }
};
const StopAtExit stop_at_exit;

}  // namespace

void wait_for_worker() {
  State& all = state();
  const auto limit = static_cast<size_t>(all.options.queue_limit.load(std::memory_order_relaxed));
  if (all.waiting_buffers.load(std::memory_order_relaxed) <= limit) return;
  if (all.options.hold.load() != 0 || all.options.manual_worker.load() != 0) return;
  std::unique_lock lock(all.queue_mutex);
  all.queue_changed.wait_for(lock, std::chrono::seconds(1),
                             [&] { return all.waiting_buffers.load() <= limit; });
}

void write_record(const void* record) {
  State& all = state();
  uint32_t kind = 0;
  std::memcpy(&kind, record, sizeof kind);
  const size_t size = record_size(kind);
  if (all.options.drop_next.load(std::memory_order_relaxed) > 0 &&
      all.options.drop_next.fetch_sub(1) > 0) {
    all.counters.dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  Slot& slot = my_slot();
  const std::lock_guard lock(slot.mutex);
  Buffer& buffer = slot.current;
  const bool is_full = buffer.used + size > buffer.size ||
                       (buffer.max_records != 0 && buffer.records == buffer.max_records);
  if (buffer.bytes != nullptr && is_full) {
    const std::lock_guard queue_lock(all.queue_mutex);
    all.queue.push_back(buffer);
    all.waiting_buffers.fetch_add(1);
    buffer = Buffer();
    ensure_worker();
    all.queue_changed.notify_all();
  }
  if (buffer.bytes == nullptr && !request_buffer(buffer)) {
    all.counters.dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (size > buffer.size) {
    violate("a buffer smaller than one record");
    all.counters.dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  std::memcpy(buffer.bytes + buffer.used, record, size);
  if (all.options.hold.load(std::memory_order_relaxed) != 0 &&
      buffer.first_incomplete == SIZE_MAX) {
    buffer.first_incomplete = buffer.used;
  }
  buffer.used += size;
  ++buffer.records;
  all.counters.records.fetch_add(1, std::memory_order_relaxed);
}

int flush_all(uint32_t flag) {
  State& all = state();
  if (all.done.load() == nullptr) return kInvalidOperation;
  if (local().is_in_buffer_callback) {
    violate("cuptiActivityFlushAll called inside a buffer callback");
    return kInvalidOperation;
  }
  if (local().resource_callback_depth > 0) {
    violate("cuptiActivityFlushAll called inside a resource callback");
  }
  sleep_ns(all.options.flush_delay_ns.load());
  const bool is_forced = (flag & 1) != 0;
  std::unique_lock lock(all.queue_mutex);
  Buffer buffer;
  // Those of now: others may be filled as fast as they are emptied.
  for (size_t left = all.queue.size(); left > 0 && take(buffer, is_forced); --left) {
    lock.unlock();
    deliver(buffer, all.counters.flush_completions);
    lock.lock();
  }
  const uint64_t turn = all.worker_turn;  // the worker may begin the next before we wake
  all.queue_changed.wait(lock, [&] { return !all.is_delivering || all.worker_turn != turn; });
  lock.unlock();
  std::vector<Buffer> taken;
  drain_slots(is_forced, taken);
  for (const Buffer& one : taken) deliver(one, all.counters.flush_completions);
  return kSuccess;
}

void complete_all() {
  State& all = state();
  std::vector<Slot*> slots{&all.shared_slot};
  {
    const std::lock_guard lock(all.mutex);
    for (auto& slot : all.slots) slots.push_back(slot.get());
  }
  for (Slot* slot : slots) {
    const std::lock_guard lock(slot->mutex);
    slot->current.first_incomplete = SIZE_MAX;
  }
  const std::lock_guard lock(all.queue_mutex);
  for (Buffer& buffer : all.queue) buffer.first_incomplete = SIZE_MAX;
  all.queue_changed.notify_all();
}

void stop_worker() {
  State& all = state();
  {
    const std::lock_guard lock(all.queue_mutex);
    all.is_stopping = true;
    all.queue_changed.notify_all();
  }
  if (all.worker.joinable()) all.worker.join();
  all.is_stopping = false;
}

}  // namespace fake

using namespace fake;

FAKE_VISIBLE void fake_set_correlation(uint32_t id) { state().correlation.store(id); }
FAKE_VISIBLE void fake_complete(void) { complete_all(); }

FAKE_VISIBLE void fake_work(void) {
  State& all = state();
  std::unique_lock lock(all.queue_mutex);
  ensure_worker();
  all.is_asked = true;
  all.queue_changed.notify_all();
  all.queue_changed.wait(lock, [&] { return !all.is_asked && !all.is_delivering; });
}
